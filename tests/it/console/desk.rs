//! Persons who take conversations over. Each of their texts arrives once. Nobody can write in a
//! conversation that somebody else holds.

use std::time::Duration;

use reqwest::StatusCode;
use seven_domain::Role;

use super::{staff::Staff, with_console};
use crate::harness::{GUEST, until};

#[tokio::test] // D27, AGENT-15: a text against a thread that moved on is not sent, and its words are kept
async fn a_text_against_a_thread_that_moved_on_is_refused_and_kept() {
    let house = with_console("console_moved").await;
    let staff = Staff::new(&house);
    house.text(GUEST, "What time is check-in?");
    house.settle(1).await;
    let here = Some(house.casino());
    let luis = staff.add("luis@example.com", Role::Host, here).await;
    let maria = staff.add("maria@example.com", Role::Host, here).await;
    let (luis, maria) = (luis.logged_in(&house).await, maria.logged_in(&house).await);
    let thread = format!(
        "/c/silver_birch/conversations/{}",
        staff.conversation().await
    );
    let say = format!("{thread}/say");
    let field = |body: &str, name: &str| {
        let rest = body.split(&format!("name=\"{name}\" value=\"")).nth(1);
        rest.unwrap().split('"').next().unwrap().to_owned()
    };
    let mark = |body: &str| field(body, "read");
    let read = mark(&luis.get(&thread).await.body);
    let write = [("text", "Luis here, <b>one</b> moment"), ("read", &*read)];
    // Nobody has taken the conversation over yet, so a person's text is refused.
    let page = luis.act(&say, &write).await;
    assert_eq!(page.status, StatusCode::CONFLICT);
    luis.act(&format!("{thread}/takeover"), &[("reason", "asked for me")])
        .await;
    // The guest writes while luis's page still shows the conversation without this text.
    house.text(GUEST, "Are you there?");
    until("the text is stored", Duration::from_secs(20), || async {
        mark(&luis.get(&thread).await.body) != read
    })
    .await;
    let page = luis.act(&say, &write).await;
    assert_eq!(page.status, StatusCode::CONFLICT);
    assert!(
        page.body
            .contains("Luis here, &#60;b&#62;one&#60;/b&#62; moment"),
        "{}",
        page.body
    );
    assert!(page.body.contains("went on while you wrote"));
    // After luis has read the guest's text, his own text is sent. If he sends the same form again,
    // it is refused.
    let read = mark(&page.body);
    let write = [("text", "Luis here, one moment"), ("read", &*read)];
    assert_eq!(luis.act(&say, &write).await.status, StatusCode::SEE_OTHER);
    assert_eq!(luis.act(&say, &write).await.status, StatusCode::CONFLICT);
    // Maria sees that luis holds the conversation, and can write only after she takes it over.
    let page = maria.get(&thread).await;
    assert!(
        page.body
            .contains("<strong>luis</strong> has taken this conversation over.")
    );
    let read = mark(&page.body);
    let write = [("text", "Maria here"), ("read", &*read)];
    assert_eq!(maria.act(&say, &write).await.status, StatusCode::CONFLICT);
    let held = field(&page.body, "held");
    let reason = [("reason", "end of shift"), ("held", &*held)];
    let blank = [("reason", " "), ("held", &*held)];
    let takeover = format!("{thread}/takeover");
    let page = maria.act(&takeover, &blank).await;
    assert_eq!(page.status, StatusCode::UNPROCESSABLE_ENTITY);
    let page = maria.act(&takeover, &[("reason", "x"), ("held", "")]).await;
    assert_eq!(page.status, StatusCode::CONFLICT, "it is not free");
    maria.act(&takeover, &reason).await;
    let read = mark(&maria.get(&thread).await.body);
    let write = [("text", "Maria here"), ("read", &*read)];
    assert_eq!(maria.act(&say, &write).await.status, StatusCode::SEE_OTHER);
    until("both texts arrived", Duration::from_secs(20), || async {
        let texts = house.texts_to(GUEST);
        let sent = |words: &str| texts.iter().filter(|text| text.contains(words)).count();
        sent("Luis here") == 1 && sent("Maria here") == 1
    })
    .await;
    // Luis's page is outdated and shows luis as the holder. With this page, he cannot release the
    // conversation that Maria holds now.
    let old = luis.act(&format!("{thread}/release"), &[]).await;
    assert_eq!(old.status, StatusCode::CONFLICT);
    // After Maria releases the conversation, the host answers again.
    let held = field(&maria.get(&thread).await.body, "held");
    let release = format!("{thread}/release");
    maria.act(&release, &[("held", &*held)]).await;
    let before = house.texts_to(GUEST).len();
    house.text(GUEST, "What time is check-out?");
    until("the host answers", Duration::from_secs(20), || async {
        house.texts_to(GUEST).len() > before
    })
    .await;
    let entries = house
        .number("select count(*) from audit_log where actor like 'operator:%' and action in ('conversation_paused', 'person_wrote', 'conversation_resumed')")
        .await;
    assert_eq!(entries, 5, "two takeovers, two texts, one release");
    house.stop().await;
}

#[tokio::test] // SEC-104
async fn a_case_is_acknowledged_and_settled_by_name() {
    let house = with_console("console_cases").await;
    let staff = Staff::new(&house);
    house.text(GUEST, "I want to speak to a manager");
    house.settle(1).await;
    let luis = staff
        .add("luis@example.com", Role::Host, Some(house.casino()))
        .await;
    let luis = luis.logged_in(&house).await;
    let page = luis.get("/c/silver_birch/cases").await;
    assert!(page.body.contains("I handle it"), "{}", page.body);
    let case = house
        .texts_of("select escalation_id::text from escalations")
        .await;
    let path = format!("/c/silver_birch/cases/{}", case[0]);
    let odd = luis.act(&path, &[("what", "burn")]).await;
    assert_eq!(odd.status, StatusCode::NOT_FOUND);
    luis.act(&path, &[("what", "acknowledge")]).await;
    let page = luis.get("/c/silver_birch/cases").await;
    assert!(page.body.contains("in hand: luis"), "{}", page.body);
    luis.act(&path, &[("what", "resolve")]).await;
    let page = luis.get("/c/silver_birch/cases").await;
    assert!(page.body.contains("No open cases."), "{}", page.body);
    house.stop().await;
}
