//! The consent chain in Postgres (D8). Many writers make one unbroken chain. If somebody changes
//! the tables directly, verification finds the change.

use chrono::Utc;
use futures::future::try_join_all;
use seven_compliance::chain::{Action, Report};
use seven_domain::{CasinoId, ConsentTier, GuestHash, HashKeys, PhoneE164};
use seven_store::{Store, consent::Consent};
use sqlx::PgPool;

use crate::harness::{GUEST, House, Wanted, house};

fn change<'a>(guest: &'a GuestHash, n: usize) -> Consent<'a> {
    let tier = ConsentTier::ALL[n % 4];
    Consent {
        guest,
        guest_id: None,
        action: Action::Updated,
        method: "web_form",
        tier,
        at: Utc::now(),
        evidence: serde_json::json!({ "n": n }),
        actor: "test",
        trace: None,
    }
}

async fn append(store: Store, casino: CasinoId, keys: HashKeys, guest: GuestHash, many: usize) {
    for n in 0..many {
        let mut tx = store.bind(&casino).await.unwrap();
        tx.record_consent(&change(&guest, n), &keys).await.unwrap();
        tx.commit().await.unwrap();
    }
}

fn guest(house: &House) -> GuestHash {
    house
        .stack
        .fleet
        .keys
        .hash(house.casino(), &GUEST.parse::<PhoneE164>().unwrap())
}

async fn verify(house: &House, guest: &GuestHash) -> Report {
    let mut tx = house.stack.fleet.store.bind(house.casino()).await.unwrap();
    let report = tx
        .verify_chain(guest, &house.stack.fleet.keys)
        .await
        .unwrap();
    tx.commit().await.unwrap();
    report
}

#[tokio::test(flavor = "multi_thread")] // SEC-69 to SEC-73
async fn eight_writers_make_one_whole_chain() {
    const EACH: usize = 1_000;
    let house = house(
        "chain_writers",
        Wanted {
            workers: Vec::new(),
            ..Wanted::default()
        },
    )
    .await;
    let (fleet, guest) = (&house.stack.fleet, guest(&house));
    let writers = (0..8).map(|_| {
        let writer = append(
            fleet.store.clone(),
            house.casino().clone(),
            fleet.keys.clone(),
            guest,
            EACH,
        );
        tokio::spawn(writer)
    });
    try_join_all(writers).await.unwrap();
    let report = verify(&house, &guest).await;
    assert!(report.valid, "{report:?}");
    assert_eq!(report.chain_length, 8 * EACH as u64);
    assert_eq!(
        house
            .number("select count(*) from audit_log where action = 'consent_updated'")
            .await,
        8 * EACH as i64
    );
    house.stop().await;
}

#[tokio::test] // SEC-66, SEC-72, SEC-73
async fn what_is_changed_behind_our_back_is_found() {
    let house = house(
        "chain_tampered",
        Wanted {
            workers: Vec::new(),
            ..Wanted::default()
        },
    )
    .await;
    let fleet = &house.stack.fleet;
    let guest = guest(&house);
    append(
        fleet.store.clone(),
        house.casino().clone(),
        fleet.keys.clone(),
        guest,
        5,
    )
    .await;
    assert!(verify(&house, &guest).await.valid);
    let owner = PgPool::connect(&house.database_url).await.unwrap();
    for refused in [
        "update consent_events set event = event",
        "delete from consent_events",
        "truncate consent_events",
    ] {
        let error = sqlx::query(refused)
            .execute(&owner)
            .await
            .unwrap_err()
            .to_string();
        assert!(error.contains("append-only"), "{refused}: {error}");
    }
    // The table's owner can disable the trigger that refuses changes. Verification then finds the
    // change.
    for statement in [
        "alter table consent_events disable trigger all",
        "update consent_events set event = replace(event, '\"n\":2', '\"n\":7') where position = 2",
    ] {
        sqlx::query(statement).execute(&owner).await.unwrap();
    }
    let report = verify(&house, &guest).await;
    assert!(!report.valid && report.broken_links == [2], "{report:?}");
    for statement in [
        "update consent_events set event = replace(event, '\"n\":7', '\"n\":2') where position = 2",
        "delete from consent_events where position = 4",
    ] {
        sqlx::query(statement).execute(&owner).await.unwrap();
    }
    let report = verify(&house, &guest).await;
    assert!(
        !report.valid && format!("{:?}", report.head) == "Truncated",
        "{report:?}"
    );
    // The row of the chain's head is changed to match the truncated chain, but the seal in this row
    // is then wrong.
    sqlx::query("update consent_heads h set length = 4, head_hash = (select content_hash from consent_events e where e.position = 3)")
        .execute(&owner)
        .await
        .unwrap();
    let report = verify(&house, &guest).await;
    assert!(
        !report.valid && format!("{:?}", report.head) == "Forged",
        "{report:?}"
    );
    owner.close().await;
    house.stop().await;
}
