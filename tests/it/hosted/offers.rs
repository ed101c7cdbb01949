//! An offer is made once, whatever happens to the worker that makes it (CONV-35, CONV-36, D4).

use std::time::Duration;

use serde_json::json;
use seven_settings::Worker;
use seven_testkit::models::{Models, Play};

use super::{brain, calls, content_with_all, counts, node, wanted};
use crate::harness::{GUEST, House, Wanted, counted, house};

const ASKS: &str = "do you have any dining offers for the four of us?";
const TOLD: &str = "Yes: a Starter Plate, $10 off your first dinner at any restaurant.";
const TALK: [&str; 3] = [
    "Hi there, my name is Ana Lima and we are four people",
    "We are coming next Saturday for our anniversary",
    "We love italian food and I am allergic to peanuts",
];

/// Returns the demo casino and its content. The content has one more offer, whose value is small
/// enough for a guest about whom we know little.
fn casino() -> (String, String) {
    let mut content: serde_json::Value = serde_json::from_str(seven_packs::demo::CONTENT).unwrap();
    content["items"].as_array_mut().unwrap().push(json!({
        "id": "promotions_100", "category": "promotions", "name": "Starter Plate",
        "name_es": "Plato de bienvenida", "subcategory": "dining_credit",
        "description": "$10 off your first dinner at any restaurant.",
        "description_es": "$10 menos en su primera cena en cualquier restaurante.",
        "details": {
            "promo_type": "Dining credit", "value": 10, "valid_from": "today",
            "valid_until": "in 30 days",
            "eligibility": "Any guest", "redemption_method": "At host"
        },
        "active": true, "keywords": ["dinner", "starter"]
    }));
    (seven_packs::demo::CASINO.to_owned(), content.to_string())
}

/// Starts a model that makes the offer when the guest asks for dining offers, and then tells the
/// guest about it.
async fn generous() -> Models {
    let models = brain("comp").await;
    content_with_all(&models);
    let asked = |request: &seven_testkit::models::Received| {
        node(request) == "speak" && request.last_text.contains("dining offers")
    };
    models.when(
        move |r| asked(r) && !r.tool_results.is_empty(),
        Play::text(TOLD),
    );
    models.when(
        asked,
        Play::call("create_offer", json!({"item": "promotions_100"})),
    );
    models.otherwise(Play::text("Thank you, I will remember that."));
    models
}

/// Starts a house whose guest has talked to us, and kills the swarm that answered.
async fn acquainted(unique: &str, models: &Models) -> House {
    let workers = Worker::ALL
        .into_iter()
        .filter(|worker| *worker != Worker::AgentSwarm)
        .collect();
    let house = house(
        unique,
        Wanted {
            workers,
            casino: Some(casino()),
            ..wanted(models)
        },
    )
    .await;
    let mut swarm = house.process("agent-swarm", None);
    for (sent, text) in (1..).zip(TALK) {
        house.text(GUEST, text);
        house.settle(sent).await;
    }
    swarm.kill().await.unwrap();
    house
}

#[tokio::test]
async fn a_worker_killed_after_create_offer_leaves_one_offer_and_one_answer() {
    let models = generous().await;
    let house = acquainted("hosted_offer", &models).await;
    let before = house.texts_to(GUEST).len();
    let mut known = calls(&models);
    // The model answers four times: route, plan, tool call, and the reply that uses the tool's
    // result. The worker dies after the fourth answer.
    let mut doomed = house.process("agent-swarm", Some("swarm.after_model:4"));
    house.text(GUEST, ASKS);
    let died = tokio::time::timeout(Duration::from_secs(20), doomed.wait()).await;
    assert!(
        !died
            .expect("the failpoint was never reached")
            .unwrap()
            .success()
    );
    assert_eq!(
        house.number("select count(*) from offers").await,
        0,
        "staged until the turn stands"
    );
    let _heir = house.process("agent-swarm", None);
    house.settle_within(4, Duration::from_secs(45)).await;
    let texts = house.texts_to(GUEST);
    assert_eq!(
        (texts.len(), texts.last().map(String::as_str)),
        (before + 1, Some(TOLD)),
        "{texts:?}"
    );
    assert_eq!(
        house
            .number(
                "select count(*) from offers where item = 'promotions_100' and status = 'issued'"
            )
            .await,
        1
    );
    assert_eq!(
        house
            .number("select count(*) from audit_log where action = 'comp_tool_call'")
            .await,
        1
    );
    for (node, more) in counts([("route", 1), ("plan", 1), ("speak", 2), ("judge", 1)]) {
        *known.entry(node).or_default() += more;
    }
    assert_eq!(
        calls(&models),
        known,
        "no answer that was kept is asked for again"
    );
    house.stop().await;
}

#[tokio::test] // CONV-36: the pack's words decide what rejects an offer
async fn a_no_to_an_offer_starts_the_wait_before_the_next() {
    let models = generous().await;
    let house = acquainted("hosted_declined", &models).await;
    let _swarm = house.process("agent-swarm", None);
    house.text(GUEST, ASKS);
    house.settle(4).await;
    house.text(GUEST, "no thanks");
    house.settle(5).await;
    let waits = async |texts: i32| {
        let query = format!(
            "select count(*) from sessions where (counts->>'texts_since_rejection')::int = {texts}"
        );
        house.number(&query).await
    };
    assert_eq!(waits(0).await, 1);
    house.text(GUEST, "Is the pool open?");
    house.settle(6).await;
    assert_eq!(waits(1).await, 1);
    house.stop().await;
}

#[tokio::test] // CONV-36: one offer a day, whoever asks
async fn a_second_offer_on_the_same_day_is_refused_and_none_is_promised() {
    let models = generous().await;
    let mut house = acquainted("hosted_second", &models).await;
    let swarm = house.stack.spawn(Worker::AgentSwarm, None).await;
    swarm.unwrap();
    house.text(GUEST, ASKS);
    house.settle(4).await;
    house.text(GUEST, ASKS);
    house.settle(5).await;
    assert_eq!(
        house.number("select count(*) from offers").await,
        1,
        "the same offer again, not another one"
    );
    let issued = "seven_offers_total{casino=\"silver_birch\",event=\"issued\"}";
    assert!(counted(issued) >= 1.0); // OBS-27
    house.stop().await;
}

// SEC-45, SEC-47: a reply that mentions an offer without a matching promotion is sent. An audit
// entry flags the reply for a person.
#[tokio::test]
async fn an_offer_in_words_that_nothing_proves_is_flagged() {
    let models = brain("comp").await;
    content_with_all(&models);
    models.then(Play::text(
        "Members sometimes get a free breakfast with their stay.",
    ));
    let house = house("hosted_flagged", wanted(&models)).await;
    house.text(GUEST, "anything nice for members?");
    house.settle(1).await;
    assert!(house.said_to(GUEST).contains("free breakfast"));
    assert_eq!(
        house
            .number("select count(*) from audit_log where action = 'offer_flagged'")
            .await,
        1
    );
    house.stop().await;
}
