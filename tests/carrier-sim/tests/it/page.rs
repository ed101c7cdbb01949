//! Tests the handset page and the data it reads.

use futures::StreamExt as _;
use serde_json::json;

use crate::double::{CASINO, GUEST, World};

#[tokio::test]
async fn the_page_needs_nothing_from_elsewhere_and_builds_no_html_from_text() {
    let world = World::start().await;
    let response = world
        .http
        .get(format!("{}/", world.sim.url()))
        .send()
        .await
        .unwrap();
    let policy = response.headers()["content-security-policy"]
        .to_str()
        .unwrap()
        .to_owned();
    assert!(
        policy.starts_with("default-src 'none'") && policy.contains("connect-src 'self'"),
        "{policy}"
    );
    let page = response.text().await.unwrap();
    for suggestion in [
        "What restaurants are open tonight?",
        "¿A qué hora abre el spa?",
        "\"STOP\"",
    ] {
        assert!(page.contains(suggestion), "{suggestion}");
    }
    for outside in ["http://", "https://", "src=\"//", "@import", "url("] {
        assert!(
            !page
                .replace("http://www.w3.org/2000/svg", "")
                .contains(outside),
            "{outside}"
        );
    }
    for injection in [
        "innerHTML",
        "insertAdjacentHTML",
        "outerHTML",
        "document.write",
        "eval(",
    ] {
        assert!(!page.contains(injection), "{injection}");
    }
}

#[tokio::test]
async fn config_names_the_casino_and_three_guests() {
    let world = World::start_with(|settings| settings.casino_name = "Test House".to_owned()).await;
    let (_, config) = world.get("/sim/config").await;
    assert_eq!(
        (&config["casino_name"], &config["casino_number"]),
        (&json!("Test House"), &json!(CASINO))
    );
    assert_eq!(config["guests"].as_array().unwrap().len(), 3);
    assert_eq!(config["public_key"], world.sim.public_key_b64());
}

#[tokio::test]
async fn events_stream_entries_with_their_guest() {
    let world = World::start().await;
    let stream = world
        .http
        .get(format!("{}/sim/events", world.sim.url()))
        .send()
        .await
        .unwrap();
    world
        .post("/sim/inbound", &json!({"from": GUEST, "text": "hi"}))
        .await;
    let mut heard = String::new();
    let mut chunks = std::pin::pin!(futures::stream::unfold(stream, |mut stream| async move {
        stream.chunk().await.unwrap().map(|chunk| (chunk, stream))
    }));
    while !heard.contains("\"settled\"") {
        let chunk = tokio::time::timeout(std::time::Duration::from_secs(5), chunks.next())
            .await
            .unwrap()
            .unwrap();
        heard.push_str(std::str::from_utf8(&chunk).unwrap());
    }
    assert_eq!(
        heard.matches("event: entry").count(),
        3,
        "inbound, attempt, settled: {heard}"
    );
    assert_eq!(heard.matches(&format!("\"guest\":\"{GUEST}\"")).count(), 3);
}

#[tokio::test]
async fn the_ledger_can_be_read_for_one_guest() {
    let world = World::start().await;
    for from in [GUEST, "+18605550143"] {
        world
            .post(
                "/sim/inbound?wait=true",
                &json!({"from": from, "text": "hi"}),
            )
            .await;
    }
    world.post("/v2/messages", &world.message("hello")).await;
    let (_, ledger) = world.get("/sim/ledger?guest=%2B18605550143").await;
    assert_eq!(
        (
            ledger["inbound"].as_array().unwrap().len(),
            &ledger["outbound"]
        ),
        (1, &json!([]))
    );
}
