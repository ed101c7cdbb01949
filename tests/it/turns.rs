//! What a turn leaves behind: who spoke, from which rows, and what the checks found (AGENT-7, AGENT-9, AGENT-12, AGENT-75, DATA-23, DATA-36).

use seven_host::Record;

use crate::harness::{GUEST, House, Wanted, house};

async fn last(house: &House) -> (String, Record) {
    let mut tx = house.stack.fleet.store.bind(house.casino()).await.unwrap();
    let newest = tx.newest_turns(1).await.unwrap();
    let told = tx.told_turn(newest[0].turn_id).await.unwrap().unwrap();
    tx.commit().await.unwrap();
    assert_eq!(told.texts.as_array().unwrap().len(), 1);
    assert!(["sent", "delivered"].contains(&told.sent[0]["state"].as_str().unwrap()));
    (told.agent, serde_json::from_value(told.record).unwrap())
}

#[tokio::test]
async fn each_domain_has_its_agent_and_every_reply_its_reasons() {
    let house = house("turns_agents", Wanted::default()).await;
    for (sent, (text, agent, path)) in (1..).zip([
        ("What time does the Lakeside Pool open?", "host", "router planner host validator reply"),
        ("Which restaurants do you have?", "dining", "router planner dining validator reply"),
        ("Tell me about the massage", "entertainment", "router planner entertainment validator reply"),
        ("Any promotions right now?", "comp", "router planner comp validator reply"),
        ("hello", "host", "router greeting"),
    ]) {
        house.text(GUEST, text);
        house.settle(sent).await;
        let (spoke, record) = last(&house).await;
        assert_eq!((spoke.as_str(), record.path.join(" ").as_str()), (agent, path), "{text}");
        assert_eq!(record.findings, vec![], "{text}");
        assert!(!record.degraded && record.steps.len() == 1);
        assert_eq!(record.context.is_empty(), path.ends_with("greeting"), "{text}");
    }
    house.stop().await;
}
