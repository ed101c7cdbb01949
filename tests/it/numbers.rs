//! Tests numbers that change owner (D40). A casino gets another number, and another casino gets the
//! old one. A STOP to the old number must reach the right casinos.

mod hand_over;

use std::time::Duration;

use seven::onboard;
use seven_carrier_sim::Text;
use seven_domain::{
    CasinoConfig,
    config::{LegalSender, Revocation, Scope},
};
use seven_scheduler::reconcile::{How, reconcile};

use crate::{
    harness::{GUEST, House, Wanted, house, until},
    webhook::caller::{Answer, Caller},
};

const OLD: &str = "+18605550100";
const NEW: &str = "+18605550101";
const OTHER_GUEST: &str = "+18605550143";
const TAKER: &str = "rose_court";

/// Returns the casino's document with the number `NEW`.
fn moved(house: &House) -> CasinoConfig {
    let mut config = house.config.clone();
    config.operational.telnyx_phone_number = NEW.parse().unwrap();
    config
}

async fn add(house: &House, config: &CasinoConfig) {
    let fleet = &house.stack.fleet;
    onboard::add_casino(fleet, config, "test").await.unwrap();
    let content = seven_packs::demo::CONTENT;
    onboard::load_content(fleet, &config.casino_id, "content.json", content, "test")
        .await
        .unwrap();
}

/// Returns the document of another casino that takes over the number.
fn taker(house: &House, number: &str) -> CasinoConfig {
    let mut config = house.config.clone();
    config.casino_id = TAKER.parse().unwrap();
    config.operational.telnyx_phone_number = number.parse().unwrap();
    config
}

/// Sends a guest's text to one of the numbers. Returns the texts that the guest then got, each with
/// the number that sent it.
async fn say(
    house: &House,
    stored: &mut i64,
    (from, to): (&str, &str),
    text: &str,
) -> Vec<(String, String)> {
    let before = house.sent_to(from).len();
    let text = Text {
        from: from.to_owned(),
        to: Some(to.to_owned()),
        text: Some(text.to_owned()),
        ..Text::default()
    };
    house.stack.sim.text(text).unwrap();
    *stored += 1;
    house.settle(*stored).await;
    let sent = house.sent_to(from).split_off(before);
    sent.into_iter()
        .map(|sent| (sent.from.unwrap_or_default(), sent.text.unwrap_or_default()))
        .collect()
}

async fn stopped_at(house: &House, casino: &str) -> i64 {
    let query = format!(
        "select count(*) from suppressions where state = 'stopped' and casino_id = '{casino}'"
    );
    house.number(&query).await
}

/// Returns how many texts this casino has stored.
async fn stored_at(house: &House, casino: &str) -> i64 {
    let query = format!("select count(*) from inbound_messages where casino_id = '{casino}'");
    house.number(&query).await
}

async fn nothing_due(house: &House) {
    until(
        "STOPs were carried on",
        Duration::from_secs(20),
        async || {
            house
                .number("select count(*) from due where kind = 'stop_reach'")
                .await
                == 0
        },
    )
    .await;
}

#[tokio::test] // D40, D7: a retired number still hears, and nothing leaves from it
async fn guests_of_a_retired_number_are_answered_from_the_present_one() {
    let (house, mut n) = (house("numbers_moved", Wanted::default()).await, 0);
    let first = say(&house, &mut n, (GUEST, OLD), "Is the pool open?").await;
    assert!(first.iter().all(|(from, _)| from == OLD), "{first:?}");
    add(&house, &moved(&house)).await;
    let answer = say(&house, &mut n, (GUEST, OLD), "And what time is check-in?").await;
    assert!(
        answer.len() > 1 && answer.iter().all(|(from, _)| from == NEW),
        "{answer:?}"
    );
    let notices = |texts: &[(String, String)]| {
        texts
            .iter()
            .filter(|(_, text)| text.contains("new number"))
            .count()
    };
    assert_eq!(notices(&answer), 1, "{answer:?}");
    let again = say(&house, &mut n, (GUEST, OLD), "HELP").await;
    assert_eq!(
        (again.len(), notices(&again)),
        (1, 0),
        "told once: {again:?}"
    );
    // A STOP to the old number stops all texts of the casino. The guest gets only the confirmation.
    let other = say(&house, &mut n, (OTHER_GUEST, OLD), "STOP").await;
    assert_eq!(other.len(), 1, "{other:?}");
    assert!(
        other[0].0 == NEW && other[0].1.contains("unsubscribed"),
        "{other:?}"
    );
    let stop = say(&house, &mut n, (GUEST, OLD), "STOP").await;
    assert!(stop.len() == 1 && stop[0].0 == NEW, "{stop:?}");
    assert_eq!(stopped_at(&house, house.casino().as_str()).await, 2);
    assert_eq!(house.number("select count(*) from dead_letters").await, 0);
    house.stop().await;
}

#[tokio::test] // D40, D9: the one case where a STOP reaches another casino's guest
async fn a_stop_on_a_number_that_was_handed_on_ends_the_former_casinos_texts_too() {
    let (house, mut n) = (house("numbers_handed_on", Wanted::default()).await, 0);
    say(&house, &mut n, (GUEST, OLD), "Is the pool open?").await;
    let sent = house.sent_to(GUEST).remove(0);
    add(&house, &moved(&house)).await;
    let taker = taker(&house, OLD);
    add(&house, &taker).await;
    let (former, of_today) = (house.casino().as_str().to_owned(), TAKER);
    // Two days after the hand-over, a guest sends STOP whom the former casino never texted. The
    // STOP concerns only the new casino.
    let aged = "with aged as (update routes set since = since - interval '2 days' returning 1)
        select count(*) from aged";
    assert!(house.number(aged).await > 0);
    say(&house, &mut n, (OTHER_GUEST, OLD), "STOP").await;
    nothing_due(&house).await;
    assert_eq!(
        (
            stopped_at(&house, &former).await,
            stopped_at(&house, of_today).await
        ),
        (0, 1)
    );
    let confirmed = say(&house, &mut n, (GUEST, OLD), "STOP").await;
    assert_eq!(
        confirmed.len(),
        1,
        "one confirmation, of the casino that has the number: {confirmed:?}"
    );
    nothing_due(&house).await;
    assert_eq!(
        (
            stopped_at(&house, &former).await,
            stopped_at(&house, of_today).await
        ),
        (1, 2)
    );
    let why = "select count(*) from consent_events where event like '%\"reached_through\":\"former_number\"%'";
    assert_eq!(house.number(why).await, 1);
    assert_eq!(
        house
            .number(
                "select count(*) from consent_events where event like '%rose_court%' and event like '%reached_through%'"
            )
            .await,
        0
    );
    // A START to the same number does not lift the former casino's STOP.
    say(&house, &mut n, (GUEST, OLD), "START").await;
    nothing_due(&house).await;
    assert_eq!(
        (
            stopped_at(&house, &former).await,
            stopped_at(&house, of_today).await
        ),
        (1, 1)
    );
    // A late receipt for a text reaches the casino that sent the text, although the number now
    // belongs to another casino.
    let call = Caller::of(&house);
    let attempt = sent
        .webhook_url
        .as_deref()
        .and_then(|url| url.rsplit('/').next())
        .unwrap()
        .to_owned();
    let mut receipt = call.finalized("late", "delivery_failed");
    receipt["data"]["payload"]["id"] = serde_json::json!(sent.id);
    let url = format!("{}/{attempt}", call.url);
    let answer = call
        .post_signed(&url, call.now(), receipt.to_string().as_bytes())
        .await;
    assert_eq!(answer, Answer::accepted());
    let filed = format!(
        "select count(*) from receipts where event_id = 'event-late' and casino_id = '{former}'"
    );
    until(
        "the receipt found its sender",
        Duration::from_secs(20),
        async || house.number(&filed).await == 1,
    )
    .await;
    house.stop().await;
}

// D40, D9: the provider's records of a number also contain old texts, from before the present
// casino got the number
#[tokio::test]
async fn a_number_brings_its_new_casino_no_texts_of_before() {
    let (house, mut n) = (house("numbers_records", Wanted::default()).await, 0);
    say(&house, &mut n, (GUEST, OLD), "Is the pool open?").await;
    add(&house, &moved(&house)).await;
    add(&house, &taker(&house, OLD)).await;
    let fleet = &house.stack.fleet;
    tokio::time::sleep(fleet.timing.records_margin() + Duration::from_millis(200)).await;
    let records = seven::wiring::telnyx(&house.stack.settings).unwrap();
    let roster = fleet.store.roster().await.unwrap();
    let entry = roster
        .iter()
        .find(|entry| entry.casino.as_str() == TAKER)
        .unwrap();
    let since = fleet.clock.now() - chrono::TimeDelta::hours(1);
    let report = reconcile(fleet, &records, entry, since, How::Record)
        .await
        .unwrap();
    assert_eq!(
        (report.texts_listed, report.texts_recovered),
        (0, 0),
        "{report:?}"
    );
    assert_eq!(stored_at(&house, TAKER).await, 0);
    house.stop().await;
}

// spec 05, 2.4: several casinos may belong to one legal sender. From a day set by counsel, one STOP
// ends the texts of all these casinos.
#[tokio::test]
async fn a_stop_reaches_all_casinos_of_a_sender_from_its_day_on() {
    let (house, mut n) = (house("numbers_sender", Wanted::default()).await, 0);
    let sender = |from: &str| {
        Some(LegalSender {
            id: "harbor_holdings".into(),
            name: "Harbor Holdings LLC".into(),
            programmes: vec!["host".into()],
            revocations: vec![Revocation {
                from: from.parse().unwrap(),
                scope: Scope::Sender,
            }],
        })
    };
    let mut other = taker(&house, NEW);
    other.regulations.legal_sender = sender("2020-01-01");
    add(&house, &other).await;
    say(&house, &mut n, (GUEST, NEW), "Is the pool open?").await;
    let mut ours = house.config.clone();
    for (from, guest, reached) in [("2999-01-01", OTHER_GUEST, 0), ("2020-01-01", GUEST, 1)] {
        ours.regulations.legal_sender = sender(from);
        add(&house, &ours).await;
        say(&house, &mut n, (guest, OLD), "STOP").await;
        nothing_due(&house).await;
        assert_eq!(stopped_at(&house, TAKER).await, reached, "from {from}");
    }
    assert!(
        say(&house, &mut n, (GUEST, NEW), "Is the spa open?")
            .await
            .is_empty()
    );
    let scopes = "select count(*) from consent_events where event like '%\"scope\":\"sender\"%'";
    assert_eq!(house.number(scopes).await, 1);
    house.stop().await;
}
