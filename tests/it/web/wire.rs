//! Tests a gateway's connections: the bytes of a stream between answers, the rights of a page of
//! another origin, and the time for which the gateway waits for a slow caller.

use std::time::Duration;

use reqwest::{Client, Method, StatusCode, header::HeaderMap};
use serde_json::json;
use uuid::Uuid;

use super::{
    gateways,
    visitor::{PAGE, Visitor, init, with_gateways},
};
use crate::slow::Slow;

const MINE: &str = "127.0.0.1";
const ANOTHERS: &str = "127.0.0.2";
const EVIL: &str = "https://evil.example";

fn of<'a>(headers: &'a HeaderMap, name: &str) -> &'a str {
    headers
        .get(name)
        .map_or("", |value| value.to_str().unwrap())
}

#[tokio::test] // WEB-2, D33, D34
async fn a_stream_says_when_to_come_back_that_it_lives_and_that_it_ends() {
    let house = with_gateways("web_wire", "").await;
    let [first, second] = gateways(&house);
    let visitor = Visitor::new(first).await;
    let mut stream = visitor.listen(first, None).await;
    let mut other = Visitor::new(second).await.listen(second, None).await;
    stream.until_bytes("\n\n").await;
    assert!(stream.bytes().starts_with("retry: 2000\n\n"));
    stream.until_bytes(": \n\n").await;
    let (_, frames, _) = tokio::join!(house.stop(), stream.until("bye"), other.until("bye"));
    assert_eq!(frames.len(), 1, "nobody asked: {frames:?}");
}

#[tokio::test] // WEB-4, WEB-9, WEB-62, WID-1
async fn the_casinos_pages_may_frame_the_chat_and_ask_and_no_other_page() {
    let house = with_gateways("web_framed", "").await;
    let [gateway, _] = gateways(&house);
    let client = Client::new();
    let get = async |path: &str| client.get(format!("{gateway}{path}")).send().await.unwrap();
    let embed = get("/embed").await;
    let policy = of(embed.headers(), "content-security-policy").to_owned();
    assert!(
        policy.ends_with(&format!("frame-ancestors {PAGE}")),
        "{policy}"
    );
    assert!(policy.contains("script-src 'self'"), "{policy}");
    assert!(!embed.headers().contains_key("x-frame-options"));
    let chat = embed.text().await.unwrap();
    let page = get("/").await;
    let policy = of(page.headers(), "content-security-policy");
    assert!(policy.ends_with("frame-ancestors 'none'"), "{policy}");
    assert_eq!(of(page.headers(), "x-frame-options"), "DENY");
    let page = page.text().await.unwrap();
    assert!(page.contains("<seven-chat") && chat.contains("<seven-chat"));
    assert!(page.contains("<h1") && !chat.contains("<h1"), "{chat}");

    // A browser's preflight request names no casino, so every origin passes it. The call that
    // follows names a casino and is allowed only to that casino's pages.
    for origin in [PAGE, EVIL] {
        let asked = client
            .request(Method::OPTIONS, format!("{gateway}/api/v1/chat/stream"))
            .header("origin", origin)
            .header("access-control-request-method", "POST")
            .header(
                "access-control-request-headers",
                "authorization,content-type",
            )
            .send()
            .await
            .unwrap();
        assert_eq!(asked.status(), StatusCode::NO_CONTENT);
        let headers = asked.headers();
        assert_eq!(of(headers, "access-control-allow-origin"), origin);
        for name in ["authorization", "content-type", "last-event-id"] {
            let allowed = of(headers, "access-control-allow-headers");
            assert!(allowed.contains(name), "{name}: {allowed}");
        }
        assert!(of(headers, "access-control-allow-methods").contains("POST"));
        assert!(!headers.contains_key("access-control-allow-credentials"));
        assert!(of(headers, "vary").contains("Origin"));
    }
    let begun = init(&client, gateway, Some(EVIL), "silver_birch").await;
    assert_eq!(begun.status(), StatusCode::FORBIDDEN);
    // The page of another origin may read why its call was refused.
    assert_eq!(of(begun.headers(), "access-control-allow-origin"), EVIL);
    house.stop().await;
}

#[tokio::test] // WEB-6, WEB-7, T-10
async fn a_caller_who_drips_is_cut() {
    let extra = "web.request_seconds = 2\nweb.head_seconds = 1\n";
    let house = with_gateways("web_slow", extra).await;
    let [first, _] = gateways(&house);
    let pause = Duration::from_millis(250);
    // Bytes that arrive now and then do not extend the time limit of a call's body or head.
    let body = json!({ "message": "x".repeat(200) }).to_string();
    let mut slow = Slow::open(first, MINE).await;
    let length = body.len();
    slow.say(&format!(
        "POST /chat HTTP/1.1\r\nhost: us\r\ncontent-length: {length}\r\n\r\n"
    ))
    .await;
    let heard = slow.drip(&body, pause).await;
    assert!(heard.starts_with("HTTP/1.1 408"), "{heard}");
    let mut slow = Slow::open(first, MINE).await;
    let head = format!("GET /health HTTP/1.1\r\nx: {}\r\n", "x".repeat(200));
    assert_eq!(slow.drip(&head, pause).await, "");
    // A call whose head has more than 16 KiB is refused at once.
    let mut long = Slow::open(first, MINE).await;
    let head = format!(
        "GET /health HTTP/1.1\r\nx: {}\r\n\r\n",
        "x".repeat(17 * 1024)
    );
    long.say(&head).await;
    assert!(long.heard().await.starts_with("HTTP/1.1 431"));
    house.stop().await;
}

#[tokio::test] // WEB-6, WEB-7
async fn connections_that_idle_make_room_for_each_other_and_streams_stay() {
    // The time limit for a call's head is longer than the test runs. A connection is therefore
    // closed only to make room for another one.
    let extra = "web.head_seconds = 600\nweb.connections_per_address = 2\n";
    let house = with_gateways("web_idle", extra).await;
    let [first, second] = gateways(&house);
    let visitor = Visitor::new(first).await;
    let mut streams = Vec::new();
    for _ in 0..3 {
        streams.push(visitor.listen(second, None).await);
    }
    let mut oldest = Slow::open(second, ANOTHERS).await;
    oldest.say("GET /health HT").await;
    let _others = [
        Slow::open(second, ANOTHERS).await,
        Slow::open(second, ANOTHERS).await,
    ];
    assert_eq!(oldest.heard().await, "");
    let said = visitor.say(first, "Is there a steakhouse?", Uuid::new_v4());
    assert_eq!(said.send().await.unwrap().status(), StatusCode::ACCEPTED);
    for stream in &mut streams {
        stream.until("end").await;
    }
    house.stop().await;
}
