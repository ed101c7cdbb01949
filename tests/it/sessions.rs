//! A conversation that goes on over days (SMS-26, DATA-25, CONV-30), and a person in the host's
//! place (SEC-33, SEC-104, SEC-109, SEC-113, CONV-44).

use std::time::Duration;

use seven_domain::{CasinoId, ConversationId};
use seven_staff::{announce, go_on};
use seven_store::sessions::Shown;
use sqlx::{AssertSqlSafe, PgPool};
use uuid::Uuid;

use crate::harness::{GUEST, House, Wanted, house, until};

const OTHER: &str = "+18605550143";
/// 10:00 on a Monday in Connecticut. At the scale of the function `at`, a pause lasts 90 s.
const MORNING: &str = "2026-11-23T15:00:00Z";

async fn at(unique: &str, at: &'static str) -> House {
    house(
        unique,
        Wanted {
            scale: 0.05,
            at: Some(at),
            ..Wanted::default()
        },
    )
    .await
}

async fn run(house: &House, statement: &str) {
    let pool = PgPool::connect(&house.database_url).await.unwrap();
    for each in statement.split(';') {
        sqlx::query(AssertSqlSafe(each.to_owned()))
            .execute(&pool)
            .await
            .unwrap();
    }
    pool.close().await;
}

async fn conversation(house: &House) -> ConversationId {
    let pool = PgPool::connect(&house.database_url).await.unwrap();
    let query = "select c.conversation_id from conversations c join guests g using (guest_id) where g.phone = $1";
    let id: Uuid = sqlx::query_scalar(query)
        .bind(GUEST)
        .fetch_one(&pool)
        .await
        .unwrap();
    pool.close().await;
    ConversationId(id)
}

/// Makes the times of conversations, sessions and disclosures this many hours older.
async fn hours_pass(house: &House, hours: u32) {
    let back = format!("interval '{hours} hours'");
    run(
        house,
        &format!(
            "update conversations set last_inbound_at = last_inbound_at - {back}, session_started_at = session_started_at - {back};
             update sessions set started_at = started_at - {back}, last_at = last_at - {back};
             update guests set disclosed_session = disclosed_session - {back}"
        ),
    )
    .await;
}

async fn resume(house: &House, by: &str) -> u64 {
    let fleet = &house.stack.fleet;
    let conversation = conversation(house).await;
    let mut tx = fleet.store.bind(house.casino()).await.unwrap();
    let resumed = go_on(&mut tx, conversation, by).await.unwrap().unwrap();
    tx.commit().await.unwrap();
    announce(fleet, house.casino(), conversation, &resumed).await;
    resumed.released
}

async fn say(house: &House, so_far: &mut i64, text: &str) -> Option<String> {
    let before = house.texts_to(GUEST).len();
    house.text(GUEST, text);
    *so_far += 1;
    house.settle(*so_far).await;
    let said = house.texts_to(GUEST)[before..].join(" ");
    (!said.is_empty()).then_some(said)
}

#[tokio::test] // SEC-33, SEC-104, SEC-109, SEC-113, SEC-114, CONV-44, C-31
async fn who_asks_for_a_person_gets_one_and_nothing_is_lost() {
    let (house, mut n) = (at("sessions_person", MORNING).await, 0);
    assert!(
        say(&house, &mut n, "Which restaurants do you have?")
            .await
            .is_some()
    );
    let told = say(&house, &mut n, "I want to talk to a manager")
        .await
        .unwrap();
    assert!(
        told.contains("a person will reply shortly") && told.contains("1-860-555-0199"),
        "{told}"
    );
    let case = "select count(*) from escalations where reason = 'asks_for_human' and severity = 'sev2' and source = 'keyword'
        and ack_due_at - created_at = interval '2 hours' and respond_due_at - created_at = interval '15 minutes' and resolved_at is null";
    assert_eq!(house.number(case).await, 1);
    assert_eq!(
        house
            .number("select count(*) from audit_log where action = 'escalation_triggered'")
            .await,
        1
    );
    // The guest's next text gets the only holding text of this pause. The text after it gets no
    // answer. Neither text makes a turn.
    let told = say(&house, &mut n, "Hello? What time does the pool open?")
        .await
        .unwrap();
    assert!(
        told.contains("kept your message") && told.contains("1-860-555-0199"),
        "{told}"
    );
    assert_eq!(say(&house, &mut n, "anyone there").await, None);
    assert_eq!(house.count("inbound", "held").await, 2);
    assert_eq!(house.number("select count(*) from turns").await, 2);
    // The gate still answers HELP, and another guest's conversation goes on.
    assert!(
        say(&house, &mut n, "HELP")
            .await
            .unwrap()
            .contains("STOP to end")
    );
    house.text(OTHER, "What time is check-in?");
    n += 1;
    house.settle(n).await;
    assert!(
        house.said_to(OTHER).contains("4pm"),
        "{}",
        house.said_to(OTHER)
    );
    // An operator reads the conversation and returns it to the host. The host answers the held
    // texts, and the wish for a manager opens no second case.
    let fleet = &house.stack.fleet;
    let mut tx = fleet.store.bind(house.casino()).await.unwrap();
    let shown = tx
        .shown_conversation(conversation(&house).await)
        .await
        .unwrap()
        .unwrap();
    assert!(shown.paused && shown.paused_until.is_some() && shown.held_texts == 2);
    assert_eq!(shown.pause_reason.as_deref(), Some("asks_for_human"));
    assert_eq!(shown.cases.as_array().unwrap().len(), 1);
    tx.commit().await.unwrap();
    let before = house.texts_to(GUEST).len();
    assert_eq!(resume(&house, "Robin").await, 2);
    house.settle(n).await;
    let said = house.texts_to(GUEST)[before..].join(" ");
    assert!(said.to_lowercase().contains("pool"), "{said}");
    assert_eq!(house.count("inbound", "held").await, 0);
    assert_eq!(house.number("select count(*) from escalations").await, 1);
    let audited = "select count(*) from audit_log where action = 'conversation_resumed' and actor = 'Robin' and guest_hash is not null";
    assert_eq!(house.number(audited).await, 1);
    house.stop().await;
}

#[tokio::test] // D7, SEC-109: STOP while a person is awaited
async fn stop_works_in_a_pause() {
    let (house, mut n) = (at("sessions_stop", MORNING).await, 0);
    say(&house, &mut n, "quiero hablar con un gerente").await;
    assert!(
        house
            .said_to(GUEST)
            .contains("una persona le escribe en breve"),
        "{}",
        house.said_to(GUEST)
    );
    say(&house, &mut n, "¿hay alguien?").await;
    assert!(
        say(&house, &mut n, "STOP")
            .await
            .unwrap()
            .contains("su baja")
    );
    assert_eq!(
        house.count("inbound", "held").await,
        0,
        "a guest who left waits for nothing"
    );
    assert_eq!(resume(&house, "Robin").await, 0);
    house.stop().await;
}

#[tokio::test] // D28: a promise that nobody keeps is told once, and the case climbs
async fn who_was_promised_a_person_is_told_when_nobody_writes() {
    let (house, mut n) = (at("sessions_overdue", MORNING).await, 0);
    say(&house, &mut n, "I want to talk to a manager").await;
    say(&house, &mut n, "What time does the pool open?").await;
    run(
        &house,
        "update escalations set acknowledged_at = now(), acknowledged_by = 'Robin'",
    )
    .await;
    let before = house.texts_to(GUEST).len();
    // Ends the pause twice. If the first round left a row behind, the second round would find it
    // and tell the guest again.
    for _ in 0..2 {
        run(
            &house,
            "update escalations set respond_due_at = now();
             update conversations set paused_until = now() where paused_at is not null;
             update due set due_at = now() where kind = 'resume'",
        )
        .await;
        until("the pause is over", Duration::from_secs(20), || async {
            house
                .number("select count(*) from conversations where paused_at is not null")
                .await
                == 0
        })
        .await;
        house.settle(n).await;
        let told = &house.texts_to(GUEST)[before..];
        assert!(told[0].contains("nobody from the"), "{told:?}");
        assert!(told[0].contains("1-860-555-0199"), "{told:?}");
        assert!(told[1].to_lowercase().contains("pool"), "the host goes on");
        assert_eq!(told.len(), 2, "{told:?}");
        run(
            &house,
            "update conversations set paused_at = now() - interval '1 hour', paused_until = now(), pause_reason = 'asks_for_human';
             insert into due (casino_id, kind, row_id, due_at) select casino_id, 'resume', conversation_id, now() from conversations
               on conflict do nothing",
        )
        .await;
    }
    let risen = "select count(*) from escalations where level >= 2 and acknowledged_at is null";
    assert_eq!(house.number(risen).await, 1);
    house.stop().await;
}

#[tokio::test] // SEC-104: after its time the host goes on, unless a person has the case in hand
async fn a_pause_ends_by_itself() {
    let (house, mut n) = (at("sessions_wake", MORNING).await, 0);
    for in_hand in [false, true] {
        say(&house, &mut n, "I want to file a complaint").await;
        if in_hand {
            run(
                &house,
                "update escalations set acknowledged_at = now(), acknowledged_by = 'Robin'",
            )
            .await;
            // A cry for help in the same pause is answered, but the conversation stays with Robin.
            say(
                &house,
                &mut n,
                "someone collapsed at the buffet call an ambulance",
            )
            .await;
        }
        say(&house, &mut n, "What time does the pool open?").await;
        assert_eq!(house.count("inbound", "held").await, 1);
        let before = house.texts_to(GUEST).len();
        run(
            &house,
            "update conversations set paused_until = now(); update due set due_at = now() where kind = 'resume'",
        )
        .await;
        until("the pause is over", Duration::from_secs(20), || async {
            house
                .number("select count(*) from conversations where paused_at is not null")
                .await
                == 0
        })
        .await;
        house.settle(n).await;
        let said = house.texts_to(GUEST)[before..].join(" ");
        assert_eq!(said.to_lowercase().contains("pool"), !in_hand, "{said}");
        assert_eq!(house.count("inbound", "held").await, i64::from(in_hand));
    }
    // The same complaint twice makes one case with a repeat; the cry makes another case.
    assert_eq!(house.number("select count(*) from escalations").await, 2);
    assert_eq!(
        house
            .number("select sum(repeats)::bigint from escalations")
            .await,
        1
    );
    assert_eq!(
        house
            .number("select count(*) from due where kind = 'resume'")
            .await,
        0
    );
    // The host answers new texts again.
    assert!(
        say(&house, &mut n, "Which restaurants do you have?")
            .await
            .is_some()
    );
    house.stop().await;
}

#[tokio::test] // PROD-19's other side: who drops it is served again
async fn a_guest_thinks_again() {
    let (house, mut n) = (at("sessions_drop", "2026-11-24T04:00:00Z").await, 0);
    let told = say(&house, &mut n, "get me a human please").await.unwrap();
    assert!(
        told.contains("first thing in the morning"),
        "nobody writes at eleven at night: {told}"
    );
    let said = say(&house, &mut n, "never mind. what time does the pool open?")
        .await
        .unwrap();
    assert!(said.to_lowercase().contains("pool"), "{said}");
    assert_eq!(
        house
            .number("select count(*) from escalations where resolved_by = 'guest'")
            .await,
        1
    );
    assert_eq!(
        house
            .number("select count(*) from conversations where paused_at is not null")
            .await,
        0
    );
    house.stop().await;
}

#[tokio::test] // SEC-104, SEC-27: a life at stake; cries go on being answered, chat is not
async fn after_a_cry_the_host_is_silent_and_help_is_not() {
    let (house, mut n) = (at("sessions_cry", MORNING).await, 0);
    assert!(
        say(&house, &mut n, "I want to kill myself")
            .await
            .unwrap()
            .contains("988")
    );
    let told = say(&house, &mut n, "what time does the buffet open?")
        .await
        .unwrap();
    assert!(told.contains("kept your message"), "{told}");
    assert!(
        say(&house, &mut n, "I really want to die")
            .await
            .unwrap()
            .contains("988")
    );
    assert_eq!(house.number("select count(*) from turns").await, 0);
    let sla = "select count(*) from escalations where severity = 'sev0' and respond_due_at - created_at = interval '15 minutes'";
    assert!(house.number(sla).await >= 1);
    house.stop().await;
}

#[tokio::test] // SMS-26, DATA-25, SEC-51, C-53, DATA-21
async fn who_comes_back_after_two_days_is_welcomed_by_what_is_known() {
    let (house, mut n) = (at("sessions_back", MORNING).await, 0);
    say(
        &house,
        &mut n,
        "Hi, my name is Ana. When is the Cinder Grove open?",
    )
    .await;
    hours_pass(&house, 47).await;
    let said = say(&house, &mut n, "Is there parking?").await.unwrap();
    assert!(!said.contains("Welcome back"), "{said}");
    assert_eq!(house.number("select count(*) from sessions").await, 1);
    say(&house, &mut n, "And what about the Cinder Grove?").await;
    hours_pass(&house, 49).await;
    let said = say(&house, &mut n, "Hello").await.unwrap();
    assert!(
        said.contains("Welcome back, Ana.") && said.contains("AI host"),
        "{said}"
    );
    assert!(
        said.contains("Last time we talked about Cinder Grove"),
        "{said}"
    );
    assert_eq!(house.number("select count(*) from sessions").await, 2);
    let said = say(&house, &mut n, "What time does the pool open?")
        .await
        .unwrap();
    assert!(
        !said.contains("Welcome back") && !said.contains("AI host"),
        "{said}"
    );
    // For a guest who gave no facts, the greeting invents none.
    house.text(OTHER, "What time is check-in?");
    n += 1;
    house.settle(n).await;
    hours_pass(&house, 49).await;
    house.text(OTHER, "Hello");
    n += 1;
    house.settle(n).await;
    let last = house
        .texts_to(OTHER)
        .into_iter()
        .skip(1)
        .collect::<Vec<_>>()
        .join(" ");
    assert!(
        last.contains("Welcome back.") && !last.contains("Ana") && !last.contains("Cinder"),
        "{last}"
    );
    house.stop().await;
}

#[tokio::test] // CONV-30, DATA-24, SEC-76, DATA-49, D9
async fn sessions_keep_the_phase_and_are_told_kept_and_removed() {
    let (house, mut n) = (at("sessions_phase", MORNING).await, 0);
    let phase = "select count(*) from sessions s join profiles p using (guest_id) where s.phase = p.document->'engagement'->>'conversation_phase' and s.phase = ";
    for (text, wanted) in [
        ("Which restaurants do you have?", "active"),
        ("What time does the pool open?", "active"),
        ("Is there a spa?", "rapport"),
    ] {
        say(&house, &mut n, text).await;
        let pool = PgPool::connect(&house.database_url).await.unwrap();
        let found: i64 = sqlx::query_scalar(AssertSqlSafe(format!("{phase}'{wanted}'")))
            .fetch_one(&pool)
            .await
            .unwrap();
        pool.close().await;
        assert_eq!(found, 1, "{text}");
    }
    assert_eq!(house.number("select turns::bigint from sessions").await, 3);
    let fleet = &house.stack.fleet;
    let conversation = conversation(&house).await;
    let hash = fleet.keys.hash(house.casino(), &GUEST.parse().unwrap());
    let mut tx = fleet.store.bind(house.casino()).await.unwrap();
    let export = tx.export_guest(&hash).await.unwrap();
    let sessions = export["conversations"][0]["sessions"].as_array().unwrap();
    assert!(
        sessions.len() == 1 && sessions[0]["phase"] == "rapport",
        "{sessions:?}"
    );
    tx.commit().await.unwrap();
    // Another casino can neither see nor change this conversation.
    let other: CasinoId = "another_casino".parse().unwrap();
    let mut tx = fleet.store.bind(&other).await.unwrap();
    let place = tx
        .place(
            conversation,
            Shown {
                useful: Duration::from_secs(86_400),
                most: 5,
                canned: &[],
            },
        )
        .await
        .unwrap();
    assert!(
        place.session.is_none()
            && place.before.is_none()
            && place.paused.is_none()
            && place.recent_cases == 0
    );
    assert!(tx.shown_conversation(conversation).await.unwrap().is_none());
    assert!(tx.conversation_of(conversation.0).await.unwrap().is_none());
    tx.pause(conversation, "operator", None).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(
        house
            .number("select count(*) from conversations where paused_at is not null")
            .await,
        0
    );
    // Retention deletes sessions that ended long ago, but never the current one, however old it is.
    run(
        &house,
        "insert into sessions (casino_id, session_id, conversation_id, guest_id, started_at, last_at)
           select casino_id, gen_random_uuid(), conversation_id, guest_id, now() - interval '500 days', now() - interval '499 days' from conversations;
         update sessions set last_at = now() - interval '499 days'",
    )
    .await;
    let mut tx = fleet.store.bind(house.casino()).await.unwrap();
    let counts = tx.apply_retention(90, 365).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(counts["sessions"], 1);
    assert_eq!(house.number("select count(*) from sessions").await, 1);
    house.stop().await;
}

#[tokio::test] // SEC-59, D4: a person takes over while the host thinks
async fn an_operator_takes_a_conversation_over() {
    let (house, mut n) = (at("sessions_operator", MORNING).await, 0);
    say(&house, &mut n, "Which restaurants do you have?").await;
    let fleet = &house.stack.fleet;
    let conversation = conversation(&house).await;
    let mut tx = fleet.store.bind(house.casino()).await.unwrap();
    tx.cancel_unsent(conversation, "conversation_paused")
        .await
        .unwrap();
    tx.pause(conversation, "operator", None).await.unwrap();
    tx.commit().await.unwrap();
    assert!(
        say(&house, &mut n, "What time does the pool open?")
            .await
            .unwrap()
            .contains("kept your message")
    );
    // A timed pause does not shorten an operator's pause, and settling a case does not end it.
    let mut tx = fleet.store.bind(house.casino()).await.unwrap();
    tx.pause(conversation, "complaint", Some(Duration::ZERO))
        .await
        .unwrap();
    tx.commit().await.unwrap();
    assert_eq!(say(&house, &mut n, "hello?").await, None);
    assert_eq!(
        house.number("select count(*) from conversations where paused_at is not null and paused_until is null").await,
        1
    );
    assert_eq!(resume(&house, "Robin").await, 2);
    house.settle(n).await;
    assert!(
        house.said_to(GUEST).to_lowercase().contains("pool"),
        "{}",
        house.said_to(GUEST)
    );
    house.stop().await;
}
