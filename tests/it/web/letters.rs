//! If a stage cannot handle a visitor's message, the message is filed as a dead letter that names
//! the channel. A replay answers the message once.

use std::time::Duration;

use prost::Message;
use seven::commands::dead;
use seven_bus::{
    events::{DeadLetter, InboundText},
    subject,
};
use seven_domain::{Address, Channel, Stage};
use seven_store::dead::{Filter, Listed};
use uuid::Uuid;

use super::{
    private::visitor_of,
    visitor::{Visitor, with_gateways},
};
use crate::harness::{House, until};

const MANY: &str = "web.requests_per_minute = 10000\n";

/// Files a visitor's question as a dead letter of the gate, and returns the letter's row.
async fn file(house: &House, visitor: Uuid, question: &str) -> Listed {
    let fleet = &house.stack.fleet;
    let now = fleet.clock.now().timestamp_millis();
    let key = Uuid::new_v4().to_string();
    let event = InboundText {
        provider: "web".into(),
        provider_message_id: key.clone(),
        event_id: key.clone(),
        from: Address::Visitor(visitor).text(),
        text: question.into(),
        occurred_at: now,
        received_at: now,
        channel: "web".into(),
        ..InboundText::default()
    };
    let letter = DeadLetter {
        stage: Stage::Gate.as_str().into(),
        casino: house.casino().as_str().into(),
        reason: "failed".into(),
        error: "a test made it".into(),
        attempts: 5,
        subject: subject(Stage::Gate, house.casino(), None),
        message_key: key,
        payload: event.encode_to_vec().into(),
        ..DeadLetter::default()
    };
    fleet
        .bus
        .dead_letter(Stage::Gate, house.casino(), &letter, "")
        .await
        .unwrap();
    until("the letter is filed", Duration::from_secs(30), || async {
        house.count("dead", "open").await == 1
    })
    .await;
    let mut tx = fleet.store.bind(house.casino()).await.unwrap();
    let mut letters = tx.dead_letters(&Filter::default(), None, 10).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(letters.len(), 1, "{letters:?}");
    letters.remove(0)
}

#[tokio::test] // WEB-65, D17
async fn a_visitors_dead_letter_shows_its_channel_and_a_replay_answers_it_once() {
    let house = with_gateways("web_letter", MANY).await;
    let gateway = house.stack.web_urls[0].clone();
    let visitor = Visitor::new(&gateway).await;
    let letter = file(&house, visitor_of(&visitor), "Is there a steakhouse?").await;
    assert_eq!(letter.channel, Some(Channel::Web));
    assert!(letter.guest_hash.is_some(), "{letter:?}");
    let listed = house.seven(&["dead", "list"], "").await.out;
    assert!(listed.contains("web"), "{listed}");

    let answers = || async { house.number("select count(*) from outbound_messages").await };
    let fleet = &house.stack.fleet;
    for _ in 0..2 {
        dead::replay(fleet, house.casino(), letter.dead_id.into())
            .await
            .unwrap();
        until("it is answered", Duration::from_secs(60), || async {
            answers().await == 1 && house.count("inbound", "answered").await == 1
        })
        .await;
    }
    let said = visitor.history(&gateway).await["messages"].to_string();
    assert!(said.contains("steakhouse"), "{said}");
    house.settle(1).await;
    assert_eq!(answers().await, 1);
    house.stop().await;
}
