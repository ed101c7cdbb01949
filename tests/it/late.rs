//! Tests late messages: texts that an outage delayed, and a KEEP that the gate has not read. The
//! guest's deletion becomes due before the gate reads the KEEP.

use std::time::Duration;

use chrono::{TimeDelta, Utc};
use prost::Message;
use seven_bus::{Outgoing, events::InboundText, subject};
use seven_domain::{CasinoStatus, Stage};
use seven_scheduler::unread::take;
use seven_settings::Worker;

use crate::harness::{GUEST, House, Wanted, house, until};

const GATE: &str = "compliance-gate";

/// Publishes a text as ingress would have published it `age` ago.
async fn stored_ago(house: &House, n: usize, from: &str, text: &str, age: TimeDelta) {
    let at = (Utc::now() - age).timestamp_millis();
    let event = InboundText {
        provider: "telnyx".into(),
        provider_message_id: format!("late-{n}"),
        event_id: format!("late-event-{n}"),
        from: from.into(),
        to: house.config.operational.telnyx_phone_number.as_str().into(),
        media_count: 0,
        autoresponse: String::new(),
        occurred_at: at,
        received_at: at,
        channel: "sms".into(),
        text: text.into(),
    };
    publish(house, &event).await;
}

/// Publishes an inbound text for the gate.
pub(crate) async fn publish(house: &House, event: &InboundText) {
    let key = event.event_id.clone();
    let subject = subject(Stage::Gate, house.casino(), None);
    let message = Outgoing {
        subject,
        key: &key,
        copy: None,
        trace: "",
        payload: event.encode_to_vec().into(),
    };
    house
        .stack
        .fleet
        .bus
        .publish(&message, Duration::from_secs(5))
        .await
        .unwrap();
}

#[tokio::test] // D4, D7: counted from receipt; a STOP and a cry do not grow old
async fn texts_of_two_days_ago_are_not_answered_but_for_a_cry() {
    let house = house(
        "late_texts",
        Wanted {
            scale: 1.0,
            ..Wanted::default()
        },
    )
    .await;
    let age = TimeDelta::days(2);
    let texts = [
        ("+18605550161", "HELP", 0),
        ("+18605550162", "when does the pool open?", 0),
        ("+18605550163", "my card is 4111 1111 1111 1111", 0),
        ("+18605550164", "STOP", 0),
        ("+18605550165", "i want to kill myself", 1),
    ];
    for (n, (from, text, _)) in texts.iter().enumerate() {
        stored_ago(&house, n, from, text, age).await;
    }
    house.settle(texts.len() as i64).await;
    for (from, text, answers) in texts {
        assert_eq!(
            house.texts_to(from).len(),
            answers,
            "{text}: {:?}",
            house.texts_to(from)
        );
    }
    let asked = house.said_to("+18605550165");
    assert!(
        asked.contains("988") && asked.contains("911") && asked.contains("only reached me now"),
        "{asked}"
    );
    assert_eq!(
        house
            .number(
                "select count(*) from escalations where severity = 'sev0' and reason = 'crisis'"
            )
            .await,
        1
    );
    assert_eq!(
        house
            .number("select count(*) from suppressions where state = 'stopped'")
            .await,
        1
    );
    house.stop().await;
}

/// Starts a house with a guest whose deletion is pending, and who wrote KEEP after the gate was
/// killed.
async fn keep_unread(unique: &str, scale: f64) -> House {
    let workers = Worker::ALL
        .iter()
        .copied()
        .filter(|worker| *worker != Worker::ComplianceGate)
        .collect();
    let house = house(
        unique,
        Wanted {
            scale,
            workers,
            ..Wanted::default()
        },
    )
    .await;
    let mut gate = house.process(GATE, None);
    for (n, text) in ["hello there", "DELETE"].into_iter().enumerate() {
        house.text(GUEST, text);
        house.settle(n as i64 + 1).await;
    }
    assert_eq!(state(&house, "pending").await, 1);
    gate.kill().await.unwrap();
    house.text(GUEST, "KEEP");
    house
}

async fn state(house: &House, state: &str) -> i64 {
    house
        .number(&format!(
            "select count(*) from deletions where state = '{state}'"
        ))
        .await
}

#[tokio::test] // SEC-77, C-18: what is on the bus is read before anything is destroyed
async fn a_deletion_waits_for_the_gate_to_read() {
    // At this scale the 15 minutes in which the guest can cancel take 9 s.
    let house = keep_unread("late_keep", 0.01).await;
    let due = "select count(*) from deletions where due_at < now() - interval '2 seconds'";
    until("the deletion is due", Duration::from_secs(40), async || {
        house.number(due).await == 1
    })
    .await;
    assert_eq!(
        (state(&house, "pending").await, state(&house, "done").await),
        (1, 0),
        "nothing is destroyed unread"
    );
    let _gate = house.process(GATE, None);
    until("the KEEP is read", Duration::from_secs(40), async || {
        state(&house, "withdrawn").await == 1
    })
    .await;
    assert_eq!(house.number("select count(*) from guests").await, 1);
    house.stop().await;
}

#[tokio::test] // SEC-77: a gate that never comes back
async fn a_keep_that_no_gate_reads_is_read_by_the_scheduler() {
    // At this scale the scheduler reads the guest's unread texts itself after 7 s, not after an
    // hour.
    let house = keep_unread("late_unread", 0.002).await;
    until(
        "the scheduler reads it",
        Duration::from_secs(60),
        async || state(&house, "withdrawn").await == 1,
    )
    .await;
    assert_eq!(house.number("select count(*) from guests").await, 1);
    let told = "select count(*) from alerts where name = 'deletion_unread'";
    until("operators are told", Duration::from_secs(20), async || {
        house.number(told).await == 1
    })
    .await;
    house.stop().await;
}

// SEC-77: a removed casino has no gate that could read its texts, but its guests are deleted
// nevertheless
#[tokio::test]
async fn a_guest_of_a_removed_casino_is_forgotten() {
    let house = house("late_removed", Wanted::default()).await;
    house.text(GUEST, "hello there");
    house.settle(1).await;
    let fleet = &house.stack.fleet;
    let guest = fleet.keys.hash(house.casino(), &GUEST.parse().unwrap());
    let mut tx = fleet.store.bind(house.casino()).await.unwrap();
    tx.set_casino_status(CasinoStatus::Removed, "test", "closed")
        .await
        .unwrap();
    tx.commit().await.unwrap();
    seven::onboard::announce(fleet, house.casino())
        .await
        .unwrap();
    fleet.bus.remove_consumers(house.casino()).await.unwrap();
    let mut tx = fleet.store.bind(house.casino()).await.unwrap();
    let guest_id = tx.guest_by_hash(&guest).await.unwrap().unwrap();
    tx.request_deletion(
        fleet.ids.uuid(),
        &guest,
        guest_id,
        "test",
        fleet.clock.now(),
        Duration::ZERO,
    )
    .await
    .unwrap();
    tx.commit().await.unwrap();
    until(
        "the guest is forgotten",
        Duration::from_secs(40),
        async || state(&house, "done").await == 1,
    )
    .await;
    assert_eq!(house.number("select count(*) from guests").await, 0);
    house.stop().await;
}

#[tokio::test] // D2: texts that no gate read are read before their stream drops them
async fn texts_that_no_gate_read_are_heard_before_they_are_dropped() {
    let workers = vec![Worker::IngressWebhook];
    let house = house(
        "late_unread",
        Wanted {
            workers,
            ..Wanted::default()
        },
    )
    .await;
    let (fleet, casino) = (&house.stack.fleet, house.casino());
    for (n, words) in ["Is the pool open?", "STOP", "i want to kill myself"]
        .into_iter()
        .enumerate()
    {
        house.text(&format!("+1860555014{n}"), words);
    }
    until("all are on the bus", Duration::from_secs(20), async || {
        fleet
            .bus
            .last_sequence(Stage::Gate)
            .await
            .is_ok_and(|last| last == 3)
    })
    .await;
    let days = Duration::from_secs(6 * 24 * 3_600);
    assert_eq!(
        take(fleet, casino, days).await.unwrap(),
        0,
        "they are young"
    );
    assert_eq!(take(fleet, casino, Duration::ZERO).await.unwrap(), 3);
    assert_eq!(
        take(fleet, casino, Duration::ZERO).await.unwrap(),
        0,
        "the next round finds nothing"
    );
    let _scheduler = house.process("scheduler", None);
    until("each is a letter", Duration::from_secs(20), async || {
        house
            .number("select count(*) from dead_letters where reason = 'unread' and state = 'open'")
            .await
            == 3
    })
    .await;
    assert_eq!(
        house
            .number("select count(*) from suppressions where state = 'stopped'")
            .await,
        1
    );
    assert_eq!(
        house
            .number("select count(*) from escalations where reason = 'crisis'")
            .await,
        1
    );
    // A gate that starts now finds no text on the bus. But if a dead letter is replayed, the gate
    // stores its text.
    let _gate = house.process("compliance-gate", None);
    let replay = [
        "dead",
        "replay",
        "--casino",
        casino.as_str(),
        "--by",
        "ana",
        "--yes",
        "--rate",
        "1000",
    ];
    let said = house.seven(&replay, "").await;
    assert!(said.out.contains("Replayed"), "{said:?}");
    until(
        "the question is stored",
        Duration::from_secs(20),
        async || {
            house
                .number("select count(*) from inbound_messages where body = 'Is the pool open?'")
                .await
                == 1
        },
    )
    .await;
    house.stop().await;
}
