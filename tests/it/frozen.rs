//! A sender is frozen between its pre-send check and its call of the provider (D6). If a guest opts
//! out meanwhile, nothing more is sent to the guest.

use std::time::Duration;

use seven_settings::Worker;
use tokio::{process::Child, time::sleep};

use crate::harness::{GUEST, Wanted, house, until};

const QUESTION: &str = "where is nonna salvia?";

fn is_stopped(process: &Child) -> bool {
    let Some(pid) = process.id() else {
        return false;
    };
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(')')
        .next()
        .is_some_and(|rest| rest.trim_start().starts_with('T'))
}

async fn signal(process: &Child, signal: &str) {
    let pid = process.id().unwrap().to_string();
    tokio::process::Command::new("kill")
        .args([signal, &pid])
        .status()
        .await
        .unwrap();
}

#[tokio::test] // D6, SMS-53
async fn a_sender_that_was_frozen_after_its_look_sends_nothing_after_stop() {
    let workers = Worker::ALL
        .into_iter()
        .filter(|worker| *worker != Worker::OutboundSender)
        .collect();
    let house = house(
        "frozen_sender",
        Wanted {
            workers,
            ..Wanted::default()
        },
    )
    .await;
    let mut frozen = house.process("outbound-sender", Some("sender.after_claim:1:stop"));
    house.text(GUEST, QUESTION);
    until(
        "the sender stands still with a text in hand",
        Duration::from_secs(30),
        async || is_stopped(&frozen),
    )
    .await;
    let other = house.process("outbound-sender", None);
    house.text(GUEST, "STOP");
    until(
        "the STOP is confirmed",
        Duration::from_secs(30),
        async || !house.texts_to(GUEST).is_empty(),
    )
    .await;
    // Sleeps for longer than the result of a pre-send check is valid.
    sleep(Duration::from_millis(2_500)).await;
    signal(&frozen, "-CONT").await;
    // On a busy machine the attempt's due row may have settled the text before the sender goes on.
    let open = "select count(*) from outbound_messages where state in ('queued', 'sending')";
    until(
        "the call was given up",
        Duration::from_secs(60),
        async || house.number(open).await == 0,
    )
    .await;
    // The sender finishes the text that it holds before it exits.
    signal(&frozen, "-TERM").await;
    let ended = tokio::time::timeout(Duration::from_secs(60), frozen.wait()).await;
    assert!(ended.is_ok(), "the sender does not end");
    drop(other);
    let texts = house.texts_to(GUEST);
    assert!(texts.len() == 1 && texts[0].contains("START"), "{texts:?}");
    house.stop().await;
}
