//! STOP and START as guests experience them (D7). After a STOP, only its confirmation and answers
//! to HELP are sent. The guest's newest word decides.

use std::time::Duration;

use seven_carrier_sim::Text;

use crate::harness::{GUEST, House, Wanted, house, until};

const QUESTION: &str = "What restaurants are open tonight?";

fn is_confirmation(text: &str) -> bool {
    text.contains("START")
}

#[tokio::test] // SMS-10, SMS-16, SEC-7, SEC-16
async fn stop_during_the_typing_delay_leaves_the_confirmation_only() {
    // The delay is long, so that the STOP arrives within it even on a busy machine.
    let house = house(
        "stop_typing",
        Wanted {
            scale: 5.0,
            ..Wanted::default()
        },
    )
    .await;
    house.text(GUEST, QUESTION);
    until(
        "the answer waits out its typing delay",
        Duration::from_secs(60),
        || async { house.count("outbound", "queued").await > 0 },
    )
    .await;
    house.text(GUEST, "Stop.");
    house.settle(2).await;
    let texts = house.texts_to(GUEST);
    assert_eq!(texts.len(), 1, "{texts:?}");
    assert!(is_confirmation(&texts[0]), "{texts:?}");
    assert!(
        house.count("outbound", "suppressed").await > 0,
        "the answer stands as suppressed"
    );
    house.stop().await;
}

#[tokio::test] // SMS-10
async fn stop_before_the_turn_speaks_closes_the_question() {
    let house = house(
        "stop_quiet",
        Wanted {
            scale: 1.0,
            ..Wanted::default()
        },
    )
    .await;
    house.text(GUEST, QUESTION);
    until(
        "the question is stored",
        Duration::from_secs(10),
        || async { house.count("inbound", "open").await == 1 },
    )
    .await;
    house.text(GUEST, "unsubscribe");
    house.settle(2).await;
    let texts = house.texts_to(GUEST);
    assert!(texts.len() == 1 && is_confirmation(&texts[0]), "{texts:?}");
    assert_eq!(
        house.count("inbound", "closed").await,
        1,
        "the question was closed with a reason"
    );
    house.stop().await;
}

#[tokio::test] // SMS-15, SMS-16, SMS-17, CONV-1, CONV-8, CONV-4, SEC-8, SEC-17
async fn an_opted_out_guest_gets_help_but_nothing_else() {
    let house = house("stop_then", Wanted::default()).await;
    for (sent, text) in (1..).zip([
        "STOP",
        "stop",
        "Any Italian place?",
        "HELP",
        "PRIVACY",
        "YES",
    ]) {
        house.text(GUEST, text);
        house.settle(sent).await;
    }
    let texts = house.texts_to(GUEST);
    assert_eq!(texts.len(), 2, "one confirmation and one HELP: {texts:?}");
    assert!(
        is_confirmation(&texts[0]) && texts[1].contains("help@heyseven.ai"),
        "{texts:?}"
    );
    house.stop().await;
}

#[tokio::test] // SMS-20 as resolved by C-12: one START restores the conversation
async fn start_brings_the_answers_back() {
    let house = house("stop_start", Wanted::default()).await;
    for (sent, text) in (1..).zip(["STOP", "START", "where is nonna salvia?"]) {
        house.text(GUEST, text);
        house.settle(sent).await;
    }
    let texts = house.texts_to(GUEST);
    assert!(
        texts.len() >= 3 && texts[2..].iter().any(|t| t.contains("Nonna Salvia")),
        "{texts:?}"
    );
    house.stop().await;
}

/// Delivers a STOP that was written at `occurred_at`. If `event` was delivered before, this is a
/// retry; otherwise it is a new text.
fn old_stop(house: &House, event: &str, occurred_at: chrono::DateTime<chrono::Utc>) {
    let text = Text {
        from: GUEST.into(),
        text: Some("STOP".into()),
        event_id: Some(event.into()),
        message_id: Some(format!("message of {event}")),
        occurred_at: Some(occurred_at),
        ..Text::default()
    };
    house.stack.sim.text(text).unwrap();
}

#[tokio::test] // SMS-6, D7: last writer wins on the provider's time
async fn a_late_retry_of_an_older_stop_changes_nothing() {
    let house = house("stop_late", Wanted::default()).await;
    let earlier = chrono::Utc::now() - chrono::TimeDelta::minutes(10);
    old_stop(&house, "first", earlier);
    house.settle(1).await;
    house.text(GUEST, "START");
    house.settle(2).await;
    for event in ["first", "never seen"] {
        old_stop(&house, event, earlier + chrono::TimeDelta::minutes(1));
    }
    house.settle(3).await;
    house.text(GUEST, "where is nonna salvia?");
    house.settle(4).await;
    let texts = house.texts_to(GUEST);
    assert!(
        texts.last().is_some_and(|t| t.contains("Nonna Salvia")),
        "still opted in: {texts:?}"
    );
    assert_eq!(
        texts.iter().filter(|t| is_confirmation(t)).count(),
        1,
        "one confirmation, for the first STOP: {texts:?}"
    );
    house.stop().await;
}

#[tokio::test] // PROD-6
async fn stop_is_recorded_while_model_and_send_api_are_away() {
    use seven_settings::Worker;
    let workers = vec![
        Worker::IngressWebhook,
        Worker::ComplianceGate,
        Worker::Scheduler,
    ];
    let house = house(
        "stop_alone",
        Wanted {
            workers,
            ..Wanted::default()
        },
    )
    .await;
    house.text(GUEST, QUESTION);
    until(
        "the question is stored",
        Duration::from_secs(10),
        || async { house.count("inbound", "open").await == 1 },
    )
    .await;
    house.text(GUEST, "STOP");
    until("the STOP stands", Duration::from_secs(10), || async {
        house
            .number("select count(*) from suppressions where state = 'stopped'")
            .await
            == 1
    })
    .await;
    until(
        "the confirmation waits",
        Duration::from_secs(10),
        || async { house.count("outbound", "queued").await == 1 },
    )
    .await;
    assert_eq!(
        house.count("inbound", "closed").await,
        1,
        "the question was closed"
    );
    house.stop().await;
}

#[tokio::test] // SEC-94: what the pre-send check forbids is watched all the same
async fn a_text_that_left_after_a_stop_raises_the_highest_alarm() {
    let house = house("stop_watch", Wanted::default()).await;
    let raised = || {
        seven_telemetry::metrics()
            .alerts
            .with_label_values(&["text_after_stop", ""])
            .get()
    };
    house.text(GUEST, QUESTION);
    house.settle(1).await;
    house.text(GUEST, "STOP");
    house.settle(2).await;
    tokio::time::sleep(Duration::from_millis(600)).await;
    assert_eq!(raised(), 0, "the confirmation may go out");
    // Makes the STOP older than the answer that was sent.
    let pool = sqlx::PgPool::connect(&house.database_url).await.unwrap();
    let stopped = "update suppressions set recorded_at = recorded_at - interval '1 minute' where state = 'stopped'";
    sqlx::query(stopped).execute(&pool).await.unwrap();
    pool.close().await;
    until("the alarm", Duration::from_secs(10), || async {
        raised() > 0
    })
    .await;
    house.stop().await;
}
