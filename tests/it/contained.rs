//! When the fleet finds an incident, it first contains and records the incident, and only then
//! notifies people (SEC-94 to SEC-106). The tests check this order in the rows. They cause each
//! kind of incident by changing rows of a healthy conversation.

use std::time::Duration;

use reqwest::StatusCode;
use seven_domain::Role;
use seven_settings::Worker;
use seven_testkit::pagers::{Pagers, Side};

use crate::{
    console::staff::Staff,
    harness::{GUEST, House, Wanted, house, until},
    notices::{contact, told},
};

const SHORT: Duration = Duration::from_secs(30);
const NEIGHBOUR: &str = "+18605550143";

/// Starts a house with a contact that gets all notices, and with one answered text of a guest.
async fn answered(name: &str, chat: &Pagers) -> House {
    let house = house(name, Wanted::default()).await;
    let casino = house.casino().as_str().to_owned();
    contact(&house, &casino, &chat.slack_url(), &["--name", "Desk"]).await;
    house.text(GUEST, "What time is check-in?");
    house.settle(1).await;
    house
}

/// Waits for the only incident, and checks that the fleet contained it before anybody was told.
async fn contained(house: &House, chat: &Pagers, kind: &str, actions: &str) {
    told(chat, 1).await;
    let rows = house
        .texts_of(
            "select kind || ' ' || state || ' ' || array_to_string(actions, '+') from incidents",
        )
        .await;
    assert_eq!(rows, [format!("{kind} mitigating {actions}")]);
    let in_order = "select count(*) from incidents i join escalations e using (casino_id, escalation_id)
        join case_notices n using (casino_id, escalation_id)
        where i.contained_at <= e.created_at and e.created_at < n.created_at and n.created_at <= n.delivered_at";
    until("the notice is recorded", SHORT, || async {
        house.number(in_order).await == 1
    })
    .await;
    assert_eq!(
        house
            .number("select count(*) from conversations where pause_reason = 'incident' and paused_until is null")
            .await,
        1
    );
    assert_eq!(
        house
            .number("select count(*) from audit_log where action = 'incident_changed'")
            .await,
        1
    );
}

#[tokio::test(flavor = "multi_thread")] // SEC-94, SEC-95, SEC-101, SEC-106
async fn a_text_after_stop_pauses_campaigns_before_anybody_is_told() {
    let chat = Pagers::start().await.unwrap();
    let house = answered("contained_stop", &chat).await;
    house
        .change(
            "update suppressions set state = 'stopped', recorded_at = now() - interval '1 minute'",
        )
        .await;
    contained(
        &house,
        &chat,
        "text_after_stop",
        "paused_guest+paused_proactive",
    )
    .await;
    let switched = "select count(*) from controls where name = 'pause_proactive' and actor = 'scheduler' and reason = 'text_after_stop'";
    assert_eq!(house.number(switched).await, 1);
    // For some minutes, each round of the check finds the same text again, but sends no second
    // notice.
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(chat.taken(Side::Slack).len(), 1);
    assert_eq!(house.number("select count(*) from incidents").await, 1);
    house.stop().await;
}

#[tokio::test(flavor = "multi_thread")] // SEC-95, SEC-98, AGENT-42
async fn an_amount_that_nothing_proves_silences_the_host_until_a_person_has_looked() {
    let chat = Pagers::start().await.unwrap();
    let mut house = answered("contained_offer", &chat).await;
    house.stack.spawn(Worker::Console, None).await.unwrap();
    house
        .change("update outbound_messages set body = 'Tonight you get $750 in free play on us.' where turn_id is not null")
        .await;
    contained(&house, &chat, "offer_unproven", "paused_guest").await;
    let post = chat.taken(Side::Slack)[0].to_string();
    assert!(
        post.contains("an amount of money that nothing proves"),
        "{post}"
    );
    // Nobody acknowledges the case in time. The case rises to the next level, and the incident
    // becomes `escalated` (SEC-98).
    house
        .change("update escalations set ack_due_at = now() - interval '1 minute'")
        .await;
    until("the incident is escalated", SHORT, || async {
        house.texts_of("select state from incidents").await == ["escalated"]
    })
    .await;
    // The host does not answer. It holds the guest's text, and tells the guest once that a person
    // will reply.
    house.text(GUEST, "And what time is check-out?");
    house.settle(2).await;
    let silent = "select count(*) from inbound_messages where disposition = 'held'";
    assert_eq!(house.number(silent).await, 1);
    let staff = Staff::new(&house);
    let luis = staff
        .add("luis@example.com", Role::Host, Some(house.casino()))
        .await;
    let luis = luis.logged_in(&house).await;
    let path = "/c/silver_birch/incidents";
    let page = luis.get(path).await.body;
    assert!(
        page.contains("An amount of money that nothing proves") && page.contains("contained"),
        "{page}"
    );
    let ids = house
        .texts_of("select incident_id::text from incidents")
        .await;
    let one = format!("{path}/{}", ids[0]);
    let refused = luis.act(&one, &[("what", "settle"), ("said", " ")]).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    let settle = [("what", "settle"), ("said", "I wrote to the guest")];
    assert_eq!(luis.act(&one, &settle).await.location, path);
    // Settling the incident also ends its case, and the host answers the text that it held.
    house.settle(2).await;
    assert_eq!(house.number(silent).await, 0);
    let open = "select reason from escalations where resolved_at is null";
    assert_eq!(house.texts_of(open).await, [""; 0]);
    let report = [("what", "report"), ("said", "an old menu")];
    assert_eq!(luis.act(&one, &report).await.location, path);
    let page = luis.get(path).await.body;
    assert!(
        page.contains("settled, with report") && page.contains("an old menu"),
        "{page}"
    );
    house.stop().await;
}

#[tokio::test(flavor = "multi_thread")] // SEC-95, SEC-105
async fn a_cry_that_was_missed_gets_its_helpline_and_a_person() {
    let chat = Pagers::start().await.unwrap();
    let house = answered("contained_cry", &chat).await;
    house
        .change("update inbound_messages set body = 'I want to kill myself tonight'")
        .await;
    contained(&house, &chat, "cry_missed", "paused_guest").await;
    house.settle(1).await;
    let helped = "select count(*) from outbound_messages where kind = 'late_cry' and class = 'crisis' and state in ('sent', 'delivered')";
    until("the guest has the helpline", SHORT, || async {
        house.number(helped).await == 1
    })
    .await;
    let cried = "select count(*) from conversations where cried_at is not null";
    assert_eq!(house.number(cried).await, 1);
    house.stop().await;
}

#[tokio::test(flavor = "multi_thread")] // SEC-95, SEC-105
async fn a_row_of_another_guest_stops_the_casinos_texts() {
    let chat = Pagers::start().await.unwrap();
    let house = answered("contained_crossed", &chat).await;
    house.text(NEIGHBOUR, "Is there a pool?");
    house.settle(2).await;
    house
        .change("update outbound_messages o set guest_id = g.guest_id from guests g where g.guest_id <> o.guest_id and o.outbound_id = (select min(outbound_id::text)::uuid from outbound_messages)")
        .await;
    contained(
        &house,
        &chat,
        "crossed_casino",
        "paused_guest+paused_sending",
    )
    .await;
    let stopped =
        "select count(*) from controls where name = 'pause_outbound' and actor = 'scheduler'";
    assert_eq!(house.number(stopped).await, 1);
    house.text(NEIGHBOUR, "And a gym?");
    let waits = "select count(*) from inbound_messages where disposition = 'open'";
    until("the casino sends nothing", SHORT, || async {
        house.number(waits).await == 1
    })
    .await;
    house.stop().await;
}

#[tokio::test(flavor = "multi_thread")] // SEC-95: a second cry is no duplicate to its guest
async fn each_missed_cry_is_answered_though_they_are_one_incident() {
    let chat = Pagers::start().await.unwrap();
    let house = answered("contained_cries", &chat).await;
    house.text(GUEST, "Is there a pool?");
    house.settle(2).await;
    house
        .change(
            "update inbound_messages set body = case body when 'Is there a pool?' then 'I want to kill myself tonight'
               else 'I lost my whole paycheck and I cannot stop gambling' end",
        )
        .await;
    let helped = "select count(*) from outbound_messages where kind = 'late_cry' and state in ('sent', 'delivered')";
    until("the guest has the helpline", SHORT, || async {
        house.number(helped).await == 1
    })
    .await;
    let evidence = "select count(*) from incidents where cardinality(evidence) = 2";
    until("both texts are one incident", SHORT, || async {
        house.number(evidence).await == 1
    })
    .await;
    let gaming = "select count(*) from guests where responsible_gaming_at is not null";
    assert_eq!(house.number(gaming).await, 1);
    // The record leads to the traces of both texts (SEC-100).
    let list = ["incident", "found", "--casino", "silver_birch", "--json"];
    let list = house.seven(&list, "").await.out;
    let found: serde_json::Value = serde_json::from_str(list.trim()).unwrap();
    let mut traces = house
        .texts_of("select distinct split_part(trace, '-', 2) from inbound_messages join incidents on inbound_id = any(evidence)")
        .await;
    traces.sort();
    assert_eq!(found["traces"], serde_json::json!(traces));
    house.stop().await;
}

#[tokio::test(flavor = "multi_thread")] // SEC-105: settling ends the pause, whatever came in between
async fn a_cry_during_an_incident_does_not_keep_the_host_silent_for_good() {
    let chat = Pagers::start().await.unwrap();
    let house = answered("contained_then_cry", &chat).await;
    house
        .change("update outbound_messages set body = 'Tonight you get $750 in free play on us.' where turn_id is not null")
        .await;
    told(&chat, 1).await;
    house.text(GUEST, "I want to kill myself");
    house.settle(2).await;
    let pause = "select count(*) from conversations where pause_reason = 'incident'";
    assert_eq!(house.number(pause).await, 1);
    let cases = house
        .texts_of("select escalation_id::text from escalations where resolved_at is null")
        .await;
    assert_eq!(cases.len(), 2);
    for case in &cases {
        let (casino, by) = (house.casino(), "Ana");
        let case = case.parse().unwrap();
        seven_staff::settle(&house.stack.fleet, casino, case, by)
            .await
            .unwrap();
    }
    let paused = "select count(*) from conversations where paused_at is not null";
    assert_eq!(house.number(paused).await, 0);
    assert_eq!(
        house.texts_of("select state from incidents").await,
        ["resolved"]
    );
    house.stop().await;
}

#[tokio::test(flavor = "multi_thread")] // content that changed proves nothing about what was said before
async fn a_reply_from_before_a_change_of_content_is_no_incident() {
    let chat = Pagers::start().await.unwrap();
    let house = answered("contained_content", &chat).await;
    house
        .change("update casinos set content_changed_at = now()")
        .await;
    house
        .change("update outbound_messages set body = 'Tonight you get $750 in free play on us.' where turn_id is not null")
        .await;
    // An incident about this later reply shows that the check has read the earlier reply, too.
    house.text(NEIGHBOUR, "What time is check-in?");
    house.settle(2).await;
    house
        .change("update outbound_messages set body = 'Tonight you get $750 in free play on us.' where turn_id is not null")
        .await;
    until("the later reply is found", SHORT, || async {
        house.number("select count(*) from incidents").await > 0
    })
    .await;
    let found = "select count(*) from incidents i join guests g on g.guest_id = i.guest_id where g.phone like '%0143'";
    assert_eq!(house.number(found).await, 1);
    assert_eq!(house.number("select count(*) from incidents").await, 1);
    house.stop().await;
}
