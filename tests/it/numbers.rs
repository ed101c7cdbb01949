//! Numbers that change owner (D40): a casino gets another number, another casino gets the old one,
//! and a STOP to it reaches the right casinos.

use std::time::Duration;

use async_nats::jetstream;
use prost::Message;
use seven::onboard;
use seven_bus::{
    Outgoing,
    events::InboundText,
    subject,
    topology::{consumer_name, stream_of},
};
use seven_carrier_sim::{Inbound, Text};
use seven_domain::{
    CasinoConfig, CasinoId, Stage,
    config::{LegalSender, Revocation, Scope},
};
use seven_scheduler::reconcile::{How, reconcile};
use seven_settings::Worker;

use crate::{
    harness::{GUEST, House, Wanted, house, until},
    webhook::caller::{Answer, Caller},
};

const OLD: &str = "+18605550100";
const NEW: &str = "+18605550101";
const OTHER_GUEST: &str = "+18605550143";
const LATE_GUEST: &str = "+18605550144";
const AT_TWILIO: &str = "+18605550120";
const TAKER: &str = "rose_court";
const QUESTION: &str = "Is the pool open?";

/// Returns the casino's document with another number.
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

/// Sends a guest's text to one of the numbers. Returns the texts that the phone then got, each with
/// its sender.
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
    // A STOP to the old number stops all the casino's texts; its only answer is the confirmation.
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
    // After the first day a guest whom the former casino never texted is the new one's alone.
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
    // A late receipt for the former casino's text reaches that casino, though its number now
    // belongs to another.
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

// D40, D9: the provider's records of a number begin before its present casino had it
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

/// Delivers a text's webhook again, with the ids and the time of the first call.
async fn repeat(house: &House, first: &Inbound) {
    let text = Text {
        provider: Some(first.provider.clone()),
        from: first.from.clone(),
        to: Some(first.to.clone()),
        text: first.text.clone(),
        event_id: Some(first.event_id.clone()),
        message_id: Some(first.message_id.clone()),
        occurred_at: Some(first.occurred_at),
        ..Text::default()
    };
    house.stack.sim.text(text).unwrap();
    acknowledged(house, &first.from, 2).await;
}

/// Waits until so many calls about texts of the guest were acknowledged.
async fn acknowledged(house: &House, guest: &str, calls: usize) {
    let ours = || house.stack.sim.ledger().of_guest(guest).inbound;
    until(
        "calls are acknowledged",
        Duration::from_secs(20),
        async || {
            let texts = ours();
            let attempts = texts.iter().flat_map(|text| &text.delivery.attempts);
            attempts.filter(|attempt| attempt.acknowledged()).count() >= calls
        },
    )
    .await;
}

/// Returns how many texts the check for crossed rows finds (SEC-95).
async fn crossed(house: &House) -> usize {
    let fleet = &house.stack.fleet;
    let span = Duration::from_secs(3_600);
    let since = fleet.clock.now() - span;
    fleet.store.crossed(since, span).await.unwrap().len()
}

/// Returns how many texts this casino has stored.
async fn stored_at(house: &House, casino: &str) -> i64 {
    let query = format!("select count(*) from inbound_messages where casino_id = '{casino}'");
    house.number(&query).await
}

// D40: chaos, seed 3135. A webhook came again 60 ms after the number had changed its casino.
#[tokio::test]
async fn a_text_of_before_the_hand_over_belongs_to_the_former_casino() {
    let mut document: serde_json::Value = serde_json::from_str(seven_packs::demo::CASINO).unwrap();
    document["operational"]["twilio_phone_number"] = AT_TWILIO.into();
    let content = seven_packs::demo::CONTENT.to_owned();
    let wanted = Wanted {
        casino: Some((document.to_string(), content)),
        ..Wanted::default()
    };
    let house = house("numbers_repeated", wanted).await;
    for (provider, from, to) in [("telnyx", GUEST, OLD), ("twilio", OTHER_GUEST, AT_TWILIO)] {
        let text = Text {
            provider: Some(provider.to_owned()),
            from: from.to_owned(),
            to: Some(to.to_owned()),
            text: Some("Is the pool open?".to_owned()),
            ..Text::default()
        };
        house.stack.sim.text(text).unwrap();
    }
    house.settle(2).await;
    let answered = [GUEST, OTHER_GUEST].map(|guest| house.sent_to(guest).len());
    let written_before = house.stack.fleet.clock.now();
    let mut former = moved(&house);
    former.operational.twilio_phone_number = None;
    add(&house, &former).await;
    let mut taker = taker(&house, OLD);
    taker.operational.twilio_phone_number = Some(AT_TWILIO.parse().unwrap());
    add(&house, &taker).await;
    for guest in [GUEST, OTHER_GUEST] {
        let first = house.stack.sim.ledger().of_guest(guest).inbound.remove(0);
        repeat(&house, &first).await;
    }
    // A first call that is late: the casino of that time answers, from its number of today.
    let late = Text {
        from: LATE_GUEST.to_owned(),
        to: Some(OLD.to_owned()),
        text: Some("Is the pool open?".to_owned()),
        occurred_at: Some(written_before),
        ..Text::default()
    };
    house.stack.sim.text(late).unwrap();
    acknowledged(&house, LATE_GUEST, 1).await;
    house.settle(3).await;
    assert_eq!(stored_at(&house, TAKER).await, 0);
    assert_eq!(
        [GUEST, OTHER_GUEST].map(|guest| house.sent_to(guest).len()),
        answered,
        "answered twice"
    );
    let to_late = house.sent_to(LATE_GUEST);
    assert!(
        !to_late.is_empty() && to_late.iter().all(|text| text.from.as_deref() == Some(NEW)),
        "{to_late:?}"
    );
    // A text that is written from now on is the new casino's.
    text_to_old(&house, "What time is check-in?");
    house.settle(4).await;
    assert_eq!(stored_at(&house, TAKER).await, 1);
    // An ingress whose roster has no such route asks for both casinos (seed 3135).
    let number = OLD.parse().unwrap();
    let former = house.stack.fleet.store.former_of_number(&number).await;
    let former = former.unwrap().map(|(casino, _)| casino);
    assert_eq!(former.as_ref(), Some(house.casino()));
    // A late webhook is no incident; a text that was written long after the hand-over is one.
    assert_eq!(crossed(&house).await, 0);
    let written_later = format!(
        "update inbound_messages set occurred_at = now() + interval '11 minutes'
           where casino_number = '{OLD}' and casino_id = '{}' and arrival = 3",
        house.casino()
    );
    house.change(&written_later).await;
    assert_eq!(crossed(&house).await, 1);
    house.stop().await;
}

/// Publishes a text to the old number to a casino, as an ingress does that takes it for the number's.
async fn routed_to(house: &House, casino: &CasinoId, (message, text): (&str, &str)) {
    let at = house.stack.fleet.clock.now().timestamp_millis();
    let event = InboundText {
        provider: "telnyx".into(),
        provider_message_id: message.into(),
        event_id: format!("event-{message}"),
        from: GUEST.into(),
        to: OLD.into(),
        occurred_at: at,
        received_at: at,
        channel: "sms".into(),
        text: text.into(),
        ..InboundText::default()
    };
    let message = Outgoing {
        subject: subject(Stage::Gate, casino, None),
        key: &event.event_id,
        copy: None,
        trace: "",
        payload: event.encode_to_vec().into(),
    };
    let bus = &house.stack.fleet.bus;
    bus.publish(&message, Duration::from_secs(5)).await.unwrap();
}

/// Returns how many texts the casino's gate has not finished.
async fn unread(house: &House, casino: &CasinoId) -> u64 {
    let client = async_nats::connect(house.nats.url()).await.unwrap();
    let stream = jetstream::new(client)
        .get_stream(stream_of(Stage::Gate))
        .await
        .unwrap();
    let consumer = consumer_name(Stage::Gate, casino, None);
    let consumer = stream.consumer_info(consumer).await.unwrap();
    consumer.num_pending + consumer.num_ack_pending as u64
}

// D40, D7: chaos, seed 499689. The new casino answered 1.5 s after a STOP to its number.
#[tokio::test]
async fn a_stop_that_the_former_casino_took_reaches_the_present_one() {
    let house = house("numbers_stop_late", Wanted::default()).await;
    let (mut n, former) = (0, house.casino().clone());
    say(&house, &mut n, (GUEST, OLD), "Is the pool open?").await;
    add(&house, &moved(&house)).await;
    add(&house, &taker(&house, OLD)).await;
    // As an ingress does that has not heard of the hand-over; gate and scheduler do the rest.
    routed_to(&house, &former, ("late-stop", "STOP")).await;
    n += 1;
    house.settle(n).await;
    nothing_due(&house).await;
    assert_eq!(
        (
            stopped_at(&house, former.as_str()).await,
            stopped_at(&house, TAKER).await
        ),
        (1, 1)
    );
    let why = "select count(*) from consent_events where casino_id = 'rose_court'
        and event like '%\"reached_through\":\"present_number\"%'";
    assert_eq!(house.number(why).await, 1);
    let answer = say(&house, &mut n, (GUEST, OLD), "What time is check-in?").await;
    assert!(answer.is_empty(), "{answer:?}");
    // Later a number's former casino takes no STOP of the present one's guests.
    let aged = "with aged as (update routes set since = since - interval '2 days' returning 1)
        select count(*) from aged";
    assert!(house.number(aged).await > 0);
    let number = OLD.to_owned();
    let store = &house.stack.fleet.store;
    assert_eq!(store.stop_reaches(&number, &former, "").await.unwrap(), []);
    house.stop().await;
}

// D40: chaos, seed 499689. An ingress heard of the hand-over 19 s late, and the webhook came again.
#[tokio::test]
async fn a_text_that_reached_both_casinos_is_answered_by_one() {
    let house = house("numbers_claimed", Wanted::default()).await;
    let (former, today): (CasinoId, CasinoId) = (house.casino().clone(), TAKER.parse().unwrap());
    // Seed 3135: the former casino stored it before the hand-over, the webhook came again after it.
    routed_to(&house, &former, ("before", QUESTION)).await;
    house.settle(1).await;
    add(&house, &moved(&house)).await;
    add(&house, &taker(&house, OLD)).await;
    routed_to(&house, &today, ("before", QUESTION)).await;
    for n in 0..4 {
        let message = format!("both-{n}");
        let both = [&former, &today];
        tokio::join!(
            routed_to(&house, both[n % 2], (&message, QUESTION)),
            routed_to(&house, both[1 - n % 2], (&message, QUESTION))
        );
    }
    house.settle(5).await;
    until(
        "both casinos have read theirs",
        Duration::from_secs(20),
        async || unread(&house, &former).await + unread(&house, &today).await == 0,
    )
    .await;
    let stored = stored_at(&house, former.as_str()).await + stored_at(&house, TAKER).await;
    assert_eq!(stored, 5);
    // Without a hand-over and a day later nothing is claimed.
    let aged = "with aged as (update routes set since = since - interval '2 days' returning 1)
        select count(*) from aged";
    assert!(house.number(aged).await > 0);
    routed_to(&house, &today, ("later", QUESTION)).await;
    house.settle(6).await;
    assert_eq!(
        house.number("select count(*) from handed_on_texts").await,
        4
    );
    house.stop().await;
}

/// Starts a fleet without one kind of worker; the casino has moved from `OLD` to another number.
async fn moved_without(unique: &str, missing: Worker) -> House {
    let workers = Worker::ALL.into_iter().filter(|worker| *worker != missing);
    let wanted = Wanted {
        workers: workers.collect(),
        ..Wanted::default()
    };
    let house = house(unique, wanted).await;
    add(&house, &moved(&house)).await;
    house
}

fn text_to_old(house: &House, text: &str) {
    let text = Text {
        from: GUEST.into(),
        to: Some(OLD.into()),
        text: Some(text.into()),
        ..Text::default()
    };
    house.stack.sim.text(text).unwrap();
}

/// Hands the old number on, sends STOP to it, and waits until the former casino knows.
async fn stop_after_the_hand_over(house: &House) {
    add(house, &taker(house, OLD)).await;
    text_to_old(house, "STOP");
    let former = house.casino().as_str().to_owned();
    until(
        "the former casino knows",
        Duration::from_secs(20),
        async || stopped_at(house, &former).await == 1,
    )
    .await;
}

/// Waits until nothing is under way; the guest must have got the confirmation and nothing else.
async fn only_the_confirmation(house: &House) {
    until(
        "the STOP is confirmed",
        Duration::from_secs(30),
        async || !house.texts_to(GUEST).is_empty(),
    )
    .await;
    let queued = "select count(*) from outbound_messages where state in ('queued', 'sending')";
    until("nothing waits", Duration::from_secs(30), async || {
        house.count("inbound", "open").await + house.number(queued).await == 0
    })
    .await;
    let texts = house.texts_to(GUEST);
    assert!(
        texts.len() == 1 && texts[0].contains("unsubscribed"),
        "{texts:?}"
    );
}

// D40, D7: the guest asks the former casino at its old number, and sends STOP before the answer
#[tokio::test]
async fn a_stop_before_the_former_casinos_answer_silences_that_answer() {
    let house = moved_without("numbers_in_between", Worker::OutboundSender).await;
    text_to_old(&house, "Is the pool open?");
    let answers =
        "select count(*) from outbound_messages where class = 'reply' and state = 'queued'";
    until("the answer waits", Duration::from_secs(20), async || {
        house.number(answers).await > 0
    })
    .await;
    stop_after_the_hand_over(&house).await;
    let _sender = house.process("outbound-sender", None);
    only_the_confirmation(&house).await;
    house.stop().await;
}

// D40, D7: the guest asked the former casino at its old number, and nobody has read that yet
#[tokio::test]
async fn a_stop_on_a_number_just_handed_on_silences_the_answer_to_an_unread_text() {
    let house = moved_without("numbers_unread", Worker::ComplianceGate).await;
    text_to_old(&house, "Is the pool open?");
    until(
        "the question is acknowledged",
        Duration::from_secs(20),
        async || {
            let inbound = house.stack.sim.ledger().of_guest(GUEST).inbound;
            let mut attempts = inbound.iter().flat_map(|text| &text.delivery.attempts);
            attempts.any(seven_carrier_sim::Attempt::acknowledged)
        },
    )
    .await;
    stop_after_the_hand_over(&house).await;
    let _gate = house.process("compliance-gate", None);
    until(
        "the question is read",
        Duration::from_secs(30),
        async || stored_at(&house, house.casino().as_str()).await == 1,
    )
    .await;
    only_the_confirmation(&house).await;
    house.stop().await;
}

// spec 05, 2.4: from the day counsel sets, one STOP ends the texts of every casino of the sender
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
