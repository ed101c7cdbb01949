//! Delivery receipts arrive through the same webhook as texts, and a failed send is repeated
//! without asking the host again.

use std::time::Duration;

use seven_carrier_sim::{Fault, Matcher, Plan, Rule};

use super::{
    all_published,
    caller::{Answer, Caller},
};
use crate::harness::{GUEST, Wanted, house, until};

#[tokio::test] // SMS-7
async fn a_receipt_counts_once_per_message_and_status() {
    let house = house("webhook_receipts", Wanted::default()).await;
    let call = Caller::of(&house);
    for (event, status) in [
        ("a", "delivered"),
        ("a", "delivered"),
        ("b", "delivered"),
        ("c", "delivery_failed"),
        ("d", "delivery_failed"),
    ] {
        let mut receipt = call.finalized(event, status);
        receipt["data"]["payload"]["id"] = "one-message".into();
        let url = format!("{}/{}", call.url, "not-an-attempt");
        assert_eq!(
            call.post_signed(&url, call.now(), receipt.to_string().as_bytes())
                .await,
            Answer::accepted(),
            "{event}"
        );
    }
    assert_eq!(
        all_published(&house).await,
        [0, 4, 0],
        "one event twice is one message on the bus"
    );
    let lag = async || {
        house
            .stack
            .fleet
            .bus
            .lag(seven_domain::Stage::Receipts)
            .await
            .unwrap()
    };
    until("all are recorded", Duration::from_secs(10), async || {
        lag()
            .await
            .iter()
            .all(|l| l.pending == 0 && l.in_flight == 0)
    })
    .await;
    assert_eq!(house.number("select count(*) from receipts").await, 2);
    assert_eq!(house.count("dead", "open").await, 0);
    house.stop().await;
}

#[tokio::test] // SMS-9
async fn a_failed_send_is_sent_again_and_the_host_is_not_asked_again() {
    let house = house("webhook_resend", Wanted::default()).await;
    // For one signal the sender repeats a refused call only a few times. The carrier refuses more
    // often than that, so the text is signalled again through the bus.
    let rule = Rule {
        matcher: Matcher::default(),
        fault: Fault::TooManyRequests,
        times: Some(5),
    };
    house
        .stack
        .sim
        .set_rules(Plan {
            rules: vec![rule],
            ..Plan::default()
        })
        .unwrap();
    house.text(GUEST, "What restaurants are open tonight?");
    house.settle(1).await;
    assert!(!house.sent_to(GUEST).is_empty(), "it left in the end");
    assert_eq!(
        house.stack.sim.ledger().of_guest(GUEST).refused.len(),
        5,
        "and not before"
    );
    assert_eq!(house.number("select count(*) from turns").await, 1);
    assert_eq!(
        house
            .number("select count(*) from inbound_messages where disposition = 'answered'")
            .await,
        1
    );
    let (texts, rows) = (
        house.texts_to(GUEST).len(),
        house.number("select count(*) from outbound_messages").await,
    );
    assert_eq!(i64::try_from(texts).unwrap(), rows, "each text once");
    house.stop().await;
}
