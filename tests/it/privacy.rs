//! Deletion and disclosure of a guest's data (SEC-76 to SEC-79, DATA-56, DATA-57). After DELETE,
//! only the guest's keyed hash and the proof of consent and deletion remain.

pub(crate) mod search;

use std::time::Duration;

use chrono::{TimeDelta, Utc};
use serde_json::Value;
use seven_carrier_sim::Text;
use sqlx::AssertSqlSafe;

use self::search::found;
use crate::harness::{GUEST, House, Wanted, house, until};

const OTHER: &str = "+18605550143";
const DELETION: &str = "01931234-5678-7abc-8def-0123456789ab";
const WORDS: &str = "zanzibar birthday for my aunt";

async fn done(house: &House) {
    until(
        "the guest is forgotten",
        Duration::from_secs(20),
        || async {
            house
                .number("select count(*) from deletions where state = 'done'")
                .await
                == 1
        },
    )
    .await;
}

fn written(event: &str, text: &str, at: chrono::DateTime<Utc>) -> Text {
    Text {
        from: GUEST.into(),
        text: Some(text.into()),
        event_id: Some(event.into()),
        message_id: Some(format!("message of {event}")),
        occurred_at: Some(at),
        ..Text::default()
    }
}

#[tokio::test] // SEC-77, SEC-78, SEC-79, DATA-7, DATA-57, DATA-58, C-19, DATA-2, DATA-28
async fn after_delete_only_the_proof_is_left() {
    let house = house("privacy_delete", Wanted::default()).await;
    house.text(OTHER, "What time is check-in?");
    for (sent, text) in (2..).zip([WORDS, "SUBSCRIBE", "yes", "my name is Xiomaraz"]) {
        house.text(GUEST, text);
        house.settle(sent).await;
    }
    // Adds a dead letter and a spooled event that hold the phone.
    let (casino, tail) = (house.casino(), GUEST.trim_start_matches('+'));
    let pool = sqlx::PgPool::connect(&house.database_url).await.unwrap();
    for statement in [
        format!(
            "insert into dead_letters (casino_id, dead_id, stage, reason, first_error, last_error, attempts, subject, message_key, payload, trace) values ('{casino}', gen_random_uuid(), 'ingress', 'unreadable', 'x', 'x', 1, '', 'k', convert_to('from {GUEST}', 'UTF8'), '')"
        ),
        format!(
            "insert into spool (casino_id, spool_id, subject, message_key, headers, payload) values ('{casino}', gen_random_uuid(), 'nowhere.at.all', 'k2', '{{}}', convert_to('from {GUEST}', 'UTF8'))"
        ),
    ] {
        sqlx::query(AssertSqlSafe(statement))
            .execute(&pool)
            .await
            .unwrap();
    }
    pool.close().await;
    // The phone itself is found in four places only: one column of the guest's row, the ingress
    // stream, dead letters, and the spool.
    let mut places: Vec<String> = found(&house, &[tail])
        .await
        .iter()
        .map(|line| place(line).to_owned())
        .collect();
    places.sort();
    places.dedup();
    assert_eq!(places, ["INGRESS", "dead_letters", "guests", "spool"]);
    assert!(
        found(&house, &["zanzibar"]).await.len() >= 2,
        "the search finds what is there"
    );
    house.text(GUEST, "DELETE");
    done(&house).await;
    let left = found(&house, &[tail, "zanzibar", "Xiomaraz"]).await;
    assert!(left.is_empty(), "{left:#?}");
    // The proof remains under the keyed hash: consent chain, suppression and audit entries.
    assert_eq!(
        house.number("select count(*) from guests").await,
        1,
        "the other guest"
    );
    assert_eq!(
        house.number("select count(*) from sessions").await,
        1,
        "the other guest's"
    );
    assert_eq!(house.number("select count(*) from suppressions").await, 2);
    assert!(house.number("select count(*) from consent_events").await >= 2);
    let proof = "select count(*) from audit_log where action = 'ccpa_data_deleted' and guest_hash is not null";
    assert_eq!(house.number(proof).await, 1);
    assert!(
        house
            .texts_to(GUEST)
            .iter()
            .any(|text| text.contains("request")),
        "the request was confirmed first"
    );
    // The other guest's conversation goes on.
    house.text(OTHER, "And check-out?");
    house.settle(2).await;
    assert_eq!(house.texts_to(OTHER).len(), 2);
    house.stop().await;
}

/// Returns the table or stream that a line of the search's result names.
fn place(line: &str) -> &str {
    line.split_once(" row(s) of ")
        .map_or(line, |(_, rest)| rest)
        .split(' ')
        .next()
        .unwrap_or_default()
}

// D4, DATA-57: after a deletion neither a turn in progress nor a late copy of an old text brings
// data back
#[tokio::test]
async fn delete_during_a_turn_brings_nothing_back() {
    let house = house(
        "privacy_turn",
        Wanted {
            scale: 0.05,
            ..Wanted::default()
        },
    )
    .await;
    let then = Utc::now();
    house
        .stack
        .sim
        .text(written("question", WORDS, then))
        .unwrap();
    until(
        "the question is stored",
        Duration::from_secs(10),
        || async { house.number("select count(*) from inbound_messages").await == 1 },
    )
    .await;
    house
        .stack
        .sim
        .text(written(
            "delete",
            "delete my data",
            then + TimeDelta::milliseconds(1),
        ))
        .unwrap();
    until("the request is there", Duration::from_secs(10), || async {
        house.number("select count(*) from deletions").await == 1
    })
    .await;
    // Makes the deletion due at once, so that it happens during the turn. Usually the guest first
    // has time to cancel the deletion.
    let pool = sqlx::PgPool::connect(&house.database_url).await.unwrap();
    sqlx::query("update due set due_at = now() where kind = 'delete'")
        .execute(&pool)
        .await
        .unwrap();
    done(&house).await;
    // Telnyx delivers the old question again, under a new event id.
    house
        .stack
        .sim
        .text(Text {
            event_id: Some("copy".into()),
            ..written("question", WORDS, then)
        })
        .unwrap();
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    let left = found(&house, &["zanzibar"]).await;
    assert!(left.is_empty(), "{left:#?}");
    assert_eq!(house.number("select count(*) from guests").await, 0);
    assert_eq!(house.number("select count(*) from turns").await, 0);
    // After the deletion, a new text begins a new guest.
    house
        .stack
        .sim
        .text(written(
            "new",
            "What time is check-in?",
            Utc::now() + TimeDelta::seconds(5),
        ))
        .unwrap();
    until(
        "the new guest is answered",
        Duration::from_secs(20),
        || async {
            house
                .texts_to(GUEST)
                .iter()
                .any(|text| text.contains("4pm"))
        },
    )
    .await;
    pool.close().await;
    house.stop().await;
}

#[tokio::test] // DATA-57: a guest whose row is gone already takes nobody else's dead letters along
async fn a_deletion_without_a_guest_removes_nothing_else() {
    let house = house("privacy_gone", Wanted::default()).await;
    house.text(GUEST, "What time is check-in?");
    house.settle(1).await;
    let pool = sqlx::PgPool::connect(&house.database_url).await.unwrap();
    let casino = house.casino();
    for statement in [
        format!(
            "insert into dead_letters (casino_id, dead_id, stage, reason, first_error, last_error, attempts, subject, message_key, payload, trace) values ('{casino}', gen_random_uuid(), 'ingress', 'unreadable', 'x', 'x', 1, '', 'k', convert_to('from {OTHER}', 'UTF8'), '')"
        ),
        format!(
            "insert into deletions (casino_id, deletion_id, key_id, phone_hash, guest_id, requested_by, requested_at, due_at) select casino_id, '{DELETION}', key_id, phone_hash, guest_id, 'test', now(), now() from guests"
        ),
        "delete from guests".to_owned(),
        format!(
            "insert into due (casino_id, kind, row_id, due_at) values ('{casino}', 'delete', '{DELETION}', now())"
        ),
    ] {
        sqlx::query(AssertSqlSafe(statement))
            .execute(&pool)
            .await
            .unwrap();
    }
    done(&house).await;
    assert_eq!(house.number("select count(*) from dead_letters").await, 1);
    pool.close().await;
    house.stop().await;
}

#[tokio::test] // C-18, AGENT-28
async fn who_thinks_again_keeps_everything() {
    let house = house(
        "privacy_keep",
        Wanted {
            scale: 0.05,
            ..Wanted::default()
        },
    )
    .await;
    let said = [
        "What time is check-in?",
        "DELETE",
        "is the pool open?",
        "KEEP",
        "what are the pool hours?",
    ];
    for (sent, text) in (1..).zip(said) {
        house.text(GUEST, text);
        house.settle(sent).await;
    }
    let texts = house.texts_to(GUEST);
    assert!(
        texts[1].contains("KEEP") && texts[2].contains("being processed"),
        "{texts:#?}"
    );
    assert!(
        texts[3].contains("nothing was deleted") && texts[4].to_lowercase().contains("pool"),
        "{texts:#?}"
    );
    assert_eq!(
        house
            .number("select count(*) from deletions where state = 'withdrawn'")
            .await,
        1
    );
    assert_eq!(
        house
            .number("select count(*) from due where kind = 'delete'")
            .await,
        0
    );
    house.stop().await;
}

#[tokio::test] // SEC-76
async fn an_export_holds_everything_and_is_audited() {
    let house = house("privacy_export", Wanted::default()).await;
    for (sent, text) in (1..).zip([WORDS, "STOP"]) {
        house.text(GUEST, text);
        house.settle(sent).await;
    }
    let output = tokio::process::Command::new(crate::harness::binary())
        .args([
            "guest",
            "export",
            "--casino",
            house.casino().as_str(),
            "--guest",
            GUEST,
        ])
        .args(["--reason", "asked by phone, ID seen", "--config"])
        .arg(&house.stack.config_file)
        .output()
        .await
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let export: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(export["phone"], GUEST);
    assert_eq!(
        export["conversations"][0]["texts_received"][0]["text"],
        WORDS
    );
    assert!(
        export["conversations"][0]["texts_sent"]
            .as_array()
            .unwrap()
            .len()
            >= 2
    );
    assert_eq!(export["consent_records"]["suppression"]["state"], "stopped");
    assert_eq!(
        export["consent_records"]["events"][0]["method"],
        "sms_stop_keyword"
    );
    assert_eq!(export["data_categories"].as_array().unwrap().len(), 5);
    assert_eq!(
        house
            .number("select count(*) from audit_log where action = 'ccpa_data_exported'")
            .await,
        1
    );
    house.stop().await;
}
