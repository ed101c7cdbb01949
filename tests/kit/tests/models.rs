//! Tests that the models' double refuses what the real providers refuse. A client that works with
//! the double can then work with the providers.
#![expect(clippy::unwrap_used, reason = "a test that fails says where")]

use serde_json::{Value, json};
use seven_testkit::models::{Models, Play};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

const FLASH: &str = "/v1beta/models/gemini-2.5-flash:generateContent";
const CHAT: &str = "/v1/chat/completions";

/// Posts over plain TCP, because this crate has no HTTP client. Returns the status and the whole
/// response.
async fn post(models: &Models, path: &str, body: &Value) -> (u16, String) {
    let address = models.url().replace("http://", "").replace('/', "");
    let mut stream = TcpStream::connect(&address).await.unwrap();
    let body = body.to_string();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: {address}\r\nx-goog-api-key: k\r\nconnection: close\r\n"
    );
    stream
        .write_all(format!("{head}content-length: {}\r\n\r\n{body}", body.len()).as_bytes())
        .await
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    let status = answer
        .get(9..12)
        .and_then(|status| status.parse().ok())
        .unwrap_or_default();
    (status, answer)
}

fn said(text: &str) -> Value {
    json!({ "contents": [{ "role": "user", "parts": [{ "text": text }] }] })
}

#[tokio::test]
async fn matchers_come_before_the_queue_and_the_queue_before_the_rest() {
    let models = Models::start().await.unwrap();
    models.when(
        |request| request.last_text.contains("spa"),
        Play::text("matched"),
    );
    models.then(Play::text("first"));
    models.then(Play::text("second"));
    for (asked, expected) in [
        ("spa?", "matched"),
        ("a", "first"),
        ("spa?", "matched"),
        ("b", "second"),
    ] {
        assert!(
            post(&models, FLASH, &said(asked))
                .await
                .1
                .contains(expected)
        );
    }
    assert_eq!(
        post(&models, FLASH, &said("c")).await.0,
        500,
        "nothing is left"
    );
    models.otherwise(Play::text("for ever"));
    assert!(
        post(&models, FLASH, &said("d"))
            .await
            .1
            .contains("for ever")
    );
    assert_eq!((models.count(), models.most_at_once()), (6, 1));
    assert_eq!(post(&models, "/elsewhere", &said("e")).await.0, 404);
}

#[tokio::test]
async fn what_the_real_ones_refuse_is_refused() {
    let models = Models::start().await.unwrap();
    models.otherwise(Play::text("hello"));
    let mut tools_and_json = said("x");
    tools_and_json["tools"] =
        json!([{ "functionDeclarations": [{ "name": "t", "description": "d" }] }]);
    tools_and_json["generationConfig"] = json!({ "responseMimeType": "application/json" });
    let unsigned =
        json!({ "role": "model", "parts": [{ "functionCall": { "name": "t", "args": {} } }] });
    let lone_result = json!({ "role": "tool", "tool_call_id": "c", "content": "x" });
    let unanswered = json!({ "role": "assistant", "content": null, "tool_calls": [{ "id": "c" }] });
    for (path, body) in [
        (FLASH, json!({ "contents": [] })),
        (
            FLASH,
            json!({ "contents": [{ "role": "system", "parts": [] }] }),
        ),
        (FLASH, json!({ "contents": [unsigned] })),
        (FLASH, json!({ "messages": [] })),
        (FLASH, tools_and_json.clone()),
        (CHAT, json!({ "model": "m", "messages": [] })),
        (CHAT, json!({ "model": "m", "messages": [lone_result] })),
        (CHAT, json!({ "model": "m", "messages": [unanswered] })),
    ] {
        assert_eq!(post(&models, path, &body).await.0, 400, "{body}");
    }
    assert_eq!(
        post(
            &models,
            "/v1beta/models/gemini-3-flash:generateContent",
            &tools_and_json
        )
        .await
        .0,
        200
    );
}

#[tokio::test]
async fn faults_are_what_they_say() {
    let models = Models::start().await.unwrap();
    models.then(Play::text("hello").cut());
    models.then(Play::text("hello there").cut_body());
    models.then(Play::text("hello there").truncated());
    models.then(Play::status(429).retry_after("3"));
    assert_eq!(post(&models, FLASH, &said("a")).await.1, "");
    let (_, half) = post(&models, FLASH, &said("b")).await;
    assert!(
        half.starts_with("HTTP/1.1 200") && !half.contains("responseId"),
        "{half}"
    );
    let (status, short) = post(&models, FLASH, &said("c")).await;
    assert!(status == 200 && !short.ends_with('}'), "{short}");
    let (status, busy) = post(&models, FLASH, &said("d")).await;
    assert!(
        status == 429 && busy.to_lowercase().contains("retry-after: 3"),
        "{busy}"
    );
}
