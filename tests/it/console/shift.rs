//! A day at the console, for a person with the role of host: filters, saved replies, facts about a
//! guest, colleagues in the same conversation, and the end of a shift.

use std::time::Duration;

use reqwest::StatusCode;
use seven_domain::{Language, Role};
use seven_packs::TextKey;
use sha2::{Digest, Sha256};

use super::{
    staff::{Caller, Staff},
    with_console,
};
use crate::harness::{GUEST, until};

const SPANISH_GUEST: &str = "+18605550147";

fn field(body: &str, name: &str) -> String {
    let rest = body.split(&format!("name=\"{name}\" value=\"")).nth(1);
    rest.unwrap().split('"').next().unwrap().to_owned()
}

#[tokio::test] // D27
async fn a_saved_reply_is_put_into_a_text_in_the_guests_language() {
    let house = with_console("console_saved").await;
    let staff = Staff::new(&house);
    house.text(SPANISH_GUEST, "¿A qué hora es la entrada?");
    house.settle(1).await;
    let luis = staff
        .add("luis@example.com", Role::Host, Some(house.casino()))
        .await;
    let luis = luis.logged_in(&house).await;
    let replies = "/c/silver_birch/replies";
    // The page shows all problems at once, and nothing is stored.
    let long = "word ".repeat(300);
    let wrong = [("what", "save"), ("title", " "), ("es", &*long)];
    let page = luis.act(replies, &wrong).await;
    assert_eq!(page.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(page.body.contains("Give it a title.") && page.body.contains("That is too long."));
    assert_eq!(house.number("select count(*) from saved_replies").await, 0);
    let valet = [
        ("what", "save"),
        ("title", "Valet <b>"),
        ("en", "Your car is on its way."),
        ("es", "Su auto viene en camino."),
    ];
    assert_eq!(
        luis.act(replies, &valet).await.status,
        StatusCode::SEE_OTHER
    );
    let again = [("what", "save"), ("title", "VALET <B>"), ("en", "x")];
    let page = luis.act(replies, &again).await;
    assert!(
        page.body.contains("Another saved reply has this title."),
        "{}",
        page.body
    );
    let page = luis.get(replies).await.body;
    assert!(
        page.contains("Valet &#60;b&#62;") && !page.contains("Valet <b>"),
        "{page}"
    );
    // The saved reply is appended to Luis's words, in the guest's language. Nothing is sent yet.
    let thread = format!(
        "/c/silver_birch/conversations/{}",
        staff.conversation().await
    );
    luis.act(&format!("{thread}/takeover"), &[("reason", "valet")])
        .await;
    let id = house
        .texts_of("select reply_id::text from saved_replies")
        .await
        .remove(0);
    let insert = [("text", "Un momento."), ("saved", &*id)];
    let page = luis.act(&format!("{thread}/insert"), &insert).await;
    assert_eq!(page.status, StatusCode::OK);
    assert!(
        page.body
            .contains(">Un momento. Su auto viene en camino.</textarea>"),
        "{}",
        page.body
    );
    let sent = house.texts_to(SPANISH_GUEST).len();
    let read = field(&page.body, "read");
    let text = [
        ("text", "Un momento. Su auto viene en camino."),
        ("read", &*read),
    ];
    assert_eq!(
        luis.act(&format!("{thread}/say"), &text).await.status,
        StatusCode::SEE_OTHER
    );
    until("it arrives", Duration::from_secs(20), async || {
        house.texts_to(SPANISH_GUEST).len() == sent + 1
    })
    .await;
    // A person in marketing can neither see nor change saved replies.
    let eva = staff
        .add("eva@example.com", Role::Marketing, Some(house.casino()))
        .await;
    let eva = eva.logged_in(&house).await;
    assert_eq!(eva.get(replies).await.status, StatusCode::NOT_FOUND);
    assert_eq!(eva.act(replies, &valet).await.status, StatusCode::NOT_FOUND);
    let remove = [("what", "remove"), ("reply", &*id)];
    luis.act(replies, &remove).await;
    assert_eq!(house.number("select count(*) from saved_replies").await, 0);
    let audited = "select count(*) from audit_log where action = 'saved_reply_changed'";
    assert_eq!(house.number(audited).await, 2);
    house.stop().await;
}

#[tokio::test] // D27, DATA-15: a person's correction replaces what the host understood
async fn a_fact_about_a_guest_is_corrected_and_the_host_uses_it() {
    let house = with_console("console_profile").await;
    let staff = Staff::new(&house);
    house.text(GUEST, "my name is Priya, we are 4 people");
    house.settle(1).await;
    let luis = staff
        .add("luis@example.com", Role::Host, Some(house.casino()))
        .await;
    let luis = luis.logged_in(&house).await;
    let thread = format!(
        "/c/silver_birch/conversations/{}",
        staff.conversation().await
    );
    let profile = format!("{thread}/profile");
    let page = luis.get(&thread).await.body;
    assert!(
        page.contains("<th scope=\"row\">Party size</th><td>4 ("),
        "{page}"
    );
    let size = |value: &'static str| [("field", "visit_context.party_size"), ("value", value)];
    let page = luis.act(&profile, &size("many")).await;
    assert_eq!(page.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(
        page.body.contains("This fact cannot have that value."),
        "{}",
        page.body
    );
    assert_eq!(
        luis.act(&profile, &size("6")).await.status,
        StatusCode::SEE_OTHER
    );
    let diet = [
        ("field", "preferences.dining.dietary_restrictions"),
        ("value", "vegan, no nuts"),
    ];
    luis.act(&profile, &diet).await;
    let page = luis.get(&thread).await.body;
    assert!(
        page.contains("<th scope=\"row\">Party size</th><td>6 (95 %)"),
        "{page}"
    );
    assert!(page.contains("vegan") && page.contains("no nuts"), "{page}");
    let source = "select document #>> '{visit_context,party_size,source}' from profiles";
    assert_eq!(house.texts_of(source).await, ["operator"]);
    // The host's next turn does not overwrite a value that a person entered.
    house.text(GUEST, "What time is check-in?");
    house.settle(2).await;
    let value = "select document #>> '{visit_context,party_size,value}' from profiles";
    assert_eq!(house.texts_of(value).await, ["6"]);
    // Sending an empty value removes the fact; the second time there is nothing to remove.
    luis.act(&profile, &size("")).await;
    let page = luis.act(&profile, &size(" ")).await;
    assert!(
        page.body.contains("There is nothing to remove"),
        "{}",
        page.body
    );
    let unknown = [("field", "core_identity.language"), ("value", "es")];
    assert_eq!(
        luis.act(&profile, &unknown).await.status,
        StatusCode::NOT_FOUND
    );
    let audited = "select count(*) from audit_log where action = 'profile_updated' and actor like 'operator:%'
        and detail::text not like '%vegan%'";
    assert_eq!(house.number(audited).await, 3);
    house.stop().await;
}

#[tokio::test] // DATA-40, DATA-41, DATA-42
async fn a_guest_who_wants_nothing_kept_is_answered_and_nothing_is_learnt() {
    let house = with_console("console_revoked").await;
    let staff = Staff::new(&house);
    house.text(GUEST, "my name is Priya, we are 4 people");
    house.settle(1).await;
    let luis = staff
        .add("luis@example.com", Role::Host, Some(house.casino()))
        .await;
    let luis = luis.logged_in(&house).await;
    let thread = format!(
        "/c/silver_birch/conversations/{}",
        staff.conversation().await
    );
    let profile = format!("{thread}/profile");
    let page = luis.get(&thread).await.body;
    assert!(
        page.contains("The guest agreed to our keeping facts on"),
        "{page}"
    );
    let config = &house.config;
    let pack = house.stack.fleet.packs.of(config).unwrap();
    let shown = pack.say(TextKey::Disclosure, Language::En, config);
    assert!(house.texts_to(GUEST)[0].starts_with(&*shown), "{shown}");
    let shown: String = Sha256::digest(shown.as_bytes())
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let grant = "select document #>> '{consent_grants,0,consent_text_hash}' from profiles";
    assert_eq!(
        house.texts_of(grant).await,
        [shown],
        "of what the guest read"
    );
    let via = "select document #>> '{consent_grants,0,granted_via}' from profiles";
    assert_eq!(house.texts_of(via).await, ["text"]);

    let silent = luis.act(&profile, &[("what", "revoke")]).await;
    assert_eq!(silent.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(silent.body.contains("who asked and when"));
    // Stores a model's answer. The revocation has to delete it, because a turn in progress would
    // use it.
    let answers = "select count(*) from model_results";
    house
        .change(
            "insert into model_results (casino_id, conversation_id, texts, step, result)
             select casino_id, conversation_id, gen_random_uuid(), 'host', '{}' from conversations",
        )
        .await;
    assert_eq!(house.number(answers).await, 1);
    let revoke = [("what", "revoke"), ("reason", "The guest, by phone today.")];
    assert_eq!(
        luis.act(&profile, &revoke).await.status,
        StatusCode::SEE_OTHER
    );
    assert_eq!(house.number(answers).await, 0);
    let page = luis.get(&thread).await.body;
    assert!(
        page.contains("by phone today. What was kept is used no more"),
        "{page}"
    );
    assert!(
        !page.contains("Party size</th>") && !page.contains("id=\"correct\""),
        "{page}"
    );
    let again = luis.act(&profile, &revoke).await;
    assert!(
        again.body.contains("The guest wants nothing kept."),
        "{}",
        again.body
    );
    let size = [("field", "visit_context.party_size"), ("value", "6")];
    assert_eq!(
        luis.act(&profile, &size).await.status,
        StatusCode::UNPROCESSABLE_ENTITY
    );
    let audited = "select detail->>'scope' from audit_log where action = 'profile_updated'
        and jsonb_array_length(detail->'fields_affected') = 2";
    assert_eq!(house.texts_of(audited).await, ["personalization"]);

    let remembered = "select count(*) from sessions where dialogue->>'party' is not null";
    assert_eq!(house.number(remembered).await, 0, "nor does the session");
    house.text(
        GUEST,
        "We are coming on Friday, I am vegan. Is there a pool?",
    );
    house.settle(2).await;
    let learnt = "select count(*) from turns where jsonb_array_length(record->'learnt') > 0";
    assert_eq!(house.number(learnt).await, 1, "only the first text");
    let answer = house.texts_to(GUEST).pop().unwrap();
    assert!(
        answer.contains("pool") || answer.contains("Pool"),
        "{answer}"
    );
    assert!(!answer.contains("Priya"), "{answer}");
    luis.act(&profile, &[("what", "grant")]).await;
    house.text(GUEST, "I am vegan. Which restaurant fits?");
    house.settle(3).await;
    assert_eq!(house.number(learnt).await, 2);
    let page = luis.get(&thread).await.body;
    assert!(
        page.contains("vegan") && !page.contains("Party size</th>"),
        "{page}"
    );
    house.stop().await;
}

/// Waits until the title shows this number of waiting cases. The number may be late, because the
/// console reads the cases only now and then, for all open pages together.
async fn waits(caller: &Caller, cases: usize) {
    let wanted = format!("data-waiting=\"{cases}\"");
    until("the number of cases", Duration::from_secs(10), async || {
        caller
            .get("/c/silver_birch/count")
            .await
            .body
            .contains(&wanted)
    })
    .await;
}

#[tokio::test] // D27, D28: open threads are handed on, and nobody's are told of
async fn the_end_of_a_shift_hands_open_threads_on() {
    let house = with_console("console_shift").await;
    let staff = Staff::new(&house);
    house.text(GUEST, "What time is check-in?");
    house.text(SPANISH_GUEST, "¿A qué hora es la entrada?");
    house.settle(2).await;
    let here = Some(house.casino());
    let (luis, maria) = (
        staff.add("luis@example.com", Role::Host, here).await,
        staff.add("maria@example.com", Role::Host, here).await,
    );
    let eva = staff.add("eva@example.com", Role::Manager, here).await;
    let (marias, evas) = (
        format!("operator:{}", maria.id),
        format!("operator:{}", eva.id),
    );
    let (luis, maria) = (luis.logged_in(&house).await, maria.logged_in(&house).await);
    let list = "/c/silver_birch/conversations";
    // The list can be filtered by language and by case.
    let spanish = luis.get(&format!("{list}/list?language=es")).await.body;
    assert!(
        spanish.contains("0147") && spanish.matches("<li>").count() == 1,
        "{spanish}"
    );
    let none = luis.get(&format!("{list}/list?case=open")).await.body;
    assert!(none.contains("Nothing here."), "{none}");
    let ids = house
        .texts_of("select conversation_id::text from conversations order by conversation_id")
        .await;
    let thread = |n: usize| format!("{list}/{}", ids[n]);
    for n in 0..2 {
        luis.act(&format!("{}/takeover", thread(n)), &[("reason", "mine")])
            .await;
    }
    // Luis and Maria each see that the other one has the conversation open.
    luis.get(&thread(0)).await;
    let page = maria.get(&thread(0)).await.body;
    assert!(page.contains("Also here now: <bdi>luis</bdi>"), "{page}");
    let page = luis.get(&format!("{}/texts", thread(0))).await.body;
    assert!(page.contains("Also here now: <bdi>maria</bdi>"), "{page}");
    // A manager cannot write to guests, so Luis cannot hand the conversation to a manager.
    let hand = format!("{}/handon", thread(0));
    let page = luis.act(&hand, &[("to", &*evas)]).await;
    assert_eq!(page.status, StatusCode::CONFLICT);
    assert!(
        page.body.contains("cannot write to guests here"),
        "{}",
        page.body
    );
    luis.act(&hand, &[("to", &*marias)]).await;
    let page = luis.act(&hand, &[("to", "")]).await;
    assert_eq!(page.status, StatusCode::CONFLICT, "it is Maria's now");
    let page = maria.get(&thread(0)).await.body;
    assert!(
        page.contains("You have taken this conversation over."),
        "{page}"
    );
    // At the end of the shift, Luis hands his other conversation to nobody in particular. The host
    // stays silent there, and a case is opened.
    let page = luis.get(list).await.body;
    assert!(
        page.contains("id=\"shift\"") && page.contains(">maria</option>"),
        "{page}"
    );
    let shift = format!("{list}/shift");
    let page = luis.act(&shift, &[("to", &*evas)]).await;
    assert_eq!(page.status, StatusCode::CONFLICT);
    assert!(page.body.contains("cannot write to guests here"));
    luis.act(&shift, &[("to", "")]).await;
    let open = "select reason || ' ' || (paused_at is not null)::text || ' ' || (acknowledged_at is null)::text
        from escalations join conversations using (conversation_id) where resolved_at is null";
    assert_eq!(house.texts_of(open).await, ["handed_on true true"]);
    assert_eq!(
        house
            .number("select count(*) from conversation_holders")
            .await,
        1
    );
    waits(&luis, 1).await;
    let with_case = luis.get(&format!("{list}?case=sev2")).await.body;
    assert_eq!(
        with_case.matches("<li><a class=\"item\"").count(),
        1,
        "{with_case}"
    );
    // Maria takes the conversation over and later hands it on. While she holds the conversation,
    // the case does not wait. Afterwards the case waits again, with the full time for an
    // acknowledgement.
    maria
        .act(&format!("{}/takeover", thread(1)), &[("reason", "next")])
        .await;
    waits(&luis, 0).await;
    house
        .change("update escalations set ack_due_at = ack_due_at - interval '1 day', created_at = created_at - interval '1 day'")
        .await;
    maria
        .act(&format!("{}/handon", thread(1)), &[("to", "")])
        .await;
    let overdue =
        "select count(*) from escalations where acknowledged_at is null and ack_due_at < now()";
    assert_eq!(house.number(overdue).await, 0);
    assert_eq!(
        house.number("select count(*) from escalations").await,
        1,
        "still one case"
    );
    house.stop().await;
}
