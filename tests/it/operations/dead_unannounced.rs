//! A process may commit that a message has failed for good, and die before it announces the dead
//! letter. The scheduler then files the dead letter (D17).

use std::time::Duration;

use seven_carrier_sim::{Fault, Matcher, Plan, Rule};
use seven_settings::Worker;

use crate::harness::{GUEST, Wanted, house, until};

#[tokio::test] // SMS-44
async fn a_sender_that_dies_before_the_announcement_leaves_a_letter_all_the_same() {
    let workers = Worker::ALL
        .into_iter()
        .filter(|w| *w != Worker::OutboundSender)
        .collect();
    let at = Some("2026-11-24T08:30:00Z");
    let house = house(
        "dead_unannounced",
        Wanted {
            workers,
            at,
            ..Wanted::default()
        },
    )
    .await;
    let rule = Rule {
        matcher: Matcher::default(),
        fault: Fault::Error("40008".into()),
        times: None,
    };
    house
        .stack
        .sim
        .set_rules(Plan {
            rules: vec![rule],
            ..Plan::default()
        })
        .unwrap();
    // The sender dies when it has recorded its fourth attempt, which ends the text as failed.
    let mut doomed = house.process("outbound-sender", Some("sender.after_record:4"));
    house.text(GUEST, "where is nonna salvia?");
    let died = tokio::time::timeout(Duration::from_secs(40), doomed.wait()).await;
    assert!(
        !died
            .expect("the failpoint was never reached")
            .unwrap()
            .success()
    );
    assert_eq!(house.count("outbound", "failed").await, 1);
    let _heir = house.process("outbound-sender", None);
    until("a letter", Duration::from_secs(40), || async {
        house.count("dead", "open").await == 1
    })
    .await;
    // The message was delivered again and changed nothing. Later rounds of the scheduler file no
    // second letter.
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(house.number("select count(*) from dead_letters").await, 1);
    assert_eq!(
        house
            .number(
                "select count(*) from dead_letters d join outbound_messages o on o.outbound_id::text = d.message_key
                 where d.stage = 'sender' and d.reason = 'send_failed' and d.guest_hash is not null"
            )
            .await,
        1
    );
    // When the provider works again, the letter can be replayed like an announced one.
    house.stack.sim.set_rules(Plan::default()).unwrap();
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
    assert_eq!(house.texts_to(GUEST).len(), 1);
    house.stop().await;
}
