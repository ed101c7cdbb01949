//! Limits on the number and the duration of the calls that one ingress handles at once. Slow
//! callers displace each other, but never a call that arrives promptly.

use seven_settings::Worker;

use super::caller::{Answer, Caller, SIGNATURE, TIMESTAMP};
use crate::{
    harness::{GUEST, House, Wanted, house},
    slow::Slow,
};

const MINE: &str = "127.0.0.1";
const ANOTHERS: &str = "127.0.0.2";

async fn ingress(name: &str, extra: &[&str]) -> House {
    let extra = extra
        .iter()
        .map(|line| format!("ingress.{line}\n"))
        .collect();
    house(
        name,
        Wanted {
            workers: vec![Worker::IngressWebhook],
            extra,
            ..Wanted::default()
        },
    )
    .await
}

/// Connects to the house's ingress from the IP address `from`.
async fn connect(house: &House, from: &str) -> Slow {
    Slow::open(&house.stack.ingress_url, from).await
}

/// Connects, and sends the head of a call with these headers and only the beginning of its body.
async fn begin(house: &House, from: &str, headers: &[(&str, &str)]) -> Slow {
    let headers: String = headers
        .iter()
        .map(|(name, value)| format!("{name}: {value}\r\n"))
        .collect();
    let mut slow = connect(house, from).await;
    slow.say(&format!(
        "POST /webhooks/telnyx HTTP/1.1\r\nhost: us\r\ncontent-length: 100\r\n{headers}\r\nhalf"
    ))
    .await;
    slow
}

/// Headers like a provider's, with a correct time and form but a signature over another body.
struct Unsigned {
    timestamp: String,
    signature: String,
}

impl Unsigned {
    fn of(call: &Caller) -> Self {
        let timestamp = call.now().to_string();
        Self {
            signature: call.sign(&timestamp, b"another body"),
            timestamp,
        }
    }

    fn headers(&self) -> [(&str, &str); 2] {
        [(TIMESTAMP, &self.timestamp), (SIGNATURE, &self.signature)]
    }
}

async fn answers(call: &Caller, n: &str) {
    let text = call
        .received(n, GUEST, "Is the pool open?")
        .to_string()
        .into_bytes();
    assert_eq!(call.post(&text).await, Answer::accepted(), "{n}");
}

#[tokio::test] // DEP-3, SEC-3
async fn who_signs_nothing_is_refused_before_its_body_comes() {
    let house = ingress("webhook_unsigned", &["request_seconds = 600"]).await;
    let call = Caller::of(&house);
    let at = call.now().to_string();
    let old = (call.now() - 301).to_string();
    let signature = call.sign(&at, b"another body");
    for (headers, says) in [
        (&[] as &[(&str, &str)], "Missing signature headers"),
        (&[(TIMESTAMP, &at)], "Missing signature headers"),
        (
            &[(TIMESTAMP, "soon"), (SIGNATURE, &signature)],
            "Invalid timestamp",
        ),
        (
            &[(TIMESTAMP, &old), (SIGNATURE, &signature)],
            "Webhook timestamp expired",
        ),
        (
            &[(TIMESTAMP, &at), (SIGNATURE, "AAAA")],
            "Invalid webhook signature",
        ),
    ] {
        let mut slow = begin(&house, MINE, headers).await;
        let heard = slow.heard().await;
        assert!(heard.contains(says), "{headers:?}: {heard}");
    }
    house.stop().await;
}

#[tokio::test] // DEP-3
async fn a_slow_body_takes_no_place_of_a_call_that_comes_at_once() {
    let house = ingress(
        "webhook_limits",
        &[
            "concurrency = 1",
            "request_seconds = 600",
            "bodies_per_address = 2",
        ],
    )
    .await;
    let call = Caller::of(&house);
    let forged = Unsigned::of(&call);
    let mut first = begin(&house, MINE, &forged.headers()).await;
    answers(&call, "beside").await;
    assert!(
        first.is_waited_for().await,
        "nothing hurries it while nobody else waits"
    );

    // Each address may have two waiting calls; a third one displaces the oldest of them.
    let mut others = Vec::new();
    for from in [ANOTHERS, MINE, ANOTHERS, MINE] {
        let began = begin(&house, from, &forged.headers()).await;
        answers(&call, &format!("{}", others.len())).await;
        others.push(began);
    }
    let heard = first.heard().await;
    assert!(
        heard.starts_with("HTTP/1.1 408") && heard.contains("while others waited"),
        "{heard}"
    );
    for other in &mut others {
        assert!(other.is_waited_for().await);
    }
    house.stop().await;
}

#[tokio::test] // DEP-3
async fn a_body_that_never_comes_is_waited_for_half_a_calls_time() {
    let house = ingress(
        "webhook_too_slow",
        &["request_seconds = 2", "head_seconds = 1"],
    )
    .await;
    let call = Caller::of(&house);
    let mut slow = begin(&house, MINE, &Unsigned::of(&call).headers()).await;
    let heard = slow.heard().await;
    assert!(
        heard.starts_with("HTTP/1.1 408") && heard.contains("not received in time"),
        "{heard}"
    );
    // A call whose head never ends gets no answer, because ingress does not know yet which endpoint
    // is called.
    let mut slow = connect(&house, MINE).await;
    slow.say("POST /webhooks/telnyx HT").await;
    assert_eq!(slow.heard().await, "");
    house.stop().await;
}

#[tokio::test] // DEP-3
async fn connections_without_a_call_displace_each_other() {
    let house = ingress(
        "webhook_idle",
        &[
            "head_seconds = 600",
            "connections_per_address = 2",
            "connections = 6",
            "request_seconds = 600",
        ],
    )
    .await;
    let call = Caller::of(&house);
    let mut first = connect(&house, ANOTHERS).await;
    first.say("POST /webhooks/telnyx HT").await;
    let mut second = connect(&house, ANOTHERS).await;
    let mut mine = connect(&house, MINE).await;
    let _third = connect(&house, ANOTHERS).await;
    assert_eq!(
        first.heard().await,
        "",
        "closed: two of one address may wait"
    );
    assert!(second.is_waited_for().await && mine.is_waited_for().await);

    // When all connections are in use, a new one closes the connection that has waited longest.
    let mut last = Vec::new();
    for n in 3..6 {
        last.push(connect(&house, &format!("127.0.0.{n}")).await);
    }
    answers(&call, "full").await;
    assert_eq!(second.heard().await, "");
    house.stop().await;
}

#[tokio::test] // DEP-3
async fn a_trusted_proxy_has_no_limit_and_names_its_callers() {
    let house = ingress(
        "webhook_proxy",
        &[
            "head_seconds = 600",
            "request_seconds = 600",
            "connections_per_address = 1",
            "bodies_per_address = 1",
            r#"trusted_proxies = ["127.0.0.2/32"]"#,
        ],
    )
    .await;
    let call = Caller::of(&house);
    let forged = Unsigned::of(&call);
    let [timestamp, signature] = forged.headers();
    let mut of = Vec::new();
    for client in ["192.0.2.1", "192.0.2.2", "192.0.2.1"] {
        let named = [timestamp, signature, ("x-forwarded-for", client)];
        of.push(begin(&house, ANOTHERS, &named).await);
    }
    let heard = of[0].heard().await;
    assert!(heard.contains("while others waited"), "{heard}");
    assert!(of[1].is_waited_for().await && of[2].is_waited_for().await);
    // The trusted proxy may keep several idle connections; any other address may keep one.
    let mut idle = [
        connect(&house, ANOTHERS).await,
        connect(&house, ANOTHERS).await,
    ];
    let mut stranger = connect(&house, MINE).await;
    let _next = connect(&house, MINE).await;
    assert_eq!(stranger.heard().await, "");
    for idle in &mut idle {
        assert!(idle.is_waited_for().await);
    }
    house.stop().await;
}
