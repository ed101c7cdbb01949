//! Tests the nightly jobs, which run once a night for each casino. They check chains, let consents
//! lapse and delete old rows (SEC-74, SMS-21, DATA-49 to DATA-57).

use std::time::Duration;

use chrono::{TimeDelta, Utc};
use seven::onboard;
use seven_compliance::chain::Action;
use seven_domain::{CasinoStatus, Channel, ConsentTier, GuestHash, GuestId, PhoneE164};
use seven_settings::Worker;
use seven_store::{
    consent::Consent,
    guests::{GuestLaw, NewIds},
};
use sqlx::{AssertSqlSafe, PgPool};

use crate::harness::{House, Wanted, house, until};

/// A fleet without workers, at 04:00 in Connecticut.
const NIGHT: Wanted = Wanted {
    scale: 0.0,
    at: Some("2026-01-14T09:00:00Z"),
    workers: Vec::new(),
    extra: String::new(),
    casino: None,
};

struct Known {
    id: GuestId,
    hash: GuestHash,
}

async fn guest(house: &House, phone: &str, tier: ConsentTier) -> Known {
    let fleet = &house.stack.fleet;
    let phone: PhoneE164 = phone.parse().unwrap();
    let hash = fleet.keys.hash(house.casino(), &phone);
    let new = NewIds {
        guest: fleet.ids.next(),
        conversation: fleet.ids.next(),
    };
    let mut tx = fleet.store.bind(house.casino()).await.unwrap();
    let number = &house.config.operational.telnyx_phone_number;
    let party = tx
        .party(
            &phone,
            &hash,
            number,
            Channel::Sms,
            new,
            &GuestLaw::default(),
        )
        .await
        .unwrap();
    let consent = Consent {
        guest: &hash,
        guest_id: Some(party.guest_id),
        action: Action::Granted,
        method: "web_form",
        tier,
        at: Utc::now(),
        evidence: serde_json::json!({ "evidence": "form 17" }),
        actor: "test",
        trace: None,
    };
    tx.record_consent(&consent, &fleet.keys).await.unwrap();
    tx.commit().await.unwrap();
    Known {
        id: party.guest_id,
        hash,
    }
}

async fn run(pool: &PgPool, statement: &str) {
    sqlx::query(AssertSqlSafe(statement.to_owned()))
        .execute(pool)
        .await
        .unwrap();
}

/// Makes the guest's last text and consent `days` days old.
async fn idle(pool: &PgPool, guest: &Known, days: i64) {
    let id = guest.id;
    let ago = Utc::now() - TimeDelta::days(days);
    run(
        pool,
        &format!("update conversations set last_inbound_at = '{ago}', created_at = '{ago}' where guest_id = '{id}'"),
    )
    .await;
    run(
        pool,
        &format!(
            "update guests set consent_at = '{ago}', created_at = '{ago}' where guest_id = '{id}'"
        ),
    )
    .await;
}

/// Runs tonight's jobs even if they ran before, and asserts that a second run does nothing.
async fn night(house: &House, pool: &PgPool) {
    run(pool, "delete from nightly").await;
    let config = &house.config;
    let date = "2026-01-14".parse().unwrap();
    seven_scheduler::night(&house.stack.fleet, config, date)
        .await
        .unwrap();
    // A second run on the same date finds nothing to do. Only the deletions that the first run
    // requested may still write audit entries.
    let jobs = "select count(*) from audit_log where action in ('retention_applied', 'consent_updated', 'consent_chain_broken') and detail->'evidence'->>'deletion_id' is null";
    let before = house.number(jobs).await;
    seven_scheduler::night(&house.stack.fleet, config, date)
        .await
        .unwrap();
    assert_eq!(house.number(jobs).await, before);
}

async fn status(pool: &PgPool, guest: &Known) -> (String, String) {
    sqlx::query_as("select status, consent_tier from guests where guest_id = $1")
        .bind(guest.id.0)
        .fetch_one(pool)
        .await
        .unwrap()
}

#[tokio::test] // SEC-74: a broken chain is a grave case for a person
async fn a_broken_chain_is_found_at_night() {
    let house = house("nightly_chain", NIGHT).await;
    let pool = PgPool::connect(&house.database_url).await.unwrap();
    let (broken, _whole) = (
        guest(&house, "+18605550160", ConsentTier::Marketing).await,
        guest(&house, "+18605550161", ConsentTier::None).await,
    );
    night(&house, &pool).await;
    assert_eq!(house.number("select count(*) from escalations").await, 0);
    run(&pool, "alter table consent_events disable trigger all").await;
    let hash = broken.hash.hex();
    run(
        &pool,
        &format!(
            "update consent_events set event = replace(event, 'form 17', 'form 18') where phone_hash = '\\x{hash}'"
        ),
    )
    .await;
    night(&house, &pool).await;
    assert_eq!(
        house
            .number("select count(*) from escalations where severity = 'sev0' and reason = 'consent_chain_broken'")
            .await,
        1
    );
    let said = "select count(*) from audit_log where action = 'consent_chain_broken' and severity = 'critical' and detail->'broken_links' = '[0]'";
    assert_eq!(house.number(said).await, 1);
    assert_eq!(
        house
            .number("select (result->>'checked')::bigint from nightly where job = 'consent_chains'")
            .await,
        2
    );
    pool.close().await;
    house.stop().await;
}

#[tokio::test] // SMS-21, C-13, SEC-67, SEC-68
async fn a_consent_without_a_sign_of_life_lapses() {
    let house = house("nightly_decay", NIGHT).await;
    let pool = PgPool::connect(&house.database_url).await.unwrap();
    let (old, fresh) = (
        guest(&house, "+18605550162", ConsentTier::Marketing).await,
        guest(&house, "+18605550163", ConsentTier::Marketing).await,
    );
    idle(&pool, &old, 541).await;
    idle(&pool, &fresh, 539).await;
    night(&house, &pool).await;
    assert_eq!(status(&pool, &old).await.1, "transactional");
    assert_eq!(status(&pool, &fresh).await.1, "marketing");
    let lapsed = "select count(*) from consent_events where event::jsonb->>'method' = 'consent_decay'
        and event::jsonb->'previous_state'->>'tier' = 'marketing' and event::jsonb->'new_state'->>'tier' = 'transactional'";
    assert_eq!(house.number(lapsed).await, 1);
    pool.close().await;
    house.stop().await;
}

#[tokio::test] // DATA-49, DATA-50, DATA-51, DATA-52, DATA-53, DATA-54, DATA-55
async fn what_has_been_kept_long_enough_goes() {
    let wanted = Wanted {
        workers: Worker::ALL.to_vec(),
        ..NIGHT
    };
    let house = house("nightly_retention", wanted).await;
    let pool = PgPool::connect(&house.database_url).await.unwrap();
    house.text("+18605550164", "What time is check-in?");
    house.settle(1).await;
    let texted = "select count(*) from inbound_messages";
    let (warm, archived) = (
        guest(&house, "+18605550164", ConsentTier::Transactional).await,
        guest(&house, "+18605550165", ConsentTier::None).await,
    );
    let forgotten = guest(&house, "+18605550166", ConsentTier::None).await;
    for (guest, days) in [(&warm, 91), (&archived, 366), (&forgotten, 2_558)] {
        idle(&pool, guest, days).await;
    }
    run(
        &pool,
        "update inbound_messages set stored_at = now() - interval '364 days'",
    )
    .await;
    night(&house, &pool).await;
    assert_eq!(house.number(texted).await, 1, "kept for a year");
    run(
        &pool,
        "update inbound_messages set stored_at = now() - interval '366 days', disposition = 'open'",
    )
    .await;
    night(&house, &pool).await;
    assert_eq!(house.number(texted).await, 1, "open work never goes");
    run(&pool, "update inbound_messages set disposition = 'closed'").await;
    night(&house, &pool).await;
    assert_eq!(house.number(texted).await, 0);
    assert_eq!(
        (
            status(&pool, &warm).await.0,
            status(&pool, &archived).await.0
        ),
        ("warm".into(), "archived".into())
    );
    until("the oldest guest is forgotten", Duration::from_secs(10), || async {
        house
            .number("select count(*) from deletions where state = 'done' and requested_by = 'retention'")
            .await
            == 1
    })
    .await;
    assert!(
        house
            .number("select count(*) from audit_log where action = 'retention_applied'")
            .await
            >= 1
    );
    // Consent events and audit entries are kept longer than all other rows.
    assert_eq!(house.number("select count(*) from consent_events").await, 4);
    // A new text makes the guest active again.
    house.text("+18605550164", "What time is check-in?");
    house.settle(1).await;
    assert_eq!(status(&pool, &warm).await.0, "active");
    pool.close().await;
    house.stop().await;
}

#[tokio::test] // DATA-57: a deletion that is not done in time is a case
async fn an_overdue_deletion_is_a_case() {
    let house = house("nightly_overdue", NIGHT).await;
    let pool = PgPool::connect(&house.database_url).await.unwrap();
    let guest = guest(&house, "+18605550167", ConsentTier::None).await;
    let mut tx = house.stack.fleet.store.bind(house.casino()).await.unwrap();
    let id = house.stack.fleet.ids.uuid();
    tx.request_deletion(
        id,
        &guest.hash,
        guest.id,
        "guest",
        Utc::now(),
        Duration::from_secs(900),
    )
    .await
    .unwrap();
    tx.commit().await.unwrap();
    night(&house, &pool).await;
    assert_eq!(house.number("select count(*) from escalations").await, 0);
    run(
        &pool,
        "update deletions set requested_at = requested_at - interval '41 days'",
    )
    .await;
    night(&house, &pool).await;
    assert_eq!(
        house
            .number("select count(*) from escalations where reason = 'deletion_overdue'")
            .await,
        1
    );
    pool.close().await;
    house.stop().await;
}

#[tokio::test] // SEC-74, DATA-49
async fn a_job_that_fails_stops_no_other_and_is_done_at_the_next_try() {
    let house = house("nightly_fails", NIGHT).await;
    let pool = PgPool::connect(&house.database_url).await.unwrap();
    run(
        &pool,
        "create function refuse() returns trigger language plpgsql as $$ begin raise exception 'no'; end $$",
    )
    .await;
    run(
        &pool,
        "create trigger refuse before insert on nightly for each row when (new.job = 'consent_chains') execute function refuse()",
    )
    .await;
    let date = "2026-01-14".parse().unwrap();
    let night = async || seven_scheduler::night(&house.stack.fleet, &house.config, date).await;
    assert!(night().await.is_err());
    let done = "select count(*) from nightly where result is not null";
    let jobs = i64::try_from(seven_scheduler::NIGHTLY_JOBS.len()).unwrap();
    assert_eq!(house.number(done).await, jobs - 1, "all the others");
    run(&pool, "drop trigger refuse on nightly").await;
    night().await.unwrap();
    assert_eq!(house.number(done).await, jobs);
    house.stop().await;
}

#[tokio::test] // SEC-74, D9
async fn a_casino_whose_night_fails_keeps_no_other_from_its_own() {
    let wanted = Wanted {
        workers: vec![Worker::Scheduler],
        ..NIGHT
    };
    let house = house("nightly_beside", wanted).await;
    let pool = PgPool::connect(&house.database_url).await.unwrap();
    run(
        &pool,
        "create function refuse() returns trigger language plpgsql as $$ begin raise exception 'no'; end $$",
    )
    .await;
    run(
        &pool,
        "create trigger refuse before insert on nightly for each row when (new.casino_id = 'aside') execute function refuse()",
    )
    .await;
    // The roster lists `aside` before `beside`, so the jobs that fail come first.
    for (id, number) in [("aside", "+18605550188"), ("beside", "+18605550189")] {
        let mut config = house.config.clone();
        config.casino_id = id.parse().unwrap();
        config.operational.telnyx_phone_number = number.parse().unwrap();
        onboard::add_casino(&house.stack.fleet, &config, "test")
            .await
            .unwrap();
    }
    let done = "select count(*) from nightly where casino_id = 'beside' and result is not null";
    let jobs = i64::try_from(seven_scheduler::NIGHTLY_JOBS.len()).unwrap();
    until(
        "the other casino's night",
        Duration::from_secs(20),
        || async { house.number(done).await == jobs },
    )
    .await;
    assert_eq!(
        house
            .number("select count(*) from nightly where casino_id = 'aside'")
            .await,
        0
    );
    pool.close().await;
    house.stop().await;
}

// Retention also applies to a removed casino's rows, and to dead letters for numbers that no casino
// has
#[tokio::test]
async fn nights_of_removed_casinos_go_on_and_unknown_letters_end() {
    let mut house = house(
        "nightly_removed",
        Wanted {
            workers: Vec::new(),
            ..NIGHT
        },
    )
    .await;
    let pool = PgPool::connect(&house.database_url).await.unwrap();
    let mut gone = house.config.clone();
    gone.casino_id = "gone".parse().unwrap();
    gone.operational.telnyx_phone_number = "+18605550189".parse().unwrap();
    onboard::add_casino(&house.stack.fleet, &gone, "test")
        .await
        .unwrap();
    let mut tx = house.stack.fleet.store.bind(&gone.casino_id).await.unwrap();
    tx.set_casino_status(CasinoStatus::Removed, "test", "closed")
        .await
        .unwrap();
    tx.commit().await.unwrap();
    for (key, days) in [("old", 91), ("young", 89)] {
        let letter = format!(
            "insert into dead_letters (casino_id, dead_id, stage, reason, first_error, last_error, attempts, subject, message_key, payload, trace, announced_at, first_at, last_at)
             values ('_unknown', gen_random_uuid(), 'ingress', 'unknown_number', '', '', 1, '', '{key}', '', '', now(), now(), now() - interval '{days} days')"
        );
        sqlx::query(sqlx::AssertSqlSafe(letter))
            .execute(&pool)
            .await
            .unwrap();
    }
    house.stack.spawn(Worker::Scheduler, None).await.unwrap();
    let done = "select count(*) from nightly where casino_id = 'gone' and result is not null";
    let jobs = i64::try_from(seven_scheduler::NIGHTLY_JOBS.len()).unwrap();
    until(
        "the removed casino's night",
        Duration::from_secs(30),
        || async { house.number(done).await == jobs },
    )
    .await;
    assert_eq!(
        house.number("select count(*) from dead_letters").await,
        1,
        "the young one"
    );
    pool.close().await;
    house.stop().await;
}
