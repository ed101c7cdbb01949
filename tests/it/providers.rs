//! Providers that refuse, are parked or are stopped (SMS-39..41, PROD-22). Texts wait in their
//! order and are sent once, or end with the reason for which they waited.

use std::time::Duration;

use seven_carrier_sim::{Fault, Matcher, Plan, Rule, Text};
use seven_domain::CasinoId;
use seven_outbound_sender::stops;
use seven_store::providers::{NewStop, OPERATOR, Stop};

use crate::harness::{GUEST, House, Wanted, house, until};

const QUESTION: &str = "where is nonna salvia?";
const STATE_TIMEOUT: Duration = Duration::from_secs(30);

async fn open_house(name: &str) -> House {
    house(
        name,
        Wanted {
            at: Some("2026-11-24T08:30:00Z"),
            ..Wanted::default()
        },
    )
    .await
}

fn always(fault: Fault) -> Plan {
    Plan {
        rules: vec![Rule {
            matcher: Matcher::default(),
            fault,
            times: None,
        }],
        ..Plan::default()
    }
}

fn account(code: &str) -> Plan {
    Plan {
        account_error: Some(code.to_owned()),
        ..Plan::default()
    }
}

async fn waits(house: &House, reason: &'static str) {
    until(
        &format!("a text waits as {reason}"),
        STATE_TIMEOUT,
        || async { reasons(house, "queued").await == [reason] },
    )
    .await;
}

async fn reasons(house: &House, state: &str) -> Vec<String> {
    let pool = sqlx::PgPool::connect(&house.database_url).await.unwrap();
    let reasons = sqlx::query_scalar(
        "select distinct reason from outbound_messages where state = $1 and reason is not null order by 1",
    )
    .bind(state)
    .fetch_all(&pool)
    .await
    .unwrap();
    pool.close().await;
    reasons
}

async fn run_sql(house: &House, statement: &'static str) {
    let pool = sqlx::PgPool::connect(&house.database_url).await.unwrap();
    sqlx::query(statement).execute(&pool).await.unwrap();
    pool.close().await;
}

fn refused(house: &House) -> usize {
    house.stack.sim.ledger().snapshot().refused.len()
}

#[tokio::test] // PROD-22
async fn a_spend_limit_parks_its_casino_and_no_other() {
    let house = open_house("prov_spend").await;
    let mut other = house.config.clone();
    other.casino_id = "silver_birch_two".parse::<CasinoId>().unwrap();
    other.operational.telnyx_phone_number = "+18605550101".parse().unwrap();
    seven::onboard::add_casino(&house.stack.fleet, &other, "test")
        .await
        .unwrap();
    let content = seven_packs::demo::CONTENT;
    seven::onboard::load_content(
        &house.stack.fleet,
        &other.casino_id,
        "content.json",
        content,
        "test",
    )
    .await
    .unwrap();
    let only = Matcher {
        to: Some(GUEST.to_owned()),
        ..Matcher::default()
    };
    let limit = Rule {
        matcher: only,
        fault: Fault::Error("40333".into()),
        times: Some(1),
    };
    house
        .stack
        .sim
        .set_rules(Plan {
            rules: vec![limit],
            ..Plan::default()
        })
        .unwrap();
    house.text(GUEST, QUESTION);
    waits(&house, "sending_parked").await;
    let parks = house.stack.fleet.store.provider_stops().await.unwrap();
    assert_eq!(
        (
            parks.len(),
            parks[0].casino_id.as_str(),
            parks[0].error_code.as_str()
        ),
        (1, "silver_birch", "40333")
    );
    let guest = "+18605550143";
    let text = Text {
        to: Some("+18605550101".into()),
        text: Some(QUESTION.into()),
        from: guest.into(),
        ..Text::default()
    };
    house.stack.sim.text(text).unwrap();
    until(
        "the other casino's guest is answered",
        STATE_TIMEOUT,
        || async { !house.texts_to(guest).is_empty() },
    )
    .await;
    // The park ends by itself, without an operator, and the text is sent.
    until("the text is delivered", STATE_TIMEOUT, || async {
        house.count("outbound", "delivered").await == 2
    })
    .await;
    assert_eq!(
        (house.texts_to(GUEST).len(), refused(&house)),
        (1, 1),
        "asked once, sent once"
    );
    // When the park is over, it holds no text. Its row is deleted at the next check of the
    // providers.
    let stops = async || house.stack.fleet.store.provider_stops().await.unwrap();
    until("its row is gone", STATE_TIMEOUT, || async {
        stops().await.is_empty()
    })
    .await;
    house.stop().await;
}

#[tokio::test] // SMS-41, PROD-22
async fn a_dead_key_stops_the_fleet_until_the_probe_succeeds() {
    let house = open_house("prov_key").await;
    house.stack.sim.set_rules(account("10009")).unwrap();
    house.text(GUEST, QUESTION);
    waits(&house, "provider_stopped").await;
    let stops = house.stack.fleet.store.provider_stops().await.unwrap();
    assert_eq!(
        (stops[0].provider.as_str(), stops[0].casino_id.as_str()),
        ("telnyx", "")
    );
    // Further texts cause no call to the provider, and the probes fail.
    let asked = refused(&house);
    house.text("+18605550143", QUESTION);
    until("both wait", STATE_TIMEOUT, || async {
        house.count("outbound", "queued").await == 2
    })
    .await;
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    assert_eq!(refused(&house), asked);
    assert_eq!(house.count("outbound", "failed").await, 0);
    house.stack.sim.set_rules(Plan::default()).unwrap();
    until("both are delivered", STATE_TIMEOUT, || async {
        house.count("outbound", "delivered").await == 2
    })
    .await;
    assert_eq!(house.texts_to(GUEST).len(), 1);
    assert_eq!(house.count("dead", "open").await, 0);
    let audited =
        "select count(*) from audit_log where action in ('sending_stopped', 'sending_resumed')";
    assert_eq!(house.number(audited).await, 2);
    house.stop().await;
}

#[tokio::test] // SMS-41: a person's stop is a person's to lift
async fn an_operators_stop_is_neither_overwritten_nor_lifted() {
    let house = open_house("prov_operator").await;
    let (fleet, provider) = (&house.stack.fleet, "telnyx");
    house.stack.sim.set_rules(account("10009")).unwrap();
    house.text(GUEST, QUESTION);
    waits(&house, "provider_stopped").await;
    assert!(
        stops::halt(fleet, provider, None, "Robin", "they told us")
            .await
            .unwrap(),
        "it takes the probe's place"
    );
    assert!(
        !stops::halt(fleet, provider, None, "Kim", "me too")
            .await
            .unwrap(),
        "it stands already"
    );
    // The key works again and then fails again; neither changes Robin's stop.
    house.stack.sim.set_rules(Plan::default()).unwrap();
    let dead_key = NewStop {
        provider,
        casino: None,
        error_code: "10009",
        lasts: None,
        probe_after: Some(Duration::ZERO),
        actor: "outbound-sender",
    };
    assert!(!fleet.store.stop_provider(&dead_key).await.unwrap());
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    let standing = fleet.store.provider_stops().await.unwrap();
    assert_eq!(
        (standing.len(), standing[0].error_code.as_str()),
        (1, OPERATOR)
    );
    assert!(
        !fleet
            .store
            .lift_stop(&Stop {
                error_code: "10009".into(),
                ..standing[0].clone()
            })
            .await
            .unwrap()
    );
    assert_eq!(
        (
            house.count("outbound", "queued").await,
            house.texts_to(GUEST).len()
        ),
        (1, 0)
    );
    assert_eq!(
        stops::release(fleet, Some(provider), None, "Robin", "over")
            .await
            .unwrap()
            .len(),
        1
    );
    until("the text is delivered", STATE_TIMEOUT, || async {
        house.count("outbound", "delivered").await == 1
    })
    .await;
    house.stop().await;
}

#[tokio::test] // SMS-41
async fn funds_are_probed_by_the_balance_and_an_operator_may_be_faster() {
    let house = open_house("prov_funds").await;
    house.stack.sim.set_rules(account("20100")).unwrap();
    house.text(GUEST, QUESTION);
    waits(&house, "provider_stopped").await;
    tokio::time::sleep(Duration::from_millis(1_200)).await;
    assert_eq!(
        house
            .stack
            .fleet
            .store
            .provider_stops()
            .await
            .unwrap()
            .len(),
        1,
        "the key is right, the account is empty"
    );
    // Without probes, only the operator can lift the stop.
    run_sql(&house, "update provider_stops set probe_at = null").await;
    house.stack.sim.set_rules(Plan::default()).unwrap();
    let lifted = stops::release(&house.stack.fleet, Some("telnyx"), None, "test", "paid")
        .await
        .unwrap();
    assert_eq!(lifted.len(), 1);
    until("the text is delivered", STATE_TIMEOUT, || async {
        house.count("outbound", "delivered").await == 1
    })
    .await;
    house.stop().await;
}

#[tokio::test] // SMS-41
async fn what_became_stale_meanwhile_ends_with_the_reason_why_it_waited() {
    let house = open_house("prov_stale").await;
    house.stack.sim.set_rules(account("10009")).unwrap();
    house.text(GUEST, QUESTION);
    waits(&house, "provider_stopped").await;
    run_sql(
        &house,
        "update outbound_messages set useful_until = now() + interval '1 second'",
    )
    .await;
    until("the text ended", STATE_TIMEOUT, || async {
        house.count("outbound", "expired").await == 1
    })
    .await;
    assert_eq!(reasons(&house, "expired").await, ["provider_stopped"]);
    assert!(house.texts_to(GUEST).is_empty());
    house.stop().await;
}

#[tokio::test]
async fn a_code_nobody_knows_is_not_tried_again() {
    let house = open_house("prov_unknown").await;
    house
        .stack
        .sim
        .set_rules(always(Fault::Error("49999".into())))
        .unwrap();
    house.text(GUEST, QUESTION);
    until("the text failed", STATE_TIMEOUT, || async {
        house.count("outbound", "failed").await == 1
    })
    .await;
    assert_eq!(refused(&house), 1);
    let raised = seven_telemetry::metrics()
        .alerts
        .with_label_values(&["provider_code_unknown", "telnyx"])
        .get();
    assert!(raised >= 1);
    house.stop().await;
}
