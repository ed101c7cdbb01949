//! Consent as guests give and withdraw it: by a written yes, by STOP and START, and through the
//! provider's own list of opt-outs (CONV-9, SMS-20, C-6, C-10).

use std::time::Duration;

use chrono::{TimeDelta, Utc};
use seven_carrier_sim::{Fault, Matcher, Plan, Rule, Text};

use crate::harness::{GUEST, House, Wanted, house, until};

async fn say(house: &House, so_far: &mut i64, text: &str) {
    house.text(GUEST, text);
    *so_far += 1;
    house.settle(*so_far).await;
}

async fn tier(house: &House) -> String {
    let pool = sqlx::PgPool::connect(&house.database_url).await.unwrap();
    let tier: String = sqlx::query_scalar("select consent_tier from guests")
        .fetch_one(&pool)
        .await
        .unwrap();
    pool.close().await;
    tier
}

async fn methods(house: &House) -> Vec<String> {
    let pool = sqlx::PgPool::connect(&house.database_url).await.unwrap();
    let methods =
        sqlx::query_scalar("select event::jsonb->>'method' from consent_events order by position")
            .fetch_all(&pool)
            .await
            .unwrap();
    pool.close().await;
    methods
}

#[tokio::test] // CONV-9, CONV-10, C-15, C-16, SMS-45, SEC-60, SEC-61
async fn a_yes_to_the_whole_wording_is_written_consent() {
    let (house, mut n) = (house("consent_yes", Wanted::default()).await, 0);
    // If we asked no opt-in question, a yes gives no consent.
    say(&house, &mut n, "yes").await;
    assert_eq!(
        (tier(&house).await.as_str(), methods(&house).await.len()),
        ("transactional", 0)
    );
    say(&house, &mut n, "SUBSCRIBE").await;
    assert!(
        house.said_to(GUEST).contains("not a condition of purchase"),
        "{}",
        house.said_to(GUEST)
    );
    assert_eq!(tier(&house).await, "transactional", "asking is not consent");
    say(&house, &mut n, "Yes!").await;
    assert_eq!(tier(&house).await, "marketing");
    assert_eq!(methods(&house).await, ["express_written"]);
    let evidence = "select count(*) from consent_events e, outbound_messages o
        where (event::jsonb->'metadata'->>'prompted_by_message_id')::uuid = o.outbound_id and o.kind = 'consent_prompt'
          and event::jsonb->'metadata'->>'wording' = o.body and event::jsonb->'metadata'->>'opt_in_raw_text' = 'Yes!'";
    assert_eq!(house.number(evidence).await, 1);
    // STOP ends the consent, and a later START does not restore it (SEC-13, SEC-15, C-9).
    say(&house, &mut n, "STOP").await;
    say(&house, &mut n, "START").await;
    assert_eq!(tier(&house).await, "transactional");
    assert_eq!(
        methods(&house).await,
        ["express_written", "sms_stop_keyword", "sms_start_keyword"]
    );
    house.stop().await;
}

#[tokio::test] // C-8: what was said since may be what the yes is about
async fn a_yes_after_something_else_is_no_consent() {
    let (house, mut n) = (house("consent_later", Wanted::default()).await, 0);
    say(&house, &mut n, "SUBSCRIBE").await;
    say(&house, &mut n, "What time is check-in?").await;
    say(&house, &mut n, "yes").await;
    assert_eq!(tier(&house).await, "transactional");
    house.stop().await;
}

fn at(house: &House, text: &str, event: &str, occurred_at: chrono::DateTime<Utc>) {
    let text = Text {
        from: GUEST.into(),
        text: Some(text.into()),
        event_id: Some(event.into()),
        message_id: Some(format!("message of {event}")),
        occurred_at: Some(occurred_at),
        ..Text::default()
    };
    house.stack.sim.text(text).unwrap();
}

#[tokio::test] // SMS-20, C-12: one START brings back who left in words, and so does saying so
async fn who_left_in_words_comes_back_with_one_start() {
    let house = house("consent_once", Wanted::default()).await;
    let now = Utc::now();
    for (n, (leaves, returns)) in [
        ("please stop texting me", "START"),
        ("dejen de enviarme mensajes", "text me again please"),
    ]
    .iter()
    .enumerate()
    {
        let minutes = |minutes: i64| now + TimeDelta::minutes(10 * n as i64 + minutes);
        at(&house, leaves, &format!("leave {n}"), minutes(0));
        house.settle(2 * n as i64 + 1).await;
        assert_eq!(
            house
                .number("select count(*) from suppressions where state = 'stopped'")
                .await,
            1,
            "{leaves}"
        );
        at(&house, returns, &format!("return {n}"), minutes(1));
        house.settle(2 * n as i64 + 2).await;
        assert_eq!(
            house
                .number("select count(*) from suppressions where state = 'opted_in'")
                .await,
            1,
            "{returns}"
        );
        assert!(
            house.said_to(GUEST).contains("welcome back"),
            "{}",
            house.said_to(GUEST)
        );
    }
    let methods = methods(&house).await;
    assert_eq!(
        methods,
        [
            "natural_language",
            "sms_start_keyword",
            "natural_language",
            "natural_language"
        ]
    );
    assert_eq!(tier(&house).await, "transactional");
    house.stop().await;
}

#[tokio::test] // D7: the provider's own verdict is the guest's word, whatever the text says
async fn the_providers_verdict_is_the_guests_word() {
    let house = house("consent_verdict", Wanted::default()).await;
    let now = Utc::now();
    let said = |text: &str, event: &str, verdict: &str, minutes: i64| {
        let text = Text {
            from: GUEST.into(),
            text: Some(text.into()),
            event_id: Some(event.into()),
            message_id: Some(format!("message of {event}")),
            occurred_at: Some(now + TimeDelta::minutes(minutes)),
            autoresponse: Some(verdict.into()),
            ..Text::default()
        };
        house.stack.sim.text(text).unwrap();
    };
    said("bye", "leave", "opt_out", 0);
    house.settle(1).await;
    let stopped = "select count(*) from suppressions where state = 'stopped' and method = 'sms_stop_keyword' and provider_knows";
    assert_eq!(house.number(stopped).await, 1);
    assert_eq!(house.texts_to(GUEST).len(), 0, "the provider answered");
    said("YES", "return", "START", 1);
    house.settle(2).await;
    assert_eq!(
        house
            .number("select count(*) from suppressions where state = 'opted_in'")
            .await,
        1
    );
    at(
        &house,
        "What time is check-in?",
        "question",
        now + TimeDelta::minutes(2),
    );
    house.settle(3).await;
    assert!(
        house.said_to(GUEST).contains('4'),
        "{}",
        house.said_to(GUEST)
    );
    house.stop().await;
}

#[tokio::test] // C-6, C-10: the provider knows of an opt-out that we do not
async fn the_providers_opt_out_becomes_ours() {
    let house = house("consent_40300", Wanted::default()).await;
    let rule = Rule {
        matcher: Matcher::default(),
        fault: Fault::Error("40300".into()),
        times: Some(1),
    };
    house
        .stack
        .sim
        .set_rules(Plan {
            rules: vec![rule],
            ..Plan::default()
        })
        .unwrap();
    house.text(GUEST, "What time is check-in?");
    house.settle(1).await;
    assert_eq!(house.texts_to(GUEST).len(), 0);
    assert_eq!(
        house.number("select count(*) from suppressions where state = 'stopped' and method = 'provider_block'").await,
        1
    );
    assert_eq!(methods(&house).await, ["provider_block"]);
    house.text(GUEST, "hello?");
    house.settle(2).await;
    assert_eq!(
        house.texts_to(GUEST).len(),
        0,
        "suppressed like any other opt-out"
    );
    house.stop().await;
}

#[tokio::test] // C-6, C-10: back with a word the provider does not know
async fn a_guest_the_provider_still_blocks_is_known_as_such() {
    let (house, mut n) = (house("consent_blocked", Wanted::default()).await, 0);
    say(&house, &mut n, "STOP").await;
    let rule = Rule {
        matcher: Matcher::default(),
        fault: Fault::Error("40300".into()),
        times: Some(1),
    };
    house
        .stack
        .sim
        .set_rules(Plan {
            rules: vec![rule],
            ..Plan::default()
        })
        .unwrap();
    for text in ["iniciar", "What time is check-in?"] {
        say(&house, &mut n, text).await;
    }
    assert_eq!(
        house
            .number(
                "select count(*) from suppressions where state = 'opted_in' and provider_blocked"
            )
            .await,
        1
    );
    // We try one text. After the provider refuses it, no other text is tried, and a person at the
    // casino is told.
    assert_eq!(
        house
            .number("select count(*) from send_attempts where error_code = '40300'")
            .await,
        1
    );
    assert_eq!(
        house
            .number("select count(*) from outbound_messages where reason = 'provider_blocked'")
            .await,
        1
    );
    assert_eq!(
        house
            .number("select count(*) from escalations where reason = 'provider_blocks_guest'")
            .await,
        1
    );
    // The provider knows START and lifts its block. We then lift ours, too.
    say(&house, &mut n, "START").await;
    assert_eq!(
        house
            .number("select count(*) from suppressions where provider_blocked")
            .await,
        0
    );
    say(&house, &mut n, "What time is check-in?").await;
    assert!(
        house.said_to(GUEST).contains("4"),
        "{}",
        house.said_to(GUEST)
    );
    house.stop().await;
}

#[tokio::test] // C-10: 40300 about an old call never overwrites a newer word
async fn a_late_40300_changes_nothing() {
    let house = house("consent_late", Wanted::default()).await;
    let rule = Rule {
        matcher: Matcher::default(),
        fault: Fault::FinalizedError("40300".into()),
        times: Some(1),
    };
    house
        .stack
        .sim
        .set_rules(Plan {
            rules: vec![rule],
            ..Plan::default()
        })
        .unwrap();
    // The guest's START is newer than the send attempt whose receipt says "opted out".
    at(&house, "START", "start", Utc::now() + TimeDelta::hours(1));
    house.settle(1).await;
    until("the receipt is filed", Duration::from_secs(10), || async {
        house
            .number("select count(*) from receipts where error_code = '40300'")
            .await
            == 1
    })
    .await;
    assert_eq!(
        house
            .number("select count(*) from suppressions where state = 'opted_in'")
            .await,
        1
    );
    assert_eq!(
        methods(&house).await,
        Vec::<String>::new(),
        "nothing was revoked"
    );
    house.stop().await;
}
