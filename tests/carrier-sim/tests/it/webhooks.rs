//! Tests that the simulator delivers guests' texts as Telnyx does.

use std::{collections::HashSet, time::Duration};

use serde_json::json;

use crate::double::{Answer, CASINO, GUEST, World};

// SMS-2
#[tokio::test]
async fn a_text_arrives_signed_in_telnyxs_shape() {
    let world = World::start().await;
    let (status, ids) = world
        .post(
            "/sim/inbound",
            &json!({"from": GUEST, "text": "¿A qué hora abre el spa?"}),
        )
        .await;
    assert_eq!(status, 202);

    let calls = world.fleet.await_calls(1).await;
    let call = &calls[0];
    assert!(call.verifies(&world.sim.public_key_b64()));
    assert_eq!(call.path, "/webhooks/telnyx");
    let data = &call.body["data"];
    assert_eq!(
        (&data["event_type"], &data["record_type"]),
        (&json!("message.received"), &json!("event"))
    );
    assert_eq!(
        (&data["id"], &data["payload"]["id"]),
        (&ids["event_id"], &ids["message_id"])
    );
    assert_eq!(data["payload"]["from"]["phone_number"], GUEST);
    assert_eq!(data["payload"]["to"][0]["phone_number"], CASINO);
    assert_eq!(data["payload"]["text"], "¿A qué hora abre el spa?");
    assert_eq!(data["payload"]["encoding"], "GSM-7");
    assert!(data["payload"].get("autoresponse_type").is_none());
    assert_eq!(
        call.body["meta"],
        json!({"attempt": 1, "delivered_to": world.fleet.url})
    );

    let ledger = world
        .await_ledger(|l| l["inbound"][0]["delivery"]["state"] == "acknowledged")
        .await;
    assert_eq!(
        ledger["inbound"][0]["delivery"]["attempts"][0]["status"],
        200
    );
}

// SMS-6
#[tokio::test]
async fn a_refused_call_is_repeated_and_signed_afresh() {
    // Timestamps count whole seconds. The second wait is longer than one second, so the timestamps
    // must differ.
    let world = World::start_with(|settings| {
        settings.time_scale = 1.0;
        settings.retry_delays = vec![Duration::from_millis(30), Duration::from_millis(1010)];
    })
    .await;
    world
        .fleet
        .will_answer([Answer::Status(500), Answer::Status(302)]);
    let (status, outcome) = world
        .post(
            "/sim/inbound?wait=true",
            &json!({"from": GUEST, "text": "hi"}),
        )
        .await;
    assert_eq!((status, &outcome["state"]), (200, &json!("acknowledged")));

    let calls = world.fleet.calls();
    let attempts: Vec<_> = calls
        .iter()
        .map(|call| call.body["meta"]["attempt"].as_u64().unwrap())
        .collect();
    assert_eq!(attempts, [1, 2, 3]);
    let event_ids: HashSet<_> = calls
        .iter()
        .map(|call| call.body["data"]["id"].to_string())
        .collect();
    assert_eq!(event_ids.len(), 1);
    assert!(
        calls
            .iter()
            .all(|call| call.verifies(&world.sim.public_key_b64()))
    );
    assert_ne!(calls[0].timestamp, calls[2].timestamp);
    assert_ne!(calls[0].raw, calls[1].raw, "bodies of retries differ");
}

#[tokio::test]
async fn a_slow_webhook_gets_three_tries_then_the_event_is_gone() {
    let world =
        World::start_with(|settings| settings.ack_deadline = Duration::from_millis(40)).await;
    world
        .fleet
        .will_answer([Answer::Slow(Duration::from_millis(90)); 3]);
    let (_, outcome) = world
        .post(
            "/sim/inbound?wait=true",
            &json!({"from": GUEST, "text": "hi"}),
        )
        .await;
    assert_eq!(outcome["state"], "gave_up");
    let attempts = outcome["attempts"].as_array().unwrap();
    assert_eq!(attempts.len(), 3);
    assert!(
        attempts
            .iter()
            .all(|attempt| attempt["status"].is_null() && attempt["error"] == "no answer in time")
    );
    assert_eq!(world.fleet.calls().len(), 3);
}

#[tokio::test]
async fn an_event_can_be_repeated_with_its_ids_and_its_time() {
    let world = World::start().await;
    let text = json!({"from": GUEST, "to": "+18605550101", "text": "hi", "event_id": "e-1",
                      "message_id": "m-1",
                      "occurred_at": "2026-03-01T12:00:00Z"});
    for _ in 0..2 {
        world.post("/sim/inbound?wait=true", &text).await;
    }
    for call in world.fleet.calls() {
        let data = &call.body["data"];
        assert_eq!(
            (&data["id"], &data["payload"]["id"]),
            (&json!("e-1"), &json!("m-1"))
        );
        assert_eq!(data["occurred_at"], "2026-03-01T12:00:00Z");
        assert_eq!(data["payload"]["to"][0]["phone_number"], "+18605550101");
    }
    let (_, ledger) = world.get("/sim/ledger").await;
    assert_eq!(ledger["inbound"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn a_picture_without_words_is_an_mms_with_null_text() {
    let world = World::start().await;
    world
        .post(
            "/sim/inbound?wait=true",
            &json!({"from": GUEST, "media": ["https://media.example/1.jpg"]}),
        )
        .await;
    let payload = &world.fleet.calls()[0].body["data"]["payload"];
    assert_eq!(
        (&payload["type"], &payload["text"]),
        (&json!("MMS"), &json!(null))
    );
    assert_eq!(payload["media"][0]["url"], "https://media.example/1.jpg");
    let (status, _) = world.post("/sim/inbound", &json!({"from": GUEST})).await;
    assert_eq!(status, 422);
}

#[tokio::test]
async fn raw_bytes_arrive_untouched_and_the_signature_can_be_bent() {
    let world = World::start().await;
    let body = "{ \"data\" : not json";
    world.raw("", body).await;
    world.raw("?timestamp=1700000000", body).await;
    world.raw("?signature=", body).await;
    world.raw("?signature=AAAA", body).await;
    let calls = world.fleet.calls();
    assert!(calls.iter().all(|call| call.raw == body.as_bytes()));
    let key = world.sim.public_key_b64();
    assert!(calls[0].verifies(&key));
    assert!(calls[1].verifies(&key) && calls[1].timestamp == "1700000000");
    assert!(calls[2].signature.is_none());
    assert!(!calls[3].verifies(&key));
}

#[tokio::test]
async fn an_unreachable_webhook_is_given_up_and_recorded() {
    let world =
        World::start_with(|settings| settings.webhook_url = "http://127.0.0.1:9/".to_owned()).await;
    let (_, outcome) = world
        .post(
            "/sim/inbound?wait=true",
            &json!({"from": GUEST, "text": "hi"}),
        )
        .await;
    assert_eq!(outcome["state"], "gave_up");
    assert_eq!(outcome["attempts"][2]["error"], "no connection");
}

#[tokio::test]
async fn shutdown_ends_open_calls_and_streams() {
    let world = World::start().await;
    world
        .fleet
        .will_answer([Answer::Slow(Duration::from_millis(90))]);
    world
        .post("/sim/inbound", &json!({"from": GUEST, "text": "hi"}))
        .await;
    let events = world
        .http
        .get(format!("{}/sim/events", world.sim.url()))
        .send()
        .await
        .unwrap();
    let (url, http) = (world.sim.url(), world.http.clone());
    tokio::time::timeout(Duration::from_secs(4), world.sim.shutdown())
        .await
        .unwrap();
    drop(events);
    assert!(http.get(format!("{url}/sim/config")).send().await.is_err());
}
