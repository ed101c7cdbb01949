//! When a provider loses webhooks, we take the missing texts and results from the provider's
//! records. Each is taken once (D5).

use std::{collections::BTreeMap, time::Duration};

use chrono::TimeDelta;
use seven_carrier_sim::{DeliveryState, Fault, Matcher, Plan, Rule, Text};
use seven_providers::Records;
use seven_scheduler::reconcile::{How, Report, reconcile};
use seven_settings::Worker;
use seven_store::reconcile::ReconciledAs;

use crate::harness::{GUEST, House, Wanted, house, until};

const QUESTION: &str = "where is nonna salvia?";

async fn quiet_house(name: &str) -> House {
    house(
        name,
        Wanted {
            at: Some("2026-11-24T08:30:00Z"),
            ..Wanted::default()
        },
    )
    .await
}

async fn run(house: &House, dry: bool) -> Report {
    let fleet = &house.stack.fleet;
    let provider: Box<dyn Records> =
        Box::new(seven::wiring::telnyx(&house.stack.settings).unwrap());
    let roster = fleet.store.roster().await.unwrap();
    let entry = roster
        .iter()
        .find(|entry| entry.casino == *house.casino())
        .unwrap();
    let since = fleet.clock.now() - TimeDelta::hours(1);
    reconcile(
        fleet,
        provider.as_ref(),
        entry,
        since,
        if dry { How::Dry } else { How::Resend },
    )
    .await
    .unwrap()
}

/// Waits until every record is so old that its webhook cannot arrive any more.
async fn grow_old(house: &House) {
    tokio::time::sleep(house.stack.fleet.timing.records_margin() + Duration::from_millis(200))
        .await;
}

fn guest(n: usize) -> String {
    format!("+1203555{n:04}", n = n % 10_000)
}

fn faults(rules: &[Fault]) -> Plan {
    let rules = rules.iter().map(|fault| Rule {
        matcher: Matcher::default(),
        fault: fault.clone(),
        times: Some(1),
    });
    Plan {
        rules: rules.collect(),
        ..Plan::default()
    }
}

#[tokio::test] // D5
async fn texts_whose_webhooks_were_swallowed_are_answered_once() {
    // A long run (`SEVEN_LONG`) loses 1 % of the webhooks. A short run loses 5 %, because 1 % would
    // be too few webhooks.
    let (guests, percent) = if std::env::var_os("SEVEN_LONG").is_some() {
        (2_000, 1.0)
    } else {
        (200, 5.0)
    };
    let mut casino: serde_json::Value = serde_json::from_str(seven_packs::demo::CASINO).unwrap();
    casino["limits"]["casino_texts_per_minute"] = 100_000.into();
    let documents = (casino.to_string(), seven_packs::demo::CONTENT.to_owned());
    let extra = "limits.fleet_texts_per_minute = 100000\n".to_owned();
    let wanted = Wanted {
        at: Some("2026-11-24T08:30:00Z"),
        casino: Some(documents),
        extra,
        ..Wanted::default()
    };
    let house = house("reconcile_200", wanted).await;
    let plan = Plan {
        swallow_webhooks_percent: Some(percent),
        ..Plan::default()
    };
    house.stack.sim.set_rules(plan).unwrap();
    for n in 0..guests {
        let from = guest(1_000 + n);
        house
            .stack
            .sim
            .text(Text {
                from,
                text: Some(QUESTION.into()),
                ..Text::default()
            })
            .unwrap();
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let swallowed = || {
        let records = house.stack.sim.ledger().snapshot();
        records
            .inbound
            .iter()
            .filter(|text| text.delivery.state == DeliveryState::Swallowed)
            .cloned()
            .collect::<Vec<_>>()
    };
    until(
        "every webhook has ended",
        Duration::from_secs(60),
        || async {
            let records = house.stack.sim.ledger().snapshot();
            records
                .inbound
                .iter()
                .all(|text| text.delivery.state != DeliveryState::Pending)
        },
    )
    .await;
    let lost = swallowed();
    assert!(
        !lost.is_empty(),
        "with {percent} % of {guests} some are swallowed"
    );
    house
        .settle_within(
            i64::try_from(guests - lost.len()).unwrap(),
            Duration::from_secs(180),
        )
        .await;
    house.stack.sim.set_rules(Plan::default()).unwrap();
    grow_old(&house).await;

    // If the test takes longer than the scheduler's period, the scheduler has already recovered
    // some of the texts (`already`).
    let ids: Vec<String> = lost
        .iter()
        .map(|text| format!("'{}'", text.message_id))
        .collect();
    let here = format!(
        "select count(*) from inbound_messages where provider_message_id in ({})",
        ids.join(",")
    );
    let already = usize::try_from(house.number(&here).await).unwrap();
    let dry = run(&house, true).await;
    assert_eq!(
        (dry.texts_listed, dry.texts_recovered + already),
        (guests, lost.len())
    );
    let report = run(&house, false).await;
    assert_eq!(report.texts_recovered + already, lost.len());
    assert_eq!(
        report.sends_settled, dry.sends_settled,
        "receipts were swallowed too"
    );
    house
        .settle_within(i64::try_from(guests).unwrap(), Duration::from_secs(60))
        .await;
    until(
        "every send has its last word",
        Duration::from_secs(30),
        || async { house.count("outbound", "sent").await == 0 },
    )
    .await;

    // Late webhooks are duplicates, and a second run finds nothing.
    for text in lost.iter().take(5) {
        let again = Text {
            from: text.from.clone(),
            text: text.text.clone(),
            event_id: Some(text.event_id.clone()),
            message_id: Some(text.message_id.clone()),
            ..Text::default()
        };
        house.stack.sim.text(again).unwrap();
    }
    grow_old(&house).await;
    assert_eq!(run(&house, false).await.texts_recovered, 0);
    house.settle(i64::try_from(guests).unwrap()).await;

    let mut answers: BTreeMap<String, usize> = BTreeMap::new();
    for sent in house.stack.sim.ledger().snapshot().outbound {
        *answers.entry(sent.to).or_default() +=
            usize::from(sent.text.unwrap_or_default().contains("Nonna Salvia"));
    }
    assert_eq!(answers.len(), guests);
    assert!(answers.values().all(|n| *n == 1), "{answers:?}");
    println!(
        "reconciliation: {guests} texts, {} webhooks of texts swallowed and recovered ({already} \
         by the scheduler itself), {} sends settled, {} requests",
        lost.len(),
        report.sends_settled,
        report.requests
    );
    house.stop().await;
}

#[tokio::test] // D5, DEP-32: the fleet that was lost has answered it, perhaps
async fn a_text_of_before_a_restore_is_taken_in_and_not_answered_again() {
    // The house has no scheduler, because the scheduler would finish due work before this test
    // counts it.
    let workers = Worker::ALL
        .into_iter()
        .filter(|worker| *worker != Worker::Scheduler)
        .collect();
    let wanted = Wanted {
        at: Some("2026-11-24T08:30:00Z"),
        workers,
        ..Wanted::default()
    };
    let house = house("reconcile_restored", wanted).await;
    house
        .stack
        .sim
        .set_rules(Plan {
            swallow_webhooks_percent: Some(100.0),
            ..Plan::default()
        })
        .unwrap();
    house.text(GUEST, QUESTION);
    // The guests' STOP and other wishes take effect, but are not answered, because the lost fleet
    // may have answered them.
    for (n, word) in ["STOP", "DELETE", "SUBSCRIBE", "HELP", "YES"]
        .into_iter()
        .enumerate()
    {
        house.text(&guest(143 + n), word);
    }
    let sql = "insert into audit_log (casino_id, actor, action, severity, subject, detail) values ('_unknown', 'seven restore', 'restored', 'critical', 'database', '{}')";
    let owner = sqlx::PgPool::connect(&house.database_url).await.unwrap();
    sqlx::raw_sql(sql).execute(&owner).await.unwrap();
    grow_old(&house).await;
    house.stack.sim.set_rules(Plan::default()).unwrap();
    assert_eq!(run(&house, false).await.texts_recovered, 6);
    let closed = "select count(*) from inbound_messages where reason in ('stale', 'provider_answered') and disposition = 'closed'";
    until("all are closed", Duration::from_secs(10), || async {
        house.number(closed).await == 6
    })
    .await;
    assert_eq!(
        house
            .number("select count(*) from deletions where state = 'pending'")
            .await,
        1
    );
    assert_eq!(
        house
            .number("select count(*) from guests where consent_tier = 'marketing'")
            .await,
        0
    );
    let stopped = "select count(*) from suppressions where state = 'stopped'";
    assert_eq!(
        (
            house.number("select count(*) from outbound_messages").await,
            house.number(stopped).await
        ),
        (0, 1),
        "a STOP is a STOP"
    );
    house.stop().await;
}

#[tokio::test] // D5
async fn an_unknown_send_whose_webhook_was_lost_is_settled() {
    let house = quiet_house("reconcile_unknown").await;
    house
        .stack
        .sim
        .set_rules(faults(&[Fault::ServerErrorAfter, Fault::LostReceipt]))
        .unwrap();
    house.text(GUEST, QUESTION);
    until("unknown", Duration::from_secs(30), || async {
        house.count("outbound", "unknown").await == 1
    })
    .await;
    grow_old(&house).await;
    let report = run(&house, false).await;
    assert_eq!(
        (
            report.sends_in_doubt,
            report.sends_settled,
            report.sends_requeued
        ),
        (1, 1, 0),
        "{report:?}"
    );
    until("delivered", Duration::from_secs(10), || async {
        house.count("outbound", "delivered").await == 1
    })
    .await;
    assert_eq!(house.texts_to(GUEST).len(), 1, "nothing went out again");
    house.stop().await;
}

#[tokio::test] // D5
async fn an_unknown_send_that_the_provider_never_had_goes_out_once() {
    let house = quiet_house("reconcile_never").await;
    house
        .stack
        .sim
        .set_rules(faults(&[Fault::ServerErrorBefore]))
        .unwrap();
    house.text(GUEST, QUESTION);
    until("unknown", Duration::from_secs(30), || async {
        house.count("outbound", "unknown").await == 1
    })
    .await;
    assert_eq!(house.texts_to(GUEST).len(), 0);
    grow_old(&house).await;
    let dry = run(&house, true).await;
    assert_eq!(dry.sends_requeued, 1, "{dry:?}");
    assert_eq!(
        house.count("outbound", "unknown").await,
        1,
        "a dry run changes nothing"
    );
    assert_eq!(run(&house, false).await.sends_requeued, 1);
    until("delivered", Duration::from_secs(15), || async {
        house.count("outbound", "delivered").await == 1
    })
    .await;
    assert_eq!(run(&house, false).await.sends_requeued, 0);
    assert_eq!(house.texts_to(GUEST).len(), 1);
    house.stop().await;
}

#[tokio::test] // C-6
async fn an_opt_out_we_never_heard_of_becomes_a_suppression() {
    let house = quiet_house("reconcile_optout").await;
    house.text(GUEST, QUESTION);
    house.settle(1).await;
    let all = Plan {
        swallow_webhooks_percent: Some(100.0),
        block_on_stop: true,
        ..Plan::default()
    };
    house.stack.sim.set_rules(all).unwrap();
    house.text(GUEST, "STOP");
    let stranger = guest(9_001);
    house.text(&stranger, "STOP");
    grow_old(&house).await;
    let (fleet, casino) = (&house.stack.fleet, house.casino());
    let stopped = async |phone: &str| {
        let guest = fleet.keys.hash(casino, &phone.parse().unwrap());
        let mut tx = fleet.store.bind(casino).await.unwrap();
        tx.is_stopped(&guest).await.unwrap()
    };
    assert!(!stopped(GUEST).await, "its webhook never came");
    let report = run(&house, false).await;
    assert_eq!(
        (report.texts_recovered, report.opt_outs_listed),
        (2, 2),
        "{report:?}"
    );
    assert!(stopped(GUEST).await && stopped(&stranger).await);
    house.settle(3).await;
    assert_eq!(
        run(&house, false).await.opt_outs_taken_over,
        0,
        "known by now"
    );
    house.stop().await;
}

#[tokio::test] // C-6: the list alone is enough, and a guest's newer START stands
async fn the_list_of_opt_outs_counts_without_the_text() {
    let house = quiet_house("reconcile_block").await;
    house.text(GUEST, QUESTION);
    house.settle(1).await;
    let all = Plan {
        swallow_webhooks_percent: Some(100.0),
        block_on_stop: true,
        ..Plan::default()
    };
    house.stack.sim.set_rules(all).unwrap();
    let texted = house.text(GUEST, "STOP");
    let (fleet, casino) = (&house.stack.fleet, house.casino());
    // Marks the text as recovered, although it is not stored. So only the provider's list of
    // opt-outs shows the STOP.
    let mut tx = fleet.store.bind(casino).await.unwrap();
    assert!(
        tx.mark_reconciled("telnyx", &texted.message_id, ReconciledAs::Inbound)
            .await
            .unwrap()
    );
    tx.commit().await.unwrap();
    grow_old(&house).await;
    let report = run(&house, false).await;
    assert_eq!(
        (report.texts_recovered, report.opt_outs_taken_over),
        (0, 1),
        "{report:?}"
    );
    let mut tx = fleet.store.bind(casino).await.unwrap();
    let guest = fleet.keys.hash(casino, &GUEST.parse().unwrap());
    assert!(tx.is_stopped(&guest).await.unwrap());
    assert!(tx.verify_chain(&guest, &fleet.keys).await.unwrap().valid);
    house.stop().await;
}
