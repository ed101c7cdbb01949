//! Proactive texts wait for the guest's sending window and are sent when it opens. A text that
//! expires before the window opens ends with a reason (D6, D13, D15).

use std::time::Duration;

use chrono::{DateTime, Utc};
use seven_compliance::chain::Action;
use seven_domain::{Channel, ConsentTier, MaterialChange, MessageClass, OutboundId, PhoneE164};
use seven_store::{
    consent::Consent,
    guests::{GuestLaw, NewIds},
    outbound::{NewOutbound, Origin},
};

use crate::harness::{GUEST, House, Wanted, house, until};

/// Queues a text to a guest in Connecticut, where texts are allowed from 9:00 to 20:00. The guest
/// has consented to marketing.
async fn queue(house: &House, class: MessageClass, useful_for: Duration) -> OutboundId {
    let fleet = &house.stack.fleet;
    let phone: PhoneE164 = GUEST.parse().unwrap();
    let guest = fleet.keys.hash(house.casino(), &phone);
    let new = NewIds {
        guest: fleet.ids.next(),
        conversation: fleet.ids.next(),
    };
    let mut tx = fleet.store.bind(house.casino()).await.unwrap();
    tx.replace_exclusions(&[], "test").await.unwrap();
    let number = &house.config.operational.telnyx_phone_number;
    let party = tx
        .party(
            &phone,
            &guest,
            number,
            Channel::Sms,
            new,
            &GuestLaw::default(),
        )
        .await
        .unwrap();
    let consent = Consent {
        guest: &guest,
        guest_id: Some(party.guest_id),
        action: Action::Granted,
        method: "web_form",
        tier: ConsentTier::Marketing,
        at: fleet.clock.now(),
        evidence: serde_json::json!({}),
        actor: "test",
        trace: None,
    };
    tx.record_consent(&consent, &fleet.keys).await.unwrap();
    let outbound_id: OutboundId = fleet.ids.next();
    let text = NewOutbound::new(
        outbound_id,
        party.recipient(),
        Origin::Canned {
            inbound: fleet.ids.next(),
            key: "test",
        },
        class,
        "Two for one at the grill tonight.".into(),
        useful_for,
    );
    let queued: Vec<_> = tx.queue(&text).await.unwrap().into_iter().collect();
    tx.commit().await.unwrap();
    fleet
        .signal_queued(house.casino(), &queued, None, "")
        .await
        .unwrap();
    outbound_id
}

const HOUR: Duration = Duration::from_secs(3_600);

fn at(at: &'static str) -> Wanted {
    Wanted {
        at: Some(at),
        ..Wanted::default()
    }
}

#[tokio::test] // SMS-32, SEC-57, C-8, D13
async fn a_text_of_the_night_goes_out_when_the_window_opens() {
    // Starts twelve seconds before 9:00 in Connecticut, because a slow machine needs time to start.
    // The state's 9:00 applies, not the casino's 8:00.
    let house = house("windows_wait", at("2026-01-14T13:59:48Z")).await;
    queue(&house, MessageClass::Marketing, 12 * HOUR).await;
    until("the text waits", Duration::from_secs(5), || async {
        house.number("select count(*) from outbound_messages where state = 'queued' and reason = 'quiet_hours'").await
            == 1
    })
    .await;
    assert_eq!(house.texts_to(GUEST).len(), 0);
    assert_eq!(
        house
            .number("select count(*) from due where kind = 'send'")
            .await,
        1
    );
    until("the window opens", Duration::from_secs(30), || async {
        house.texts_to(GUEST).len() == 1
    })
    .await;
    let nine: DateTime<Utc> = "2026-01-14T14:00:00Z".parse().unwrap();
    assert!(house.stack.fleet.clock.property_now() >= nine);
    house.stop().await;
}

#[tokio::test] // D13: unless its reason has lapsed
async fn a_text_that_lapses_before_the_window_ends_with_a_reason() {
    let house = house("windows_lapse", at("2026-01-14T03:00:00Z")).await;
    queue(&house, MessageClass::Marketing, 2 * HOUR).await;
    until("the text ends", Duration::from_secs(5), || async {
        house
            .number("select count(*) from outbound_messages where state = 'expired' and reason = 'reason_lapsed'")
            .await
            == 1
    })
    .await;
    assert_eq!(house.texts_to(GUEST).len(), 0);
    house.stop().await;
}

#[tokio::test] // C-8b, C-37: answers pass at any hour
async fn a_guest_who_texts_at_night_is_answered() {
    let house = house("windows_reply", at("2026-01-14T03:00:00Z")).await;
    house.text(GUEST, "What time is check-in?");
    house.settle(1).await;
    assert_eq!(house.texts_to(GUEST).len(), 1);
    house.stop().await;
}

#[tokio::test] // D6: what waits for the morning does not keep the guest from an answer
async fn an_answer_overtakes_a_deferred_text() {
    let house = house("windows_overtake", at("2026-01-14T03:00:00Z")).await;
    queue(&house, MessageClass::Marketing, 24 * HOUR).await;
    until("it waits", Duration::from_secs(5), || async {
        house
            .number("select count(*) from due where kind = 'send'")
            .await
            == 1
    })
    .await;
    house.text(GUEST, "What time is check-in?");
    until("the answer", Duration::from_secs(10), || async {
        house.said_to(GUEST).contains("4pm")
    })
    .await;
    assert_eq!(
        house
            .number("select count(*) from outbound_messages where state = 'queued'")
            .await,
        1
    );
    house.stop().await;
}

#[tokio::test] // SEC-19, SEC-92: a STOP drains what waits for the morning, counted
async fn stop_drains_deferred_texts() {
    let house = house("windows_stop", at("2026-01-14T03:00:00Z")).await;
    for _ in 0..3 {
        queue(&house, MessageClass::Informational, 24 * HOUR).await;
    }
    until("all wait", Duration::from_secs(5), || async {
        house
            .number("select count(*) from due where kind = 'send'")
            .await
            == 3
    })
    .await;
    house.text(GUEST, "STOP");
    house.settle_within(1, Duration::from_secs(20)).await;
    assert_eq!(
        house
            .number("select count(*) from outbound_messages where state = 'suppressed' and reason = 'guest_opted_out'")
            .await,
        3
    );
    let counted = "select (detail->'evidence'->>'texts_cancelled')::bigint from audit_log where action = 'consent_revoked'";
    assert_eq!(house.number(counted).await, 3);
    assert_eq!(house.texts_to(GUEST).len(), 1, "the confirmation");
    house.stop().await;
}

#[tokio::test] // SEC-49, SEC-51, SEC-52, SEC-53, C-16
async fn the_disclosure_is_made_per_session_and_when_something_changed() {
    let house = house("windows_disclose", Wanted::default()).await;
    let opening = "AI host at";
    let pool = sqlx::PgPool::connect(&house.database_url).await.unwrap();
    for (sent, text) in (1..).zip(["What time is check-in?", "And check-out?"]) {
        house.text(GUEST, text);
        house.settle(sent).await;
    }
    let texts = house.texts_to(GUEST);
    assert!(
        texts[0].contains(opening) && !texts[1..].concat().contains(opening),
        "{texts:#?}"
    );
    // After two days of silence a new session begins, which needs its own disclosure.
    sqlx::query("update conversations set last_inbound_at = last_inbound_at - interval '49 hours'")
        .execute(&pool)
        .await
        .unwrap();
    house.text(GUEST, "Is there parking?");
    house.settle(3).await;
    assert!(house.texts_to(GUEST)[2..].concat().contains(opening));
    // A new behaviour model is a material change, about which every guest is told once.
    let mut tx = house.stack.fleet.store.bind(house.casino()).await.unwrap();
    assert_eq!(
        tx.redisclose_all(MaterialChange::BehaviorModel)
            .await
            .unwrap(),
        1
    );
    tx.commit().await.unwrap();
    let before = house.texts_to(GUEST).len();
    for (sent, text) in (4..).zip(["Is there a spa?", "And a gym?"]) {
        house.text(GUEST, text);
        house.settle(sent).await;
    }
    let texts = house.texts_to(GUEST)[before..].to_vec();
    assert!(texts[0].contains("A quick note"), "{texts:#?}");
    assert!(!texts[1..].concat().contains("A quick note"), "{texts:#?}");
    assert_eq!(
        house
            .number("select count(*) from audit_log where action = 'ai_disclosure_delivered'")
            .await,
        2
    );
    assert_eq!(
        house
            .number("select count(*) from audit_log where action = 'ai_redisclosure_delivered'")
            .await,
        1
    );
    pool.close().await;
    house.stop().await;
}
