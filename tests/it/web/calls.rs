//! The gateway's endpoints outside a conversation, the API key that programs need, and the limits
//! on what visitors may cost in hosted models.

use std::io::Write;

use flate2::{Compression, write::GzEncoder};
use reqwest::{Client, StatusCode};
use serde_json::{Value, json};
use seven_settings::Worker;
use seven_testkit::models::Play;
use uuid::Uuid;

use super::visitor::{Visitor, birch};
use crate::{
    harness::{House, Wanted, house},
    hosted::{ANSWER, QUESTION, brain, content_with_all, settings},
};

/// Maximum size of the widget's file in bytes, packed with gzip.
const MOST_SCRIPT_BYTES: usize = 12 * 1024;
const MANY: &str = "web.requests_per_minute = 10000\n";

async fn with(name: &str, extra: String) -> (House, String) {
    let mut house = house(
        name,
        Wanted {
            extra,
            ..Wanted::default()
        },
    )
    .await;
    birch(&mut house).await;
    house.stack.spawn(Worker::WebGateway, None).await.unwrap();
    let gateway = house.stack.web_urls[0].clone();
    (house, gateway)
}

async fn json_of(call: reqwest::RequestBuilder) -> (StatusCode, Value) {
    let answer = call.send().await.unwrap();
    (answer.status(), answer.json().await.unwrap())
}

#[tokio::test] // WEB-5, WEB-60, WEB-61
async fn programs_need_the_key_and_anyone_may_ask_for_health_and_property() {
    let extra =
        format!("{MANY}web.casino = \"silver_birch\"\nweb.api_key = \"a key of programs\"\n");
    let (house, gateway) = with("web_calls", extra).await;
    let http = Client::new();
    let chat = || {
        let call = http
            .post(format!("{gateway}/chat"))
            .json(&json!({ "message": "hi" }));
        call.header("accept", "application/json")
    };
    for key in [None, Some("a key"), Some("a key of programs!")] {
        let call = match key {
            Some(key) => chat().header("x-api-key", key),
            None => chat(),
        };
        let (status, problem) = json_of(call).await;
        assert_eq!(status, StatusCode::UNAUTHORIZED, "{key:?}: {problem}");
    }
    let (status, answer) = json_of(chat().header("x-api-key", "a key of programs")).await;
    assert_eq!(
        (status, &answer["complete"]),
        (StatusCode::OK, &json!(true))
    );

    let (status, health) = json_of(http.get(format!("{gateway}/health"))).await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!(
        (
            &health["status"],
            &health["agent_ready"],
            &health["property_loaded"]
        ),
        (&json!("healthy"), &json!(true), &json!(true))
    );
    let (status, property) = json_of(http.get(format!("{gateway}/property"))).await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!(
        property["name"],
        json!(house.config.prompts.casino_name_display)
    );
    let rows = "select count(*) from content_items where active";
    assert_eq!(property["document_count"], json!(house.number(rows).await));
    assert!(
        property["categories"]
            .as_array()
            .unwrap()
            .contains(&json!("dining"))
    );
    let script = http.get(format!("{gateway}/w.js")).send().await.unwrap();
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    packed.write_all(&script.bytes().await.unwrap()).unwrap();
    let packed = packed.finish().unwrap().len();
    assert!((1_000..=MOST_SCRIPT_BYTES).contains(&packed), "{packed}");
    let (status, _) = json_of(http.get(format!("{gateway}/property?casino=nowhere"))).await;
    assert_eq!(status, StatusCode::NOT_FOUND);

    house.nats.kill().unwrap();
    crate::harness::until(
        "health degrades",
        std::time::Duration::from_secs(60),
        || async {
            let (status, health) = json_of(http.get(format!("{gateway}/health"))).await;
            status == StatusCode::SERVICE_UNAVAILABLE && health["status"] == "degraded"
        },
    )
    .await;
    house.nats.restart().await.unwrap();
    house.stop().await;
}

#[tokio::test] // issue L.6
async fn a_visitor_who_has_cost_enough_is_answered_by_the_offline_host() {
    let models = brain("host").await;
    content_with_all(&models);
    models.then(Play::text(ANSWER).tokens(1_000, 100));
    let limits = "cost.web_visitor = \"0.0005\"\n";
    let (house, gateway) = with(
        "web_spending",
        format!("{MANY}{limits}{}", settings(&models)),
    )
    .await;
    let visitor = Visitor::new(&gateway).await;
    let asked = async |visitor: &Visitor| {
        let stream = visitor.ask(&gateway, QUESTION, Uuid::new_v4()).await;
        stream.all().await;
        models.requests().len()
    };
    let first = asked(&visitor).await;
    assert!(first > 0, "the hosted model answers first");
    assert_eq!(asked(&visitor).await, first, "then nothing is spent");
    let stood_in = house
        .texts_of("select coalesce(record->>'stood_in', '-') from turns order by created_at")
        .await;
    assert_eq!(stood_in, ["-", "spending_limit"]);
    models.then(Play::text(ANSWER).tokens(1_000, 100));
    let other = Visitor::new(&gateway).await;
    assert!(
        asked(&other).await > first,
        "another visitor has a limit of their own"
    );
    house.stop().await;
}

#[tokio::test] // issue L.6: the casino's part of the cap
async fn visitors_who_together_cost_enough_are_answered_by_the_offline_host() {
    let models = brain("host").await;
    content_with_all(&models);
    models.otherwise(Play::text(ANSWER).tokens(1_000, 100));
    let limits = "cost.web_casino = \"0.0005\"\n";
    let extra = format!("{MANY}{limits}{}", settings(&models));
    let (house, gateway) = with("web_spending_all", extra).await;
    let asked = async |visitor: Visitor| {
        let stream = visitor.ask(&gateway, QUESTION, Uuid::new_v4()).await;
        stream.all().await;
        models.requests().len()
    };
    let first = asked(Visitor::new(&gateway).await).await;
    assert!(first > 0, "the hosted model answers first");
    let second = asked(Visitor::new(&gateway).await).await;
    assert_eq!(second, first, "then nothing is spent for anybody");
    house.stop().await;
}

#[tokio::test] // WID-5
async fn an_echo_gives_each_visitor_their_own_words() {
    let extra = format!("{MANY}model.provider = \"echo\"\n");
    let (house, gateway) = with("web_echo", extra).await;
    let visitor = Visitor::new(&gateway).await;
    let words = "tell me about this trial of ours";
    let stream = visitor.ask(&gateway, words, Uuid::new_v4()).await;
    let shown = format!("{:?}", stream.all().await);
    assert!(shown.contains(words), "{shown}");
    house.stop().await;
}
