//! Tests in which state a text ends after a send is refused, throttled, in doubt, or accepted (D5).
//! The delivery receipts of an accepted text come in any order.

use std::time::Duration;

use seven_carrier_sim::{Fault, Matcher, Plan, Rule};

use crate::harness::{GUEST, House, Wanted, binary, house, until};

const QUESTION: &str = "where is nonna salvia?";

async fn house_with(name: &str, faults: &[(Fault, Option<u32>)]) -> House {
    let house = house(
        name,
        Wanted {
            at: Some("2026-11-24T08:30:00Z"),
            ..Wanted::default()
        },
    )
    .await;
    let rules = faults
        .iter()
        .map(|(fault, times)| Rule {
            matcher: Matcher::default(),
            fault: fault.clone(),
            times: *times,
        })
        .collect();
    house
        .stack
        .sim
        .set_rules(Plan {
            rules,
            ..Plan::default()
        })
        .unwrap();
    house.text(GUEST, QUESTION);
    house
}

/// Asserts that the text ends in this state, and that the carrier accepted it `sends` times.
async fn ends(house: House, state: &str, sends: usize) {
    until(
        &format!("the text is {state}"),
        Duration::from_secs(30),
        || async { house.count("outbound", state).await == 1 },
    )
    .await;
    let texts = house.texts_to(GUEST);
    assert_eq!(texts.len(), sends, "{texts:?}");
    house.stop().await;
}

#[tokio::test]
async fn throttled_twice_is_repeated_in_the_call() {
    ends(
        house_with("deliver_429", &[(Fault::TooManyRequests, Some(2))]).await,
        "delivered",
        1,
    )
    .await;
}

#[tokio::test]
async fn a_broken_connection_is_never_repeated_blindly() {
    // The carrier may reset the connection before or after it accepts the text, and we cannot tell
    // which of the two happened.
    ends(
        house_with("deliver_reset", &[(Fault::ConnectionReset, Some(1))]).await,
        "unknown",
        0,
    )
    .await;
}

#[tokio::test]
async fn accepted_without_an_answer_is_settled_by_its_webhook() {
    ends(
        house_with("deliver_silent", &[(Fault::TimeoutAfter, Some(1))]).await,
        "delivered",
        1,
    )
    .await;
}

#[tokio::test]
async fn accepted_with_a_500_is_settled_by_its_webhook() {
    ends(
        house_with("deliver_500", &[(Fault::ServerErrorAfter, Some(1))]).await,
        "delivered",
        1,
    )
    .await;
}

#[tokio::test]
async fn accepted_without_answer_or_receipt_is_unknown_and_not_sent_again() {
    ends(
        house_with(
            "deliver_lost",
            &[
                (Fault::ServerErrorAfter, Some(1)),
                (Fault::LostReceipt, Some(1)),
            ],
        )
        .await,
        "unknown",
        1,
    )
    .await;
}

#[tokio::test] // SMS-7, SMS-43
async fn receipts_doubled_late_or_reordered_end_delivered() {
    for (name, fault) in [
        ("deliver_double", Fault::DoubleReceipt),
        ("deliver_late", Fault::LateReceipt),
        ("deliver_reorder", Fault::ReorderReceipts),
    ] {
        ends(house_with(name, &[(fault, None)]).await, "delivered", 1).await;
    }
}

#[tokio::test] // SMS-43
async fn a_failed_delivery_is_undelivered_with_its_code() {
    ends(
        house_with(
            "deliver_failed",
            &[(Fault::FinalizedError("40300".into()), None)],
        )
        .await,
        "undelivered",
        1,
    )
    .await;
}

#[tokio::test]
async fn a_permanent_code_is_not_retried() {
    let house = house_with("deliver_permanent", &[(Fault::Error("40310".into()), None)]).await;
    until("the text failed", Duration::from_secs(20), || async {
        house.count("outbound", "failed").await == 1
    })
    .await;
    assert_eq!(
        house.stack.sim.ledger().snapshot().refused.len(),
        1,
        "asked once"
    );
    house.stop().await;
}

#[tokio::test] // SMS-44
async fn a_transient_code_is_redelivered_three_times_then_dead() {
    let house = house_with("deliver_transient", &[(Fault::Error("40008".into()), None)]).await;
    until("a dead letter", Duration::from_secs(30), || async {
        house.count("dead", "open").await == 1
    })
    .await;
    assert_eq!(
        house.stack.sim.ledger().snapshot().refused.len(),
        4,
        "the first send and three redeliveries"
    );
    assert_eq!(house.count("outbound", "failed").await, 1);
    // The provider works again: the first replay sends the text, the second sends nothing.
    house.stack.sim.set_rules(Plan::default()).unwrap();
    for _ in 0..2 {
        let mut tx = house.stack.fleet.store.bind(house.casino()).await.unwrap();
        let letters = tx
            .dead_ids(&seven_store::dead::Filter::default())
            .await
            .unwrap();
        tx.commit().await.unwrap();
        seven::commands::dead::replay(&house.stack.fleet, house.casino(), letters[0].0)
            .await
            .unwrap();
        until("the text is delivered", Duration::from_secs(20), || async {
            house.count("outbound", "delivered").await == 1
        })
        .await;
    }
    assert_eq!(house.texts_to(GUEST).len(), 1);
    house.stop().await;
}

#[tokio::test] // D10, WEB-16: nobody has called the demo casino's helplines, and no law is verified
async fn no_real_carrier_gets_a_text_while_helplines_or_laws_are_unverified() {
    let house = house(
        "delivery_unverified",
        Wanted {
            workers: Vec::new(),
            ..Wanted::default()
        },
    )
    .await;
    let log = house.scratch.path().join("sender.log");
    let mut sender = tokio::process::Command::new(binary())
        .args(["run", "outbound-sender", "--config"])
        .arg(&house.stack.config_file)
        .env("SEVEN_TELNYX__BASE_URL", "https://carrier.invalid/")
        .env("SEVEN_NOTICES__LOCAL", "false")
        .stderr(std::fs::File::create(&log).unwrap())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let ended = tokio::time::timeout(Duration::from_secs(60), sender.wait()).await;
    let told = std::fs::read_to_string(&log).unwrap();
    assert!(ended.is_ok_and(|ended| !ended.unwrap().success()), "{told}");
    for part in [
        "only go to a provider on this machine",
        "helpline of silver_birch",
        "sending laws of",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    house.stop().await;
}
