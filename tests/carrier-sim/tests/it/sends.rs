//! Tests that the simulator treats sends as Telnyx does.

use serde_json::{Value, json};

use crate::double::{CASINO, GUEST, World};

#[tokio::test]
async fn a_send_is_queued_and_its_receipts_go_to_its_own_url() {
    let world = World::start().await;
    let (status, answer) = world
        .post("/v2/messages", &world.message("The spa opens at 9."))
        .await;
    assert_eq!(status, 200);
    let data = &answer["data"];
    assert_eq!(
        (&data["record_type"], &data["direction"]),
        (&json!("message"), &json!("outbound"))
    );
    assert_eq!(
        (&data["type"], &data["encoding"], &data["parts"]),
        (&json!("SMS"), &json!("GSM-7"), &json!(1))
    );
    assert_eq!(data["from"]["phone_number"], CASINO);
    assert_eq!(
        (&data["to"][0]["phone_number"], &data["to"][0]["status"]),
        (&json!(GUEST), &json!("queued"))
    );
    assert_eq!(
        (&data["sent_at"], &data["completed_at"], &data["errors"]),
        (&json!(null), &json!(null), &json!([]))
    );
    assert!(data["valid_until"].is_string());

    let calls = world.fleet.await_calls(2).await;
    assert_eq!(
        calls
            .iter()
            .map(|call| call.event_type())
            .collect::<Vec<_>>(),
        ["message.sent", "message.finalized"]
    );
    for (call, status) in calls.iter().zip(["sent", "delivered"]) {
        assert!(call.verifies(&world.sim.public_key_b64()));
        assert_eq!(call.path, "/webhooks/telnyx?attempt=a1");
        let payload = &call.body["data"]["payload"];
        assert_eq!(
            (&payload["id"], &payload["to"][0]["status"]),
            (&data["id"], &json!(status))
        );
        assert_eq!(payload["webhook_url"], data["webhook_url"]);
    }
    assert_ne!(calls[0].body["data"]["id"], calls[1].body["data"]["id"]);

    let id = data["id"].as_str().unwrap();
    let (status, found) = world.get(&format!("/v2/messages/{id}")).await;
    assert_eq!(
        (status, &found["data"]["to"][0]["status"]),
        (200, &json!("delivered"))
    );
    assert!(found["data"]["completed_at"].is_string());
    assert_eq!(found["data"]["valid_until"], json!(null));
}

#[tokio::test]
async fn a_send_without_url_reports_to_the_default_one() {
    let world = World::start().await;
    world
        .post(
            "/v2/messages",
            &json!({"from": CASINO, "to": GUEST, "text": "hi", "webhook_url": ""}),
        )
        .await;
    assert_eq!(world.fleet.await_calls(2).await[1].path, "/webhooks/telnyx");
}

#[tokio::test]
async fn a_failing_url_is_followed_by_the_failover_url() {
    let world = World::start().await;
    let mut message = world.message("hi");
    message["webhook_failover_url"] = message["webhook_url"].take();
    message["webhook_url"] = "http://127.0.0.1:9/".into();
    world.post("/v2/messages", &message).await;
    let calls = world.fleet.await_calls(2).await;
    assert_eq!(calls[0].body["meta"]["attempt"], 1, "counted per URL");
    assert_eq!(
        calls[0].body["meta"]["delivered_to"],
        message["webhook_failover_url"]
    );
    let ledger = world
        .await_ledger(|l| l["outbound"][0]["receipts"][0]["delivery"]["state"] == "acknowledged")
        .await;
    let attempts = ledger["outbound"][0]["receipts"][0]["delivery"]["attempts"]
        .as_array()
        .unwrap()
        .clone();
    assert_eq!(
        attempts
            .iter()
            .map(|a| a["status"].clone())
            .collect::<Vec<_>>(),
        [json!(null), json!(null), json!(null), json!(200)]
    );
}

#[tokio::test]
async fn refusals_carry_telnyxs_codes() {
    let world = World::start().await;
    let long = "x".repeat(1600);
    let cases = [
        (
            json!({"from": CASINO, "to": "8605550142", "text": "hi"}),
            400,
            "40310",
        ),
        (json!({"from": CASINO, "text": "hi"}), 400, "40310"),
        (json!({"to": GUEST, "text": "hi"}), 400, "40305"),
        (
            json!({"from": "CASINO", "to": GUEST, "text": "hi"}),
            400,
            "40305",
        ),
        (json!({"from": CASINO, "to": GUEST}), 400, "40316"),
        (
            json!({"from": CASINO, "to": GUEST, "text": ""}),
            400,
            "40316",
        ),
        (
            json!({"from": CASINO, "to": GUEST, "text": long}),
            400,
            "40302",
        ),
        (
            json!({"from": CASINO, "to": GUEST, "text": "hi", "webhook_url": "ftp://x"}),
            422,
            "10027",
        ),
        (json!({"from": CASINO, "to": 5}), 400, "10023"),
    ];
    for (body, status, code) in &cases {
        let (got, answer) = world.post("/v2/messages", body).await;
        let error = &answer["errors"][0];
        assert_eq!((got, &error["code"]), (*status, &json!(code)), "{body}");
        assert!(error["title"].is_string() && error["detail"].is_string());
    }
    let (_, ledger) = world.get("/sim/ledger").await;
    assert_eq!(ledger["outbound"], json!([]));
    assert_eq!(ledger["refused"].as_array().unwrap().len(), cases.len());
}

#[tokio::test]
async fn without_the_key_nothing_is_done() {
    let world = World::start().await;
    let url = format!("{}/v2/messages", world.sim.url());
    for request in [
        world.http.post(&url),
        world.http.post(&url).bearer_auth("other"),
        world.http.get(&url),
    ] {
        let response = request.json(&world.message("hi")).send().await.unwrap();
        assert_eq!(response.status(), 401);
        let answer: Value = response.json().await.unwrap();
        assert_eq!(answer["errors"][0]["code"], "10009");
    }
    assert_eq!(world.get("/sim/ledger").await.1["outbound"], json!([]));
}

#[tokio::test]
async fn sends_can_be_listed_for_reconciliation() {
    let world = World::start().await;
    for n in 1..=3 {
        let mut message = world.message(&format!("text {n}"));
        message["webhook_url"] = format!("{}?attempt={n}", world.fleet.url).into();
        world.post("/v2/messages", &message).await;
    }
    let (_, all) = world.get("/v2/messages?page[size]=2").await;
    assert_eq!(all["data"][0]["text"], "text 3");
    assert_eq!(
        all["meta"],
        json!({"page_number": 1, "page_size": 2, "total_results": 3, "total_pages": 2})
    );
    let (_, rest) = world.get("/v2/messages?page[size]=2&page[number]=2").await;
    assert_eq!(rest["data"].as_array().unwrap().len(), 1);
    let (_, one) = world
        .get(&format!(
            "/v2/messages?filter[webhook_url]={}%3Fattempt=2",
            world.fleet.url
        ))
        .await;
    assert_eq!(
        (
            one["data"].as_array().unwrap().len(),
            &one["data"][0]["text"]
        ),
        (1, &json!("text 2"))
    );
    let (_, none) = world.get("/v2/messages?filter[to]=%2B18605550199").await;
    assert_eq!(none["data"], json!([]));
    assert_eq!(world.get("/v2/messages/unknown").await.0, 404);
    let (status, health) = world.get("/v2/messaging_profiles?page[size]=1").await;
    assert_eq!(
        (status, &health["data"][0]["webhook_api_version"]),
        (200, &json!("2"))
    );
}

#[tokio::test]
async fn stop_blocks_only_when_the_carrier_is_told_to() {
    let world = World::start().await;
    let stop = json!({"from": GUEST, "text": "Stop"});
    world.post("/sim/inbound?wait=true", &stop).await;
    assert_eq!(
        world.post("/v2/messages", &world.message("hi")).await.0,
        200
    );

    world.rules(json!({"block_on_stop": true})).await;
    world.post("/sim/inbound?wait=true", &stop).await;
    let with_word = |word: &'static str| {
        world
            .fleet
            .calls()
            .iter()
            .any(|call| call.body["data"]["payload"]["autoresponse_type"] == word)
    };
    assert!(with_word("STOP"));
    let (status, answer) = world.post("/v2/messages", &world.message("hi")).await;
    assert_eq!(
        (status, &answer["errors"][0]["code"]),
        (400, &json!("40300"))
    );
    let mut other_casino = world.message("hi");
    other_casino["from"] = "+18605550101".into();
    assert_eq!(world.post("/v2/messages", &other_casino).await.0, 200);

    world
        .post(
            "/sim/inbound?wait=true",
            &json!({"from": GUEST, "text": "START"}),
        )
        .await;
    assert!(with_word("START"));
    assert_eq!(
        world.post("/v2/messages", &world.message("hi")).await.0,
        200
    );
}

#[tokio::test]
async fn a_restarted_simulator_still_knows_its_messages() {
    let folder = std::env::temp_dir().join(format!("carrier-sim-restart-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("ledger.jsonl");
    let first = World::start_with(|settings| settings.ledger_file = Some(path.clone())).await;
    let (_, answer) = first.post("/v2/messages", &first.message("hi")).await;
    first.fleet.await_calls(2).await;
    first
        .await_ledger(|l| l["outbound"][0]["receipts"][1]["delivery"]["state"] == "acknowledged")
        .await;
    drop(first);

    let second = World::start_with(|settings| settings.ledger_file = Some(path.clone())).await;
    let (status, found) = second
        .get(&format!(
            "/v2/messages/{}",
            answer["data"]["id"].as_str().unwrap()
        ))
        .await;
    assert_eq!(
        (status, &found["data"]["to"][0]["status"]),
        (200, &json!("delivered"))
    );
    assert_eq!(second.delete("/sim/ledger").await, 204);
    assert_eq!(std::fs::read(&path).unwrap(), b"");
    std::fs::remove_dir_all(&folder).unwrap();
}
