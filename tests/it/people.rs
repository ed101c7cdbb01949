//! Texts as real people and phones send them (D20): texts that only resemble opt-outs or cries for
//! help, reactions, automatic replies, and copies. Some senders are not guests.

use std::time::Duration;

use serde_json::json;
use seven_carrier_sim::Text;

use crate::{
    harness::{GUEST, House, Wanted, house, until},
    webhook::caller::{Answer, Caller},
};

/// A text that only resembles an opt-out: it contains no keyword and no known phrase of an opt-out.
const LIKE_AN_OPT_OUT: &str = "I thought I already asked not to be bothered with this";
/// A text that only resembles a cry for help: no pattern matches it.
const LIKE_A_CRY: &str = "i feel like theres nothing left in me to give tonight";

async fn say(house: &House, so_far: &mut i64, text: &str) -> Vec<String> {
    let before = house.texts_to(GUEST).len();
    house.text(GUEST, text);
    *so_far += 1;
    house.settle(*so_far).await;
    house.texts_to(GUEST).split_off(before)
}

async fn asked(house: &House) -> i64 {
    house
        .number(
            "select count(*) from suppressions where asked_at is not null and state <> 'stopped'",
        )
        .await
}

#[test]
fn the_texts_of_these_tests_only_resemble() {
    let rails = seven_packs::casino().guardrails();
    for (text, kind) in [(LIKE_AN_OPT_OUT, "opt_out"), (LIKE_A_CRY, "crisis")] {
        let decision = rails.decide(text);
        assert_eq!(decision.verdict.as_str(), "pass", "{text}");
        assert_eq!(
            decision.likely.map(|likely| likely.kind.as_str()),
            Some(kind),
            "{text}"
        );
    }
}

#[tokio::test] // D20, D6: likeness alone unsubscribes nobody
async fn a_likely_opt_out_is_asked_about_and_answered() {
    let (house, mut n) = (house("people_asked", Wanted::default()).await, 0);
    for (answer, stopped) in [("No", 0), ("yes", 1)] {
        let question = say(&house, &mut n, LIKE_AN_OPT_OUT).await;
        assert_eq!(question.len(), 1, "{question:?}");
        assert!(
            question[0].contains("should we stop texting you?"),
            "{question:?}"
        );
        assert_eq!(asked(&house).await, 1);
        assert_eq!(
            house
                .number("select count(*) from suppressions where state = 'stopped'")
                .await,
            0
        );
        let answered = say(&house, &mut n, answer).await;
        assert_eq!(answered.len(), 1, "{answered:?}");
        assert_eq!(asked(&house).await, 0, "{answer} settles it");
        assert_eq!(
            house
                .number("select count(*) from suppressions where state = 'stopped'")
                .await,
            stopped,
            "{answer}"
        );
    }
    // A START allows proactive texts again even if the guest never answered our question.
    say(&house, &mut n, "START").await;
    say(&house, &mut n, LIKE_AN_OPT_OUT).await;
    assert_eq!(asked(&house).await, 1);
    assert!(
        !say(&house, &mut n, "What time is check-in?")
            .await
            .is_empty(),
        "ordinary talk goes on"
    );
    assert_eq!(asked(&house).await, 1, "and answers nothing");
    say(&house, &mut n, "START").await;
    assert_eq!(asked(&house).await, 0);
    house.stop().await;
}

#[tokio::test] // D20, SEC-28: help is offered beside the answer, and a person looks
async fn a_likely_cry_gets_its_answer_one_sentence_and_a_case() {
    let (house, mut n) = (house("people_cry", Wanted::default()).await, 0);
    let texts = say(&house, &mut n, LIKE_A_CRY).await;
    assert!(
        texts.iter().filter(|text| text.contains("988")).count() == 1 && texts.len() > 1,
        "{texts:?}"
    );
    let cases =
        "select count(*) from escalations where reason = 'likely_crisis' and severity = 'sev1'";
    assert_eq!(house.number(cases).await, 1);
    assert_eq!(
        house
            .number("select count(*) from escalations where severity = 'sev0'")
            .await,
        0
    );
    assert_eq!(
        house
            .number(
                "select count(*) from conversations where cried_at is not null and paused_at is null",
            )
            .await,
        1
    );
    let offers = say(&house, &mut n, "any offers for me this weekend?")
        .await
        .join(" ")
        .to_lowercase();
    assert!(
        !offers.contains("free play") && !offers.contains("slot"),
        "{offers}"
    );
    // The helpline is named once while the case is open.
    let again = say(&house, &mut n, &format!("{LIKE_A_CRY} again")).await;
    assert!(again.iter().all(|text| !text.contains("988")), "{again:?}");
    assert_eq!(
        house
            .number("select repeats::bigint from escalations where reason = 'likely_crisis'")
            .await,
        1
    );
    house.stop().await;
}

#[tokio::test] // SMS-24, CONV-2: phones say nothing
async fn reactions_and_quotations_get_no_answer() {
    let (house, mut n) = (house("people_echo", Wanted::default()).await, 0);
    let reply = say(&house, &mut n, "Is the pool open?").await.join(" ");
    for echo in [
        format!("Liked “{reply}”"),
        format!("Pidió nota por “{reply}”"),
        "Removed a like from “STOP”".to_owned(),
        "Loved an image".to_owned(),
        "Emphasized “Call 911 now. I am an AI host and cannot send help myself.”".to_owned(),
    ] {
        assert_eq!(
            say(&house, &mut n, &echo).await,
            Vec::<String>::new(),
            "{echo}"
        );
    }
    assert_eq!(
        house
            .number("select count(*) from inbound_messages where reason = 'reaction'")
            .await,
        5
    );
    assert_eq!(house.number("select count(*) from escalations").await, 0);
    assert_eq!(
        house
            .number("select count(*) from suppressions where state = 'stopped'")
            .await,
        0
    );
    // Words that the guest adds to a reaction count as the guest's own.
    let added = say(&house, &mut n, &format!("Liked “{reply}” STOP")).await;
    assert!(
        added.iter().any(|text| text.contains("unsubscribed")),
        "{added:?}"
    );
    house.stop().await;
}

#[tokio::test] // D7: in ingress, too, our own words are not the guest's
async fn a_quoted_opt_out_of_ours_suppresses_nobody() {
    let (house, mut n) = (house("people_quote", Wanted::default()).await, 0);
    say(&house, &mut n, "STOP").await;
    say(&house, &mut n, "START").await;
    let ours = house
        .texts_to(GUEST)
        .into_iter()
        .find(|text| text.contains("unsubscribed"))
        .unwrap();
    say(&house, &mut n, &format!("> {ours}\nwhat does that mean?")).await;
    assert_eq!(
        house
            .number("select count(*) from suppressions where state = 'stopped'")
            .await,
        0
    );
    // Words before the quotation count as the guest's own.
    say(&house, &mut n, &format!("STOP. You said “{ours}”")).await;
    assert_eq!(
        house
            .number("select count(*) from suppressions where state = 'stopped'")
            .await,
        1
    );
    // A quotation of words that are in no text of ours counts as the guest's own words.
    house.text("+18605550143", "> please stop texting me");
    n += 1;
    house.settle(n).await;
    assert_eq!(
        house
            .number("select count(*) from suppressions where state = 'stopped'")
            .await,
        2
    );
    house.stop().await;
}

#[tokio::test] // C-11: no machine is a guest
async fn machines_and_short_codes_get_no_answer() {
    let (house, mut n) = (house("people_machines", Wanted::default()).await, 0);
    for text in [
        "FREE MSG: Unable to send message - Message Blocking is active.",
        "Automatic reply: I am out of the office until Monday. For help text HELP to 555-0150.",
        "I'm in a meeting, will call you back.",
        "This mailbox is not monitored. To stop receiving these messages reply STOP.",
        "Automatic reply: call 911 now, my father is having a heart attack.",
    ] {
        assert_eq!(
            say(&house, &mut n, text).await,
            Vec::<String>::new(),
            "{text}"
        );
    }
    assert_eq!(
        house
            .number("select count(*) from inbound_messages where reason = 'machine'")
            .await,
        5
    );
    assert_eq!(
        house
            .number("select count(*) from escalations where reason = 'emergency'")
            .await,
        1,
        "a person looks"
    );
    assert_eq!(
        house
            .number("select count(*) from suppressions where state = 'stopped'")
            .await,
        0
    );
    let ours = house
        .config
        .operational
        .telnyx_phone_number
        .as_str()
        .to_owned();
    for from in ["+75973", ours.as_str()] {
        house.text(from, "Is the pool open? Reply STOP to opt out");
        n += 1;
        house.settle(n).await;
        assert!(house.texts_to(from).is_empty(), "{from}");
    }
    assert_eq!(
        house
            .number("select count(*) from inbound_messages where reason = 'not_a_guest'")
            .await,
        2
    );
    house.stop().await;
}

#[tokio::test] // CONV-22: an exchange of two machines ends
async fn three_near_identical_texts_are_a_machine() {
    let (house, mut n) = (house("people_loop", Wanted::default()).await, 0);
    let mut heard = Vec::new();
    for _ in 0..6 {
        heard.push(
            say(
                &house,
                &mut n,
                "the dentist team of Oak Street says hello to everybody today",
            )
            .await
            .len(),
        );
    }
    // The first text follows no text of ours. The next three texts come within seconds after ours,
    // which makes them look like a machine's.
    assert!(heard[..3].iter().all(|texts| *texts > 0), "{heard:?}");
    assert_eq!(heard[4..], [0, 0], "{heard:?}");
    assert_eq!(
        house
            .number("select count(*) from outbound_messages where kind = 'auto_responder'")
            .await,
        1
    );
    assert!(
        !say(&house, &mut n, "Is the pool open?").await.is_empty(),
        "another text is answered"
    );
    house.stop().await;
}

#[tokio::test] // SMS-6, SEC-113: the same text under a new id
async fn a_copy_is_answered_once() {
    let house = house("people_copies", Wanted::default()).await;
    let call = Caller::of(&house);
    for (n, text) in [
        "Is there a steakhouse?",
        "Is there a steakhouse?",
        "I want to kill myself",
        "I want to kill myself",
    ]
    .iter()
    .enumerate()
    {
        let event = call.received(&format!("c{n}"), GUEST, text);
        assert_eq!(
            call.post(event.to_string().as_bytes()).await,
            Answer::accepted()
        );
        if n == 1 {
            house.settle(2).await;
        }
    }
    house.settle(4).await;
    assert_eq!(
        house
            .number("select count(*) from inbound_messages where reason = 'repeated'")
            .await,
        2
    );
    assert_eq!(house.number("select count(*) from turns").await, 1);
    assert_eq!(
        house
            .texts_to(GUEST)
            .iter()
            .filter(|text| text.contains("988"))
            .count(),
        1
    );
    assert_eq!(
        house
            .number("select count(*) from escalations where reason = 'crisis'")
            .await,
        1
    );
    house.stop().await;
}

#[tokio::test] // D2: nothing is lost before the gate
async fn odd_webhooks_keep_their_text() {
    let house = house("people_webhooks", Wanted::default()).await;
    let call = Caller::of(&house);
    // This text ends with half of an emoji.
    let cut = call
        .received("cut", GUEST, "STOP @@")
        .to_string()
        .replace("@@", "\\ud83d");
    assert_eq!(call.post(cut.as_bytes()).await, Answer::accepted());
    // This is a group message in which our number is not the first recipient.
    let mut group = call.received("group", "+18605550144", "Is the pool open?");
    let ours = group["data"]["payload"]["to"][0].clone();
    group["data"]["payload"]["to"] = json!([{"phone_number": "+18605550145"}, ours]);
    assert_eq!(
        call.post(group.to_string().as_bytes()).await,
        Answer::accepted()
    );
    // The sender of this text is a name: the text is stored as a dead letter, and nobody is
    // alerted.
    let mut odd = call.received("odd", "CASINO", "hello");
    odd["data"]["payload"]["from"]["phone_number"] = json!("CASINO");
    assert_eq!(
        call.post(odd.to_string().as_bytes()).await,
        Answer::dead("odd_sender")
    );
    // This picture has no text except the placeholder character.
    let picture = Text {
        from: "+18605550146".into(),
        text: Some("\u{fffc}".into()),
        media: vec![json!("http://127.0.0.1/x.png")],
        ..Text::default()
    };
    house.stack.sim.text(picture).unwrap();
    house.settle(3).await;
    assert_eq!(
        house
            .number("select count(*) from suppressions where state = 'stopped'")
            .await,
        1
    );
    assert_eq!(
        house
            .number("select count(*) from inbound_messages where body = 'STOP ' || chr(65533)")
            .await,
        1
    );
    assert!(
        house.said_to("+18605550144").contains("pool")
            || house.said_to("+18605550144").contains("Pool")
    );
    assert!(
        house.said_to("+18605550146").contains("only read text"),
        "{}",
        house.said_to("+18605550146")
    );
    until("the odd sender is filed", Duration::from_secs(20), async || {
        house
            .number("select count(*) from dead_letters where reason = 'odd_sender' and state = 'discarded'")
            .await
            == 1
    })
    .await;
    assert_eq!(house.count("dead", "open").await, 0);
    house.stop().await;
}

#[tokio::test] // SMS-7: a receipt on an attempt's path needs no number
async fn a_receipt_without_a_number_finds_its_text() {
    let (house, mut n) = (house("people_receipt", Wanted::default()).await, 0);
    say(&house, &mut n, "Is the pool open?").await;
    let call = Caller::of(&house);
    let pool = sqlx::PgPool::connect(&house.database_url).await.unwrap();
    let (attempt, message): (uuid::Uuid, String) = sqlx::query_as(
        "select a.attempt_id, o.provider_message_id from send_attempts a join outbound_messages o using (casino_id, outbound_id) limit 1",
    )
    .fetch_one(&pool)
    .await
    .unwrap();
    let mut receipt = call.finalized("no-number", "delivery_failed");
    receipt["data"]["payload"]["id"] = json!(message);
    receipt["data"]["payload"]["from"] = json!({});
    let url = format!("{}/{attempt}", call.url);
    assert_eq!(
        call.post_signed(&url, call.now(), receipt.to_string().as_bytes())
            .await,
        Answer::accepted()
    );
    until("it is filed", Duration::from_secs(20), async || {
        house
            .number("select count(*) from receipts where event_id = 'event-no-number'")
            .await
            == 1
    })
    .await;
    assert_eq!(house.count("dead", "open").await, 0);
    house.stop().await;
}
