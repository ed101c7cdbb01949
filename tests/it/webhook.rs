//! Tests the status codes and bodies of the webhook's answers (spec 20, SMS-2..9). Tests also that
//! refused calls publish nothing.

pub(crate) mod caller;
mod fuzz;
mod limits;
mod receipts;
mod sizes;

use std::time::Duration;

use caller::{Answer, Caller, SIGNATURE, TIMESTAMP, published};
use serde_json::{Value, json};
use seven_settings::Worker;

use crate::harness::{GUEST, House, Wanted, house, until};

/// Runs only the stages up to the gate, so that texts are stored but not answered.
fn front() -> Wanted {
    Wanted {
        workers: vec![
            Worker::IngressWebhook,
            Worker::ComplianceGate,
            Worker::Scheduler,
        ],
        ..Wanted::default()
    }
}

/// Counts filed dead letters: open ones, and those discarded at once because nobody has to act on
/// them.
async fn dead(house: &House) -> i64 {
    house.count("dead", "open").await + house.count("dead", "discarded").await
}

/// Returns how many messages each of the streams INGRESS, RECEIPT and DEAD has taken since its
/// creation.
async fn all_published(house: &House) -> [u64; 3] {
    [
        published(house, "INGRESS").await,
        published(house, "RECEIPT").await,
        published(house, "DEAD").await,
    ]
}

/// Waits until the clock is in the first half of a second. Two readings of the clock shortly after
/// each other then fall into the same second.
async fn early_in_a_second(house: &House) {
    until("the next second", Duration::from_secs(2), async || {
        house.stack.fleet.clock.now().timestamp_subsec_millis() < 500
    })
    .await;
}

#[tokio::test] // OBS-1, C-29
async fn a_strangers_trace_headers_say_nothing() {
    let house = house("webhook_trace", front()).await;
    let call = Caller::of(&house);
    let body = call
        .received("trace", GUEST, "Is the pool open?")
        .to_string()
        .into_bytes();
    let (at, theirs) = (call.now().to_string(), "4bf92f3577b34da6a3ce929d0e0e4736");
    let signature = call.sign(&at, &body);
    let parent = format!("00-{theirs}-00f067aa0ba902b7-01");
    let headers = [
        (TIMESTAMP, at.as_str()),
        (SIGNATURE, &signature),
        ("traceparent", &parent),
        ("X-Trace-ID", theirs),
    ];
    assert_eq!(
        call.post_with(&call.url, &headers, &body).await,
        Answer::accepted()
    );
    let stored = "select count(*) from inbound_messages";
    until("it is stored", Duration::from_secs(10), async || {
        house.number(stored).await == 1
    })
    .await;
    assert_eq!(
        house
            .number(&format!("{stored} where trace like '%{theirs}%'"))
            .await,
        0
    );
    let ours = seven_domain::TraceContext::of_text("telnyx", "message-trace").trace_hex();
    assert_eq!(
        house
            .number(&format!("{stored} where trace like '00-{ours}-%'"))
            .await,
        1
    );
    house.stop().await;
}

#[tokio::test] // SMS-2, SMS-3, SMS-4
async fn whoever_is_not_telnyx_is_refused_with_the_right_code() {
    let house = house("webhook_refusals", front()).await;
    let call = Caller::of(&house);
    let body = call
        .received("r", GUEST, "What restaurants are open?")
        .to_string()
        .into_bytes();
    let send = async |at: &str, signature: &str| {
        call.post_with(&call.url, &[(TIMESTAMP, at), (SIGNATURE, signature)], &body)
            .await
    };

    early_in_a_second(&house).await;
    let now = call.now();
    for off in [-301, 301, -86_400, 86_400, -now] {
        early_in_a_second(&house).await;
        assert_eq!(
            call.post_signed(&call.url, call.now() + off, &body).await,
            Answer::error(400, "Webhook timestamp expired"),
            "{off}"
        );
    }
    let at = now.to_string();
    let signature = call.sign(&at, &body);
    let missing = Answer::error(401, "Missing signature headers");
    for headers in [
        &[(TIMESTAMP, at.as_str())][..],
        &[(SIGNATURE, signature.as_str())],
        &[],
    ] {
        assert_eq!(
            call.post_with(&call.url, headers, &body).await,
            missing,
            "{headers:?}"
        );
    }
    for odd in [
        "abc",
        "1.5e9",
        "-1",
        "99999999999999999999",
        &format!("{now}.0"),
        &format!("+{now}"),
    ] {
        assert_eq!(
            send(odd, &call.sign(odd, &body)).await,
            Answer::error(400, "Invalid timestamp"),
            "{odd}"
        );
    }
    let wrong = Answer::error(401, "Invalid webhook signature");
    for place in [0, body.len() / 2, body.len() - 1] {
        let mut flipped = body.clone();
        flipped[place] ^= 1;
        let headers = [(TIMESTAMP, at.as_str()), (SIGNATURE, signature.as_str())];
        assert_eq!(
            call.post_with(&call.url, &headers, &flipped).await,
            wrong,
            "byte {place}"
        );
    }
    for odd in ["", "!!", "AAAA", &signature[..86]] {
        assert_eq!(send(&at, odd).await, wrong, "{odd:?}");
    }
    assert_eq!(
        send(&(now + 1).to_string(), &signature).await,
        wrong,
        "another second than the signed one"
    );
    assert_eq!(
        call.post_signed(&call.url, now, b"\xff\xfe").await,
        Answer::dead("unreadable"),
        "the key itself is right"
    );
    let headers = [(TIMESTAMP, at.as_str()), (SIGNATURE, signature.as_str())];
    assert_eq!(
        call.post_with(&call.url, &headers, b"\xff\xfe").await,
        wrong,
        "invalid UTF-8 that nobody signed"
    );

    assert_eq!(
        all_published(&house).await,
        [0, 0, 1],
        "only the signed one left a trace"
    );
    // The same body is accepted when it is correctly signed near either end of the time window.
    for off in [-295, 295] {
        assert_eq!(
            call.post_signed(&call.url, call.now() + off, &body)
                .await
                .code,
            200,
            "{off}"
        );
    }
    until("one row", Duration::from_secs(5), async || {
        house.count("inbound", "open").await == 1
    })
    .await;
    assert_eq!(
        published(&house, "INGRESS").await,
        1,
        "JetStream knows the second copy by data.id"
    );
    house.stop().await;
}

#[tokio::test] // SMS-2, SMS-6: authentic is kept, whatever it is
async fn authentic_but_unusable_events_become_dead_letters() {
    let house = house("webhook_dead", front()).await;
    let call = Caller::of(&house);
    let event = |n: &str, path: &str, value: Value| {
        let mut event = call.received(n, GUEST, "hello");
        *event.pointer_mut(path).unwrap() = value;
        event.to_string().into_bytes()
    };
    let to = "/data/payload/to";
    let from = "/data/payload/from/phone_number";
    let mine = house.casino().as_str().to_owned();
    let cases: Vec<(&str, Vec<u8>, &str)> = vec![
        (
            "unknown_number",
            event("d1", to, json!("+18605550199")),
            "_unknown",
        ),
        (
            "unknown_number",
            event("d2", to, json!([{"phone_number": "+18605550198"}])),
            "_unknown",
        ),
        (
            "number_not_e164",
            event("d3", to, json!("8605550100")),
            "_unknown",
        ),
        ("odd_sender", event("d4", from, json!("SHORT")), &mine),
        (
            "unreadable",
            event("d5", "/data/payload/text", json!({"body": "hello"})),
            "_unknown",
        ),
        (
            "unreadable",
            event("d6", "/data/payload/id", Value::Null),
            "_unknown",
        ),
        (
            "unreadable",
            event("d7", "/data/occurred_at", json!("yesterday")),
            "_unknown",
        ),
        (
            "unreadable",
            event("d8", "/data/payload", json!([])),
            "_unknown",
        ),
        (
            "unreadable",
            event("d9", "/data/id", json!("two\r\nlines")),
            "_unknown",
        ),
        (
            "unreadable",
            event("d10", "/data/payload/id", json!("zero\0")),
            "_unknown",
        ),
        (
            "unreadable",
            b"{\"data\":\"\xff\xfe\"}".to_vec(),
            "_unknown",
        ),
        ("unreadable", b"".to_vec(), "_unknown"),
        ("unreadable", b"not json".to_vec(), "_unknown"),
    ];
    for (reason, body, _) in &cases {
        assert_eq!(
            call.post(body).await,
            Answer::dead(reason),
            "{}",
            String::from_utf8_lossy(body)
        );
    }
    assert_eq!(all_published(&house).await, [0, 0, 13]);
    until("all are filed", Duration::from_secs(10), async || {
        dead(&house).await == 13
    })
    .await;
    let mut filed = Vec::new();
    for casino in ["_unknown", &mine] {
        let casino = seven_domain::CasinoId::trusted(casino).unwrap();
        let mut tx = house.stack.fleet.store.bind(&casino).await.unwrap();
        for (id, ..) in tx
            .dead_ids(&seven_store::dead::Filter::default())
            .await
            .unwrap()
        {
            let letter = tx.dead_letter(id).await.unwrap().unwrap();
            filed.push((
                letter.reason,
                letter.payload,
                casino.as_str().to_owned(),
                letter.stage,
            ));
        }
        tx.commit().await.unwrap();
    }
    let mut expected: Vec<_> = cases
        .into_iter()
        .map(|(reason, body, casino)| {
            (
                reason.to_owned(),
                body,
                casino.to_owned(),
                seven_domain::Stage::Ingress,
            )
        })
        .collect();
    filed.sort();
    expected.sort();
    assert_eq!(filed, expected, "each raw body is kept byte for byte");
    house.stop().await;
}

#[tokio::test] // SMS-6, SMS-1
async fn what_we_do_not_use_is_ignored_and_what_we_know_is_a_duplicate() {
    let house = house("webhook_ignored", front()).await;
    let call = Caller::of(&house);
    for kind in ["10dlc.brand.update", "message.queued", "MESSAGE.RECEIVED"] {
        let body = json!({"data": {"event_type": kind}}).to_string();
        assert_eq!(
            call.post(body.as_bytes()).await,
            Answer::of(200, json!({"status": "ignored", "event_type": kind}))
        );
    }
    assert_eq!(all_published(&house).await, [0, 0, 0]);
    let body = call.received("known", GUEST, "hello").to_string();
    let alias = call.url.replace("/webhooks/telnyx", "/sms/inbound");
    assert_eq!(
        call.post_signed(&alias, call.now(), body.as_bytes()).await,
        Answer::accepted()
    );
    let duplicate = Answer::of(
        200,
        json!({"status": "duplicate", "message_id": "message-known"}),
    );
    until(
        "the gate is done with it",
        Duration::from_secs(5),
        async || call.post(body.as_bytes()).await == duplicate,
    )
    .await;
    assert_eq!(all_published(&house).await, [1, 0, 0]);
    house.stop().await;
}
