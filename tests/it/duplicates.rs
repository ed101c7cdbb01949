//! Tests copies of a webhook, bursts of texts, and texts over the limit. No guest gets an answer
//! twice, and no text is lost.

mod burst;
mod limits;

use std::{process::Stdio, time::Duration};

use futures::future::join_all;
use seven_domain::Stage;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    process::{Child, Command},
};

use crate::{
    harness::{GUEST, House, Wanted, binary, house, until},
    webhook::caller::{Answer, Caller, published},
};

/// Starts a second ingress as a process with its own port; the process is killed when dropped.
async fn second_ingress(house: &House) -> (Child, String) {
    let port = TcpListener::bind("127.0.0.1:0")
        .await
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let log = std::fs::File::create(house.scratch.path().join("second-ingress.log")).unwrap();
    let mut command = Command::new(binary());
    command
        .args(["run", "ingress-webhook", "--config"])
        .arg(&house.stack.config_file)
        .env("SEVEN_INGRESS__LISTEN", format!("127.0.0.1:{port}"));
    let child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::from(log))
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    until(
        "the second ingress answers",
        Duration::from_secs(20),
        async || TcpStream::connect(("127.0.0.1", port)).await.is_ok(),
    )
    .await;
    (child, format!("http://127.0.0.1:{port}/webhooks/telnyx"))
}

async fn flush(house: &House) {
    let url = house.redis.url();
    let mut redis = TcpStream::connect(url.trim_start_matches("redis://").trim_end_matches('/'))
        .await
        .unwrap();
    redis.write_all(b"FLUSHALL\r\n").await.unwrap();
    let mut answer = [0; 5];
    redis.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"+OK\r\n");
}

/// Sends fifty copies at once, half of them to each ingress. Each copy has its own time and
/// `meta.attempt`. If a copy gets a 503, it is sent again, as Telnyx does.
async fn fifty(call: &Caller, doors: [&str; 2], event: &serde_json::Value) -> Vec<Answer> {
    let copies = (0..50_u8).map(async |n| {
        let (door, at) = (doors[usize::from(n % 2)], call.now() - i64::from(n));
        let mut copy = event.clone();
        copy["meta"]["delivered_to"] = door.into();
        let mut answer = Answer::of(503, serde_json::Value::Null);
        for attempt in 1..=3 {
            if answer.code == 503 {
                copy["meta"]["attempt"] = (u16::from(n) * 3 + attempt).into();
                answer = call
                    .post_signed(door, at, copy.to_string().as_bytes())
                    .await;
            }
        }
        answer
    });
    join_all(copies).await
}

/// Sends fifty copies of an event in each of three waves:
/// 1. while Redis and JetStream remember the event,
/// 2. after Redis lost all data,
/// 3. after JetStream's duplicate window has ended.
async fn three_waves(house: &House, event: &serde_json::Value) {
    let call = Caller::of(house);
    let (_process, second) = second_ingress(house).await;
    let doors = [call.url.as_str(), second.as_str()];
    let good = |answers: &[Answer]| {
        answers
            .iter()
            .all(|answer| *answer == Answer::accepted() || answer.status() == "duplicate")
    };
    for wave in ["at once", "after a flush", "after the duplicate window"] {
        let answers = fifty(&call, doors, event).await;
        assert!(
            answers.iter().all(|answer| answer.code == 200) && good(&answers),
            "{wave}: {answers:?}"
        );
        house.settle(1).await;
        let before = published(house, "INGRESS").await;
        flush(house).await;
        if wave == "after a flush" {
            // The duplicate window has ended when JetStream stores one more copy as a new message.
            // The gate still treats this copy as a duplicate.
            until(
                "JetStream has forgotten it",
                Duration::from_secs(10),
                async || {
                    flush(house).await;
                    // The answer may also be `duplicate`, because the gate may have recorded
                    // another copy as done after the flush.
                    assert!(good(&[call.post(event.to_string().as_bytes()).await]));
                    published(house, "INGRESS").await > before
                },
            )
            .await;
            flush(house).await;
        }
    }
    let idle = async || {
        house
            .stack
            .fleet
            .bus
            .lag(Stage::Gate)
            .await
            .unwrap()
            .iter()
            .all(|lag| lag.pending == 0 && lag.in_flight == 0)
    };
    until("the gate saw every copy", Duration::from_secs(10), idle).await;
    assert!(published(house, "INGRESS").await >= 2);
    let recognised = seven_telemetry::metrics()
        .duplicates
        .with_label_values(&[Stage::Gate.as_str()])
        .get();
    assert!(
        recognised >= 1,
        "what came after the window was a duplicate to the gate"
    );
    house.settle(1).await;
}

fn short_window() -> Wanted {
    Wanted {
        extra: "nats.duplicate_window_seconds = 1\n".to_owned(),
        ..Wanted::default()
    }
}

#[tokio::test] // SMS-6, SMS-8
async fn one_webhook_150_times_is_one_text_one_turn_one_answer() {
    let house = house("duplicates_text", short_window()).await;
    three_waves(
        &house,
        &Caller::of(&house).received("copied", GUEST, "What time is check-in?"),
    )
    .await;
    assert_eq!(
        house.number("select count(*) from inbound_messages").await,
        1
    );
    assert_eq!(
        house
            .number("select count(*) from inbound_messages where disposition = 'answered'")
            .await,
        1
    );
    assert_eq!(house.number("select count(*) from turns").await, 1);
    let texts = house.texts_to(GUEST);
    assert_eq!(texts.len(), 1, "{texts:?}");
    assert_eq!(house.number("select count(*) from send_attempts").await, 1);
    assert_eq!(house.count("dead", "open").await, 0);
    house.stop().await;
}

#[tokio::test] // SMS-6, SMS-16, SEC-17
async fn one_stop_150_times_is_confirmed_once() {
    let house = house("duplicates_stop", short_window()).await;
    three_waves(
        &house,
        &Caller::of(&house).received("stopped", GUEST, "STOP"),
    )
    .await;
    let texts = house.texts_to(GUEST);
    assert!(
        texts.len() == 1 && texts[0].contains("unsubscribed"),
        "{texts:?}"
    );
    assert_eq!(
        house.number("select count(*) from inbound_messages").await,
        1
    );
    assert_eq!(
        house
            .number("select count(*) from audit_log where action = 'consent_revoked'")
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
