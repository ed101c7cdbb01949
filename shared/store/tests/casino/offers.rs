//! Tests of offers on a real Postgres. An offer is written once per turn and item. It belongs to
//! one casino. When its guest is deleted, the offer stays without the guest.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::json;
use seven_domain::{
    AuditEvent, CasinoId, Clock, GuestHash, GuestId, HashKeys, IdSource, Language, MessageClass,
    Offer, OfferCall, OfferStatus, OfferTier, TurnId,
};
use seven_store::{
    Store, audit,
    turns::{Kept, NewTurn},
};

use crate::house;

const PHONE: &str = "+18605550143";

/// A guest of one casino who had one turn.
struct Had {
    store: Store,
    casino: CasinoId,
    guest: GuestId,
    hash: GuestHash,
    turn: TurnId,
    keys: HashKeys,
    now: DateTime<Utc>,
}

async fn had(name: &str) -> Had {
    let house = house::house(&format!("offers_{name}")).await;
    let casino = house.config.casino_id.clone();
    let mut tx = house.store.bind(&casino).await.unwrap();
    let (party, hash) = house.party(&mut tx, PHONE).await;
    let lease = tx
        .lease(party.conversation_id, Duration::from_secs(15))
        .await
        .unwrap()
        .unwrap();
    let (turn, now) = (house.ids.next(), "2026-11-22T15:00:00Z".parse().unwrap());
    let written = NewTurn {
        turn_id: turn,
        conversation_id: party.conversation_id,
        guest_id: party.guest_id,
        epoch: lease.epoch,
        agent: "comp".into(),
        model: "offline".into(),
        intent: "promotions".into(),
        language: Language::En,
        verdict: "pass".into(),
        draft: "A treat for you.".into(),
        disclosure: None,
        sources: Vec::new(),
        grounded: true,
        class: MessageClass::Reply,
        newest_text_at: now,
        trace: String::new(),
        record: json!({}),
    };
    assert!(
        tx.commit_turn(&written, &[], Kept::default())
            .await
            .unwrap()
            .is_some()
    );
    tx.commit().await.unwrap();
    Had {
        store: house.store,
        casino,
        guest: party.guest_id,
        hash,
        turn,
        keys: house.keys,
        now,
    }
}

fn offer(had: &Had, item: &str) -> Offer {
    Offer {
        id: IdSource::default().next(),
        turn: had.turn,
        item: item.into(),
        tier: OfferTier::Dining,
        dollars: 10,
        status: OfferStatus::Issued,
        issued_at: had.now,
        expires_at: had.now + TimeDelta::days(7),
        redeemed_at: None,
    }
}

#[tokio::test] // CONV-35, CONV-36, D4, D9
async fn an_offer_is_written_once_and_used_once() {
    let had = had("once").await;
    let made = offer(&had, "promotions_001");
    let mut tx = had.store.bind(&had.casino).await.unwrap();
    assert!(tx.issue(&made).await.unwrap());
    assert!(!tx.issue(&made).await.unwrap(), "a turn that is repeated");
    assert!(
        !tx.issue(&Offer {
            id: IdSource::default().next(),
            ..made.clone()
        })
        .await
        .unwrap(),
        "one per turn and item"
    );
    assert!(tx.issue(&offer(&had, "promotions_002")).await.unwrap());
    tx.commit().await.unwrap();

    let mut tx = had.store.bind(&had.casino).await.unwrap();
    let offers = tx.offers_of(had.guest).await.unwrap();
    assert!(offers.len() == 2 && offers.contains(&made), "{offers:?}");
    let issued = tx.issued().await.unwrap();
    assert_eq!(
        issued,
        [
            ("promotions_001".to_owned(), 1),
            ("promotions_002".to_owned(), 1)
        ]
        .into()
    );
    let later = had.now + TimeDelta::hours(1);
    assert!(
        !tx.redeem(GuestId(had.turn.0), made.id, later)
            .await
            .unwrap(),
        "somebody else's"
    );
    assert!(
        !tx.redeem(had.guest, made.id, made.expires_at)
            .await
            .unwrap(),
        "too late"
    );
    assert!(tx.redeem(had.guest, made.id, later).await.unwrap());
    assert!(
        !tx.redeem(had.guest, made.id, later).await.unwrap(),
        "used already"
    );
    let used = tx
        .offers_of(had.guest)
        .await
        .unwrap()
        .into_iter()
        .find(|offer| offer.id == made.id)
        .unwrap();
    assert_eq!(
        (used.status, used.redeemed_at),
        (OfferStatus::Redeemed, Some(later))
    );
    tx.commit().await.unwrap();

    let other: CasinoId = "other_house".parse().unwrap();
    let mut tx = had.store.bind(&other).await.unwrap();
    assert!(
        tx.offers_of(had.guest).await.unwrap().is_empty() && tx.issued().await.unwrap().is_empty()
    );
    assert!(
        tx.issue(&offer(&had, "promotions_003")).await.is_err(),
        "a turn of another casino is no turn"
    );
}

#[tokio::test] // AGENT-46, SEC-62
async fn calls_about_offers_are_audited_without_the_guests_words() {
    let had = had("audit").await;
    let call = |tool: &str, refusal: Option<&str>| OfferCall {
        tool: tool.into(),
        items: vec!["promotions_001".into()],
        offers: Vec::new(),
        refusal: refusal.map(str::to_owned),
        completeness: 40,
        millis: 1,
    };
    let calls = [
        call("get_eligible_offers", None),
        call("create_offer", Some("daily_cap")),
    ];
    let mut tx = had.store.bind(&had.casino).await.unwrap();
    tx.audit_offer_calls(had.turn, Some(&had.hash), &calls, "trace")
        .await
        .unwrap();
    let query = audit::Query {
        events: vec![AuditEvent::CompToolCall],
        limit: 10,
        ..audit::Query::default()
    };
    let rows = tx.audit_entries(&query).await.unwrap();
    assert_eq!(rows.len(), 2);
    let refused = rows
        .iter()
        .find(|row| row.detail["tool"] == "create_offer")
        .unwrap();
    assert_eq!(
        (&refused.detail["refusal"], &refused.detail["completeness"]),
        (&json!("daily_cap"), &json!(40))
    );
    assert_eq!(
        (refused.subject.clone(), refused.guest_hash.clone()),
        (had.turn.to_string(), Some(had.hash.tag()))
    );
}

#[tokio::test] // SEC-76, SEC-77, DATA-57
async fn a_forgotten_guests_offer_is_told_and_then_nobodys() {
    let had = had("forgotten").await;
    let id = IdSource::default().uuid();
    let mut tx = had.store.bind(&had.casino).await.unwrap();
    tx.issue(&offer(&had, "promotions_001")).await.unwrap();
    let told = tx.export_guest(&had.hash).await.unwrap();
    assert_eq!(
        (&told["offers"][0]["offer"], &told["offers"][0]["dollars"]),
        (&json!("promotions_001"), &json!(10))
    );
    tx.request_deletion(id, &had.hash, had.guest, "guest", had.now, Duration::ZERO)
        .await
        .unwrap();
    let deletion = tx.deletion(id).await.unwrap().unwrap();
    assert!(tx.start_deletion(id, had.guest.0).await.unwrap().is_some());
    let counts = tx
        .erase(
            &deletion,
            &had.hash,
            Some(PHONE),
            had.now,
            &json!({}),
            &had.keys,
        )
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        (&counts["offers_unlinked"], &counts["guests"]),
        (&json!(1), &json!(1))
    );
    assert!(tx.offers_of(had.guest).await.unwrap().is_empty());
    assert_eq!(
        tx.issued().await.unwrap(),
        [("promotions_001".to_owned(), 1)].into(),
        "it was given out all the same"
    );
}

#[tokio::test] // DATA-54
async fn what_ended_expires_and_goes() {
    let had = had("retention").await;
    let ended = |days: i64| {
        let now = Clock::default().now();
        Offer {
            issued_at: now - TimeDelta::days(days + 7),
            expires_at: now - TimeDelta::days(days),
            ..offer(&had, &format!("ended_{days}"))
        }
    };
    let open = Offer {
        issued_at: Clock::default().now(),
        expires_at: Clock::default().now() + TimeDelta::days(1),
        ..offer(&had, "open")
    };
    let mut tx = had.store.bind(&had.casino).await.unwrap();
    for offer in [ended(1), ended(400), open] {
        assert!(tx.issue(&offer).await.unwrap());
    }
    let counts = tx.apply_retention(180, 365).await.unwrap();
    assert_eq!(
        (&counts["offers_expired"], &counts["offers"]),
        (&json!(2), &json!(1))
    );
    let left = tx.offers_of(had.guest).await.unwrap();
    let left: Vec<_> = left
        .iter()
        .map(|offer| (offer.item.as_str(), offer.status))
        .collect();
    assert_eq!(
        left,
        [
            ("ended_1", OfferStatus::Expired),
            ("open", OfferStatus::Issued)
        ]
    );
}
