//! A number's pace delays texts and drops none (SMS-14, D6): texts above the pace of a slow number
//! wait their turn.

use crate::harness::{House, Wanted, house};

fn guest(n: usize) -> String {
    format!("+120355501{n:02}")
}

/// Starts the demo casino with a 10DLC campaign of five segments per second: four are for replies,
/// one is kept for safety texts.
async fn slow_house(name: &str) -> House {
    let mut casino: serde_json::Value = serde_json::from_str(seven_packs::demo::CASINO).unwrap();
    casino["operational"]["number_kind"] = "long_code".into();
    casino["operational"]["campaign_segments_per_second"] = 5.into();
    let documents = (casino.to_string(), seven_packs::demo::CONTENT.to_owned());
    house(
        name,
        Wanted {
            casino: Some(documents),
            ..Wanted::default()
        },
    )
    .await
}

#[tokio::test] // SMS-14
async fn texts_over_the_pace_wait_and_all_arrive() {
    let house = slow_house("pace_replies").await;
    for n in 40..60 {
        house.text(&guest(n), "where is nonna salvia?");
    }
    house.settle(20).await;
    let mut sent: Vec<_> = (40..60)
        .flat_map(|n| house.sent_to(&guest(n)))
        .map(|s| s.accepted_at)
        .collect();
    sent.sort();
    assert!(
        sent.len() >= 20,
        "every guest has an answer: {}",
        sent.len()
    );
    // At most four texts leave at once, and after that four texts a second.
    let least = (sent.len() as i64 - 4) * 250 - 300;
    let took = (sent[sent.len() - 1] - sent[0]).num_milliseconds();
    assert!(
        took >= least,
        "{} texts within {took} ms, at least {least} expected",
        sent.len()
    );
    house.stop().await;
}

#[tokio::test] // CONV-1
async fn a_stop_confirmation_does_not_queue_behind_replies() {
    let house = slow_house("pace_safety").await;
    for n in 40..56 {
        house.text(&guest(n), "where is nonna salvia?");
    }
    house.text(&guest(60), "STOP");
    house.settle(17).await;
    let confirmed = house.sent_to(&guest(60))[0].accepted_at;
    let later = (40..56)
        .flat_map(|n| house.sent_to(&guest(n)))
        .filter(|s| s.accepted_at > confirmed)
        .count();
    assert!(
        later >= 8,
        "only {later} replies left after the confirmation"
    );
    house.stop().await;
}
