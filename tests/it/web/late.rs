//! Visitors' messages that reach the gate more than a minute late. The sender delivers their
//! answers, because only the sender opens a case when a cry for help is answered late (D33).

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use chrono::{TimeDelta, Utc};
use seven_bus::events::InboundText;
use seven_domain::{Address, WEB};
use uuid::Uuid;

use super::visitor::{Visitor, with_gateways_at};
use crate::{harness::House, late::publish};

/// Publishes a visitor's message as if a gateway had received it `age` ago.
async fn said_ago(house: &House, visitor: Uuid, message: &str, age: TimeDelta) {
    let (key, at) = (Uuid::new_v4().to_string(), Utc::now() - age);
    let event = InboundText {
        provider: WEB.to_owned(),
        provider_message_id: key.clone(),
        event_id: key,
        from: Address::Visitor(visitor).text(),
        to: String::new(),
        media_count: 0,
        autoresponse: String::new(),
        occurred_at: at.timestamp_millis(),
        received_at: at.timestamp_millis(),
        channel: WEB.to_owned(),
        text: message.to_owned(),
    };
    publish(house, &event).await;
}

fn id_of(visitor: &Visitor) -> Uuid {
    let claims = visitor.token.split('.').nth(1).unwrap();
    let claims: serde_json::Value =
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(claims).unwrap()).unwrap();
    let subject = claims["sub"].as_str().unwrap();
    subject[subject.len() - 36..].parse().unwrap()
}

#[tokio::test] // D33
async fn answers_to_messages_older_than_a_minute_come_from_the_sender_once() {
    let house = with_gateways_at("web_late", "", 1.0).await;
    let gateway = house.stack.web_urls[0].clone();
    let visitor = Visitor::new(&gateway).await;
    let id = id_of(&visitor);
    let by = async |actor: &str| {
        let query = "select count(*) from audit_log where action = 'web_outbound' and actor = ";
        house.number(&format!("{query}'{actor}'")).await
    };
    for (nth, (message, age, wanted)) in [
        ("Is there a steakhouse?", TimeDelta::seconds(1), "steak"),
        ("When does the pool open?", TimeDelta::minutes(3), "pool"),
        ("I want to kill myself", TimeDelta::minutes(10), "988"),
    ]
    .into_iter()
    .enumerate()
    {
        said_ago(&house, id, message, age).await;
        house.settle(nth as i64 + 1).await;
        let history = visitor.history(&gateway).await;
        let said = history["messages"].as_array().unwrap();
        let last = said.last().unwrap()["content"].as_str().unwrap();
        assert!(last.to_lowercase().contains(wanted), "{message}: {history}");
        assert_eq!(said.len(), 2 * (nth + 1), "{history}");
    }
    assert_eq!(
        (
            by("persona-envelope").await,
            by("compliance-gate").await,
            by("outbound-sender").await
        ),
        (1, 0, 2)
    );
    let cases =
        "select count(*) from escalations where reason = 'help_came_late' and severity = 'sev1'";
    assert_eq!(house.number(cases).await, 1);
    house.stop().await;
}
