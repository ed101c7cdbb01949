//! Tests each fault as a sender meets it.

use std::{error::Error, time::Duration};

use serde_json::{Value, json};

use crate::double::{GUEST, World};

const SHORT: Duration = Duration::from_millis(100);
const LONG: Duration = Duration::from_secs(5);

/// Starts a world in which only the first send gets the fault.
async fn world_with(fault: Value) -> World {
    let world = World::start().await;
    let (status, rules) = world
        .rules(json!([{"match": {"to": GUEST}, "fault": fault, "times": 1}]))
        .await;
    assert_eq!((status, &rules["rules"][0]["fault"]), (200, &fault));
    world
}

async fn refused_with(fault: Value) -> (World, reqwest::Response) {
    let world = world_with(fault).await;
    let response = world.try_send("hi", LONG).await.unwrap();
    let (_, ledger) = world.get("/sim/ledger").await;
    assert_eq!(ledger["outbound"], json!([]), "not accepted");
    assert_eq!(
        ledger["refused"][0]["http_status"],
        response.status().as_u16()
    );
    assert_eq!(
        world.try_send("hi", LONG).await.unwrap().status(),
        200,
        "the rule struck once"
    );
    (world, response)
}

fn root_cause(error: &dyn Error) -> String {
    error.source().map_or_else(|| error.to_string(), root_cause)
}

#[tokio::test]
async fn too_many_requests() {
    let (_world, response) = refused_with(json!("429")).await;
    assert_eq!(response.status(), 429);
    assert_eq!(response.headers()["x-ratelimit-reset"], "1");
    assert_eq!(
        response.json::<Value>().await.unwrap()["errors"][0]["code"],
        "10011"
    );
}

#[tokio::test]
async fn server_error_before() {
    assert_eq!(refused_with(json!("500_before")).await.1.status(), 500);
}

#[tokio::test]
async fn an_error_code_comes_with_its_status() {
    for (code, status) in [
        ("40008", 400),
        ("10009", 401),
        ("40333", 429),
        ("20100", 403),
        ("10037", 503),
    ] {
        let (_world, response) = refused_with(json!({"error": code})).await;
        assert_eq!(response.status(), status, "{code}");
        assert_eq!(
            response.json::<Value>().await.unwrap()["errors"][0]["code"],
            code
        );
    }
}

#[tokio::test]
async fn server_error_after_is_delivered_all_the_same() {
    let world = world_with(json!("500_after")).await;
    assert_eq!(world.try_send("hi", LONG).await.unwrap().status(), 500);
    let calls = world.fleet.await_calls(2).await;
    assert_eq!(
        calls[1].body["data"]["payload"]["to"][0]["status"],
        "delivered"
    );
    let (_, ledger) = world.get("/sim/ledger").await;
    assert_eq!(ledger["outbound"][0]["faults"], json!(["500_after"]));
}

#[tokio::test]
async fn timeouts_differ_in_what_became_of_the_message() {
    for (fault, accepted) in [("timeout_before", 0), ("timeout_after", 1)] {
        let world = world_with(json!(fault)).await;
        assert!(
            world.try_send("hi", SHORT).await.unwrap_err().is_timeout(),
            "{fault}"
        );
        if accepted == 1 {
            world.fleet.await_calls(2).await;
        }
        let (_, ledger) = world.get("/sim/ledger").await;
        assert_eq!(
            ledger["outbound"].as_array().unwrap().len(),
            accepted,
            "{fault}"
        );
        assert_eq!(
            ledger["refused"].as_array().unwrap().len(),
            1 - accepted,
            "{fault}"
        );
    }
}

#[tokio::test]
async fn a_reset_connection_is_a_tcp_reset() {
    for (fault, accepted) in [("connection_reset", 0), ("connection_reset_after", 1)] {
        let world = world_with(json!(fault)).await;
        let error = world.try_send("hi", LONG).await.unwrap_err();
        assert!(root_cause(&error).contains("reset"), "{fault}: {error:?}");
        let (_, ledger) = world.get("/sim/ledger").await;
        assert_eq!(
            ledger["outbound"].as_array().unwrap().len(),
            accepted,
            "{fault}"
        );
        assert_eq!(
            world.try_send("hi", LONG).await.unwrap().status(),
            200,
            "other connections live"
        );
    }
}

#[tokio::test]
async fn a_finalized_error_is_told_by_the_receipt() {
    let world = world_with(json!({"finalized_error": "40300"})).await;
    assert_eq!(world.try_send("hi", LONG).await.unwrap().status(), 200);
    let calls = world.fleet.await_calls(2).await;
    let payload = &calls[1].body["data"]["payload"];
    assert_eq!(
        (calls[1].event_type(), &payload["to"][0]["status"]),
        ("message.finalized", &json!("delivery_failed"))
    );
    assert_eq!(payload["errors"][0]["code"], "40300");
}

#[tokio::test]
async fn a_lost_receipt_leaves_the_truth_with_the_carrier() {
    let world = world_with(json!("lost_receipt")).await;
    world.try_send("hi", LONG).await.unwrap();
    let ledger = world
        .await_ledger(|l| l["outbound"][0]["status"] == "delivered")
        .await;
    assert_eq!(ledger["outbound"][0]["receipts"], json!([]));
    // Receipts come in the order of the sends. If the lost receipts came at all, they would come
    // before those of this second send.
    world.try_send("again", LONG).await.unwrap();
    let calls = world.fleet.await_calls(2).await;
    assert!(
        calls
            .iter()
            .all(|call| call.body["data"]["payload"]["text"] == "again")
    );
}

#[tokio::test]
async fn a_late_receipt_comes_after_those_of_a_later_send() {
    let world = world_with(json!("late_receipt")).await;
    world.try_send("first", LONG).await.unwrap();
    world.try_send("second", LONG).await.unwrap();
    let texts: Vec<Value> = world
        .fleet
        .await_calls(4)
        .await
        .iter()
        .map(|call| call.body["data"]["payload"]["text"].clone())
        .collect();
    assert_eq!(texts, ["second", "second", "first", "first"]);
}

#[tokio::test]
async fn a_double_receipt_repeats_its_event_id() {
    let world = world_with(json!("double_receipt")).await;
    world.try_send("hi", LONG).await.unwrap();
    let calls = world.fleet.await_calls(4).await;
    let events: Vec<_> = calls
        .iter()
        .map(|call| (call.event_type(), &call.body["data"]["id"]))
        .collect();
    assert_eq!(events[0], events[1]);
    assert_eq!(events[2], events[3]);
    assert_eq!(
        (events[0].0, events[2].0),
        ("message.sent", "message.finalized")
    );
}

#[tokio::test]
async fn reordered_receipts_keep_their_times() {
    let world = world_with(json!("reorder_receipts")).await;
    world.try_send("hi", LONG).await.unwrap();
    let calls = world.fleet.await_calls(2).await;
    assert_eq!(
        (calls[0].event_type(), calls[1].event_type()),
        ("message.finalized", "message.sent")
    );
    let time = |at: usize| {
        calls[at].body["data"]["occurred_at"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert!(time(1) <= time(0));
    assert_eq!(calls[1].body["data"]["payload"]["to"][0]["status"], "sent");
}

#[tokio::test]
async fn rules_can_be_read_and_taken_back() {
    let world = world_with(json!("429")).await;
    let (_, rules) = world.get("/sim/rules").await;
    assert_eq!(
        (&rules["block_on_stop"], &rules["rules"][0]["struck"]),
        (&json!(false), &json!(0))
    );
    assert_eq!(world.delete("/sim/rules").await, 204);
    assert_eq!(world.try_send("hi", LONG).await.unwrap().status(), 200);
    assert_eq!(world.rules(json!([{"fault": "earthquake"}])).await.0, 422);
}
