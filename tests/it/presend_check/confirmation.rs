//! The confirmation of a STOP is sent once per STOP, and within five minutes or not at all (D6).

use std::time::Duration;

use seven_settings::Worker;

use crate::harness::{GUEST, House, Wanted, house, until};

fn confirmations(house: &House) -> usize {
    house
        .texts_to(GUEST)
        .iter()
        .filter(|text| text.contains("you are unsubscribed"))
        .count()
}

#[tokio::test] // SMS-16, SEC-58
async fn one_confirmation_per_stop_however_often_it_is_said() {
    let house = house("confirm_once", Wanted::default()).await;
    for text in ["STOP", "stop", "UNSUBSCRIBE", "Quit.", "cancel"] {
        house.text(GUEST, text);
    }
    house.settle(5).await;
    assert_eq!(confirmations(&house), 1, "{:?}", house.texts_to(GUEST));
    house.text(GUEST, "START");
    house.settle(6).await;
    house.text(GUEST, "STOP");
    house.settle(7).await;
    assert_eq!(
        confirmations(&house),
        2,
        "a new STOP has a confirmation of its own: {:?}",
        house.texts_to(GUEST)
    );
    assert_eq!(
        house.texts_to(GUEST).len(),
        3,
        "and nothing else but the welcome back: {:?}",
        house.texts_to(GUEST)
    );
    house.stop().await;
}

/// Lets a STOP's confirmation wait for the sender, and runs the SQL `aged` meanwhile. Returns how
/// many confirmations were sent, and the confirmation's final state.
async fn late_by(unique: &str, aged: &'static str) -> (usize, String) {
    let workers = Worker::ALL
        .into_iter()
        .filter(|w| *w != Worker::OutboundSender)
        .collect();
    let mut house = house(
        unique,
        Wanted {
            workers,
            ..Wanted::default()
        },
    )
    .await;
    house.text(GUEST, "STOP");
    until(
        "the confirmation is queued",
        Duration::from_secs(10),
        || async { house.count("outbound", "queued").await == 1 },
    )
    .await;
    let owner = sqlx::PgPool::connect(&house.database_url).await.unwrap();
    sqlx::query(aged).execute(&owner).await.unwrap();
    house
        .stack
        .spawn(Worker::OutboundSender, None)
        .await
        .unwrap();
    house.settle(1).await;
    let (state,): (String,) = sqlx::query_as("select state from outbound_messages")
        .fetch_one(&owner)
        .await
        .unwrap();
    let sent = confirmations(&house);
    house.stop().await;
    (sent, state)
}

#[tokio::test] // SEC-58
async fn a_confirmation_leaves_within_five_minutes_or_never() {
    let (sent, state) = late_by(
        "confirm_in_time",
        "update outbound_messages set answers_at = answers_at - interval '4 min 30 s', useful_until = useful_until - interval '4 min 30 s'",
    )
    .await;
    assert!(
        sent == 1 && matches!(state.as_str(), "sent" | "delivered"),
        "in time: {sent} sent, {state}"
    );
    let (sent, state) = late_by(
        "confirm_expired",
        "update outbound_messages set answers_at = answers_at - interval '5 min', useful_until = useful_until - interval '5 min'",
    )
    .await;
    assert_eq!(
        (sent, state.as_str()),
        (0, "expired"),
        "its usefulness is over"
    );
    // The pre-send check counts the five minutes from the guest's text, whatever lifetime the pack
    // gives the confirmation.
    let (sent, state) = late_by(
        "confirm_answer_late",
        "update outbound_messages set answers_at = answers_at - interval '5 min', useful_until = now() + interval '1 h'",
    )
    .await;
    assert_eq!(
        (sent, state.as_str()),
        (0, "suppressed"),
        "the STOP is older than five minutes"
    );
}
