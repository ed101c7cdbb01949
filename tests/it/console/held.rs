//! Replies that wait until a person releases, edits or discards them (AGENT-15).

use std::time::Duration;

use reqwest::StatusCode;
use seven_domain::Role;

use super::{
    staff::{Caller, Staff},
    with_console,
};
use crate::harness::{GUEST, House, until};

const SHORT: Duration = Duration::from_secs(30);
const HELD: &str = "/c/silver_birch/held";
const WAITING: &str = "select count(*) from held_turns h join outbound_messages o using (casino_id, turn_id) where h.decided_at is null and o.state = 'queued'";
const SENT: &str = "select body from outbound_messages where turn_id is not null and state in ('sent', 'delivered') order by seq";

async fn waits(house: &House, replies: i64) {
    until("the reply waits for a person", SHORT, || async {
        house.number(WAITING).await == replies
    })
    .await;
}

async fn host(house: &House) -> Caller {
    let staff = Staff::new(house);
    let luis = staff.add("luis@example.com", Role::Host, Some(house.casino()));
    luis.await.logged_in(house).await
}

/// Returns the path of the only held reply.
async fn one(house: &House) -> String {
    let held = house
        .texts_of("select turn_id::text from held_turns where decided_at is null")
        .await;
    format!("{HELD}/{}", held[0])
}

#[tokio::test(flavor = "multi_thread")] // AGENT-15
async fn a_reply_of_a_reviewed_casino_leaves_when_a_person_says_so() {
    let house = with_console("held_casino").await;
    house
        .change("update casinos set config = jsonb_set(config, '{features,hitl_interrupt_enabled}', 'true')")
        .await;
    let luis = host(&house).await;
    house.text(GUEST, "What time is check-in?");
    waits(&house, 1).await;
    let page = luis.get(HELD).await.body;
    assert!(page.contains("What time is check-in?"), "{page}");
    assert!(page.contains("The sentence that an AI writes"), "{page}");
    let path = one(&house).await;
    let released = luis.act(&path, &[("decision", "released")]).await;
    assert_eq!(released.location, HELD);
    house.settle(1).await;
    assert_eq!(house.texts_of(SENT).await.len(), 1);
    // A second decision about the same reply is refused.
    let turns = house.texts_of("select turn_id::text from held_turns").await;
    let again = format!("{HELD}/{}", turns[0]);
    let again = luis.act(&again, &[("decision", "discarded")]).await;
    assert_eq!(again.status, StatusCode::UNPROCESSABLE_ENTITY);
    // Answers to keywords and to cries for help are never held.
    house.text(GUEST, "HELP");
    house.text(GUEST, "I want to kill myself");
    house.settle(3).await;
    let unheld = "select count(*) from outbound_messages where class in ('help', 'crisis') and state in ('sent', 'delivered')";
    assert_eq!(house.number(unheld).await, 2);
    house.stop().await;
}

#[tokio::test(flavor = "multi_thread")] // AGENT-15, C-17, SEC-53
async fn an_edited_reply_keeps_its_disclosure_and_passes_the_hosts_checks() {
    let house = with_console("held_edited").await;
    house
        .change("update casinos set config = jsonb_set(config, '{features,hitl_interrupt_enabled}', 'true')")
        .await;
    let luis = host(&house).await;
    house.text(GUEST, "What time is check-in?");
    waits(&house, 1).await;
    let path = one(&house).await;
    for (words, says) in [
        ("Look at www.birch.example", "sends no links"),
        ("Tonight you get $750 in free play on us.", "$750"),
        (" ", "Write something first"),
        (&"word ".repeat(150), "too long"),
    ] {
        let fields = [("decision", "edited"), ("words", words)];
        let page = luis.act(&path, &fields).await;
        assert_eq!(page.status, StatusCode::UNPROCESSABLE_ENTITY, "{words}");
        assert!(page.body.contains(says), "{says}: {}", page.body);
        assert!(page.body.contains(words.trim()), "the words are kept");
    }
    let fields = [
        ("decision", "edited"),
        ("words", "From 3 PM. Welcome back, Ana!"),
    ];
    assert_eq!(luis.act(&path, &fields).await.location, HELD);
    house.settle(1).await;
    let sent = house.texts_of(SENT).await.concat();
    assert!(sent.ends_with("From 3 PM. Welcome back, Ana!"), "{sent}");
    assert!(sent.contains("AI") && sent.contains("STOP"), "{sent}");
    let audit = "select detail->>'decision' from audit_log where action = 'reply_reviewed'";
    assert_eq!(house.texts_of(audit).await, ["edited"]);
    house.stop().await;
}

#[tokio::test(flavor = "multi_thread")] // AGENT-15
async fn one_conversation_is_reviewed_and_a_reply_that_waits_too_long_is_told() {
    let house = with_console("held_one").await;
    let luis = host(&house).await;
    house.text(GUEST, "What time is check-in?");
    house.settle(1).await;
    let thread = house
        .texts_of("select conversation_id::text from conversations")
        .await;
    let thread = format!("/c/silver_birch/conversations/{}", thread[0]);
    let review = format!("{thread}/review");
    assert_eq!(luis.act(&review, &[("turn", "on")]).await.location, thread);
    house.text(GUEST, "And check-out?");
    waits(&house, 1).await;
    // At this time scale, the time limit for a decision is zero, so a case is opened at once.
    let told =
        "select count(*) from escalations where reason = 'reply_waits' and resolved_at is null";
    until("people are told", SHORT, || async {
        house.number(told).await == 1
    })
    .await;
    let path = one(&house).await;
    let discard = luis.act(&path, &[("decision", "discarded")]).await;
    assert_eq!(discard.location, HELD);
    assert_eq!(house.number(told).await, 0, "the case ended with it");
    let ended = "select count(*) from outbound_messages where state = 'suppressed' and reason = 'discarded'";
    assert_eq!(house.number(ended).await, 1);
    luis.act(&review, &[("turn", "off")]).await;
    house.text(GUEST, "Is there a pool?");
    house.settle(3).await;
    assert_eq!(house.number(WAITING).await, 0);
    assert_eq!(house.texts_of(SENT).await.len(), 2);
    house.stop().await;
}
