//! Tests the signed webhook that editors' spreadsheets call, and the script in these spreadsheets.

use reqwest::StatusCode;
use serde_json::{Value, json};
use seven_content::webhook::{SIGNATURE_HEADER, TIMESTAMP_HEADER, key, sign};

use super::{MASSAGE, item, seven};
use crate::harness::{GUEST, House, Wanted, counted, house};

/// A caller of the content webhook with the casino's key.
pub(super) struct Sheet<'a> {
    pub(super) house: &'a House,
    pub(super) http: reqwest::Client,
}

impl Sheet<'_> {
    pub(super) async fn call(
        &self,
        casino: &str,
        body: &Value,
        at: i64,
        version: u32,
    ) -> (StatusCode, Value) {
        let key = key(&self.house.stack.fleet.keys, self.house.casino(), version);
        let (at, body) = (at.to_string(), body.to_string());
        let signature = sign(&key, &at, body.as_bytes());
        self.send(casino, body, &at, &signature).await.unwrap()
    }

    pub(super) async fn send(
        &self,
        casino: &str,
        body: String,
        at: &str,
        signature: &str,
    ) -> reqwest::Result<(StatusCode, Value)> {
        let url = format!("{}/webhooks/content/{casino}", self.house.stack.ingress_url);
        let call = self.http.post(url).header(TIMESTAMP_HEADER, at);
        let answer = call
            .header(SIGNATURE_HEADER, signature)
            .body(body)
            .send()
            .await?;
        Ok((answer.status(), answer.json().await.unwrap_or_default()))
    }
}

pub(super) fn row(edit_id: &str, price: &str) -> Value {
    json!({
        "casino_id": "silver_birch", "category": "spa", "edit_id": edit_id, "editor_email": "ana@example.com",
        "timestamp": "2026-11-27T12:00:00Z", "changed_column": "price",
        "item": { "id": "spa_001", "name": "Swedish Massage", "description": "Classic relaxation massage with light pressure.",
            "active": "TRUE", "treatment_type": "Massage", "duration_minutes": "60", "price": price }
    })
}

#[tokio::test] // CMS-1..6, CMS-25, CMS-26, CMS-31
async fn the_webhook_takes_signed_edits_once_and_says_every_problem() {
    let house = house("editing_webhook", Wanted::default()).await;
    let http = reqwest::Client::new();
    let sheet = Sheet {
        house: &house,
        http,
    };
    let now = house.stack.fleet.clock.now().timestamp();
    let us = "silver_birch";

    let (status, said) = sheet.call(us, &row("e1", "$185"), now, 1).await;
    assert_eq!(
        (status, &said["status"]),
        (StatusCode::OK, &json!("published")),
        "{said}"
    );
    assert_eq!(said["within_target"], true);
    // CMS-9: each of these two steps of the edit was timed once.
    for step in ["sheet", "stored"] {
        let series = format!("seven_content_step_seconds_count{{step=\"{step}\"}}");
        assert_eq!(counted(&series), 1.0, "{step}");
    }
    let revision = said["revision"].clone();
    house.text(GUEST, MASSAGE);
    house.settle(1).await;
    assert!(
        house.said_to(GUEST).contains("$185"),
        "{}",
        house.said_to(GUEST)
    );

    // If an answer is lost, the sheet signs and sends the same edit again. This makes no second
    // revision.
    let (status, said) = sheet.call(us, &row("e1", "$185"), now + 1, 1).await;
    assert_eq!(
        (status, &said["status"], &said["revision"]),
        (StatusCode::OK, &json!("repeated"), &revision)
    );
    // A copy of a call, with the same time and signature, is refused.
    let (status, _) = sheet.call(us, &row("e1", "$185"), now, 1).await;
    assert_eq!(status, StatusCode::CONFLICT);
    let (status, said) = sheet.call(us, &row("e2", "$185"), now, 1).await;
    assert_eq!(
        (status, &said["status"]),
        (StatusCode::OK, &json!("unchanged"))
    );

    let (status, said) = sheet.call(us, &row("e3", "18"), now, 1).await;
    assert_eq!(
        (status, &said["status"]),
        (StatusCode::OK, &json!("review")),
        "{said}"
    );
    assert_eq!(said["warnings"][0]["field"], "details.price");

    let mut bad = row("e4", "a lot");
    bad["item"]["treatment_type"] = "Nap".into();
    let (status, said) = sheet.call(us, &bad, now, 1).await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    assert_eq!(said["fields"].as_array().unwrap().len(), 2, "{said}");
    assert!(said["fields"][0]["fix"].is_string());

    // A call is refused if its time is too old or too new, or if the wrong key or another casino's
    // key signed it. A call is also refused if its body was changed after signing, or if it names
    // another casino.
    for (at, version) in [(now - 400, 1), (now + 400, 1), (now, 2)] {
        let (status, said) = sheet.call(us, &row("e5", "$190"), at, version).await;
        assert_eq!(status, StatusCode::UNAUTHORIZED, "{said}");
    }
    let key = key(&house.stack.fleet.keys, house.casino(), 1);
    let signature = sign(
        &key,
        &now.to_string(),
        row("e5", "$190").to_string().as_bytes(),
    );
    let changed = row("e5", "$19").to_string();
    let (status, _) = sheet
        .send(us, changed, &now.to_string(), &signature)
        .await
        .unwrap();
    assert_eq!(status, StatusCode::UNAUTHORIZED);
    let theirs = "other_casino".parse().unwrap();
    let theirs = seven_content::webhook::key(&house.stack.fleet.keys, &theirs, 1);
    let body = row("e5", "$190").to_string();
    let signature = sign(&theirs, &now.to_string(), body.as_bytes());
    let (status, _) = sheet
        .send(us, body, &now.to_string(), &signature)
        .await
        .unwrap();
    assert_eq!(status, StatusCode::UNAUTHORIZED, "another casino's key");
    for casino in ["nobody_here", "Not an id"] {
        let (status, _) = sheet.call(casino, &row("e5", "$190"), now, 1).await;
        assert!(!status.is_success(), "{casino}: {status}");
    }
    let (status, said) = sheet.call(us, &json!({ "casino_id": us }), now, 1).await;
    assert_eq!(status, StatusCode::BAD_REQUEST, "{said}");
    let mut other = row("e6", "$190");
    other["casino_id"] = "other_casino".into();
    assert_eq!(
        sheet.call(us, &other, now, 1).await.0,
        StatusCode::BAD_REQUEST
    );

    // If a row is deleted in the sheet, its item is switched off and not deleted.
    let mut gone = row("e7", "");
    gone["change_type"] = "delete".into();
    let (status, said) = sheet.call(us, &gone, now, 1).await;
    assert_eq!(status, StatusCode::OK, "{said}");
    assert_eq!(item(&house, "spa_001").await["active"], false);

    // A new row gets an id, and the answer contains it.
    let mut new = row("e8", "$99");
    new["item"].as_object_mut().unwrap().remove("id");
    new["item"]["name"] = "Hot Stone Massage".into();
    let (_, said) = sheet.call(us, &new, now, 1).await;
    assert!(
        said["item_id"].as_str().unwrap().starts_with("spa_"),
        "{said}"
    );
    house.stop().await;
}

#[tokio::test] // CMS-7: the spreadsheet's own script, against the real endpoint
async fn the_script_of_the_sheet_marks_what_became_of_each_edit() {
    let house = house("editing_sheet", Wanted::default()).await;
    let key = seven(&house, &["content", "key", "--by", "ana"]).await;
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let said = tokio::process::Command::new("node")
        .arg(format!("{root}/tests/editors/sheet.js"))
        .arg(format!("{root}/deploy/editors/content.gs"))
        .arg(format!("{}/webhooks/content", house.stack.ingress_url))
        .args([house.casino().as_str(), key.trim()])
        .output()
        .await
        .unwrap();
    let out = String::from_utf8(said.stdout).unwrap();
    assert!(
        said.status.success(),
        "{out}{}",
        String::from_utf8_lossy(&said.stderr)
    );
    let steps: Vec<Value> = out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let note = |step: usize| steps[step]["notes"].to_string();
    assert_eq!(note(0), "{}", "taken");
    assert!(
        note(1).contains("Waits for approval: details.price"),
        "{}",
        note(1)
    );
    assert!(note(2).contains("\"Price\":\"Not taken: is"), "{}", note(2));
    assert_eq!(note(3), "{}", "an edit whose answer was lost is told again");
    assert!(
        steps[4]["cells"][0].as_str().unwrap().starts_with("spa_"),
        "{}",
        steps[4]
    );
    assert_eq!(note(6), "{}", "two pasted cells");
    let sent = serde_json::json!(["2 rows sent", "2 rows sent"]);
    assert_eq!(steps[7]["toasts"], sent, "CMS-54");
    assert_eq!(item(&house, "spa_001").await["details"]["price"], 176.0);
    let revisions = "select count(*) from content_revisions where item_id = 'spa_001'";
    // Six revisions: the first load, three prices, one edit for review, and one that was refused.
    assert_eq!(house.number(revisions).await, 6);
    house.stop().await;
}
