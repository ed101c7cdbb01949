//! The pages "now" and "switches", and the page about the turn behind a reply.

use reqwest::StatusCode;
use seven_domain::Role;

use super::{staff::Staff, with_console};
use crate::harness::GUEST;

#[tokio::test] // D27: what waits and what stands still, and today beside yesterday
async fn now_shows_what_waits_and_what_stands_still() {
    let house = with_console("console_now").await;
    let staff = Staff::new(&house);
    house.text(GUEST, "What time is check-in?");
    house.settle(1).await;
    house.text(GUEST, "I want to talk to a manager");
    house.settle(2).await;
    house.text(GUEST, "Anybody there?");
    house.settle(3).await;
    // A person has taken the conversation over, so the held text stays held.
    house
        .change("update conversations set paused_at = now(), paused_until = null")
        .await;
    let held = "update inbound_messages set disposition = 'held' where body = 'Anybody there?'";
    house.change(held).await;
    let luis = staff
        .add("luis@example.com", Role::Host, Some(house.casino()))
        .await;
    let luis = luis.logged_in(&house).await;
    assert_eq!(luis.get("/").await.location, "/c/silver_birch/now");
    let page = luis.get("/c/silver_birch/now").await.body;
    let row = |name: &str| {
        let rest = page.split(&format!("<th scope=\"row\">{name}</th>")).nth(1);
        let cells = rest.unwrap().split("</tr>").next().unwrap();
        cells
            .replace("<td class=\"number\">", "")
            .replace("</td>", " ")
            .trim()
            .to_owned()
    };
    assert!(page.contains("asks for a person"), "{page}");
    assert!(page.contains("?show=waiting\">1</a>"), "{page}");
    assert_eq!(row("Texts from guests"), "3 0");
    assert_eq!(row("Guests who wrote"), "1 0");
    assert_eq!(row("New guests"), "1 0");
    assert_eq!(row("Cases opened"), "1 0");
    // The page shows an overdue case and a switch that is on.
    house
        .change("update escalations set ack_due_at = now() - interval '1 minute'")
        .await;
    house
        .change("insert into controls (casino_id, name, actor, reason) values ('silver_birch', 'pause_agents', 'Ana', 'new menu')")
        .await;
    let page = luis.get("/c/silver_birch/now/part").await.body;
    assert!(page.contains("1 overdue"), "{page}");
    assert!(page.contains("Pause the host: new menu"), "{page}");
    house.stop().await;
}

/// Inserts sixty guests with paused conversations. The list shows paused conversations first.
const CROWD: &str = "with crowd as (insert into guests (casino_id, guest_id, phone, key_id, phone_hash)
     select casino_id, gen_random_uuid(), '+186055501' || n, key_id, decode(lpad(n::text, 64, '0'), 'hex')
       from guests, generate_series(10, 69) n returning casino_id, guest_id)
   insert into conversations (casino_id, conversation_id, guest_id, casino_number, paused_at)
     select casino_id, gen_random_uuid(), guest_id, '+18605550100', now() from crowd";

#[tokio::test] // D27
async fn a_long_list_shows_its_first_fifty_and_the_rest_when_asked() {
    let house = with_console("console_long_list").await;
    let staff = Staff::new(&house);
    house.text(GUEST, "What time is check-in?");
    house.settle(1).await;
    house.change(CROWD).await;
    let luis = staff
        .add("luis@example.com", Role::Host, Some(house.casino()))
        .await;
    let luis = luis.logged_in(&house).await;
    let path = "/c/silver_birch/conversations";
    let rows = |page: &str| page.matches("class=\"item\"").count();
    let page = luis.get(path).await.body;
    assert_eq!(rows(&page), 50);
    assert!(page.contains("Show more</a> (11)"), "{page}");
    let more = format!("{path}?show=open&language=&case=&whole=1");
    assert!(page.contains(&more.replace('&', "&#38;")), "{page}");
    // A list that shows all its rows must show all of them again when a hint makes it reload.
    for path in [more, format!("{path}/list?show=open&whole=1")] {
        let whole = luis.get(&path).await.body;
        assert_eq!(rows(&whole), 61, "{path}");
        assert!(!whole.contains("Show more"), "{whole}");
    }
    let part = luis.fetch(&format!("{path}/list")).await.body;
    assert_eq!(rows(&part), 50);
    house.stop().await;
}

#[tokio::test] // D14, D27: a dangerous switch asks for the casino's name, and every one for a reason
async fn an_admin_turns_switches_and_a_host_sees_them() {
    let house = with_console("console_switches").await;
    let staff = Staff::new(&house);
    let here = Some(house.casino());
    let ana = staff.add("ana@example.com", Role::Admin, here).await;
    let luis = staff.add("luis@example.com", Role::Host, here).await;
    let editor = staff.add("ed@example.com", Role::Editor, here).await;
    let (ana, luis, editor) = (
        ana.logged_in(&house).await,
        luis.logged_in(&house).await,
        editor.logged_in(&house).await,
    );
    let path = "/c/silver_birch/switches";
    let on = "select count(*) from controls";
    let kill = [("switch", "kill"), ("turn", "on"), ("reason", "wrong text")];
    for (fields, says) in [
        (&kill[..], "name exactly"),
        (&kill[..2], "Write a reason first"),
        (
            &[kill[0], kill[1], kill[2], ("name", "silver birch")],
            "name exactly",
        ),
    ] {
        let page = ana.act(path, fields).await;
        assert_eq!(page.status, StatusCode::UNPROCESSABLE_ENTITY);
        assert!(page.body.contains(says), "{}", page.body);
    }
    assert_eq!(house.number(on).await, 0);
    assert_eq!(luis.act(path, &kill).await.status, StatusCode::NOT_FOUND);
    assert_eq!(editor.get(path).await.status, StatusCode::NOT_FOUND);
    let named = [kill[0], kill[1], kill[2], ("name", "Silver Birch Resort")];
    assert_eq!(ana.act(path, &named).await.status, StatusCode::SEE_OTHER);
    assert_eq!(house.number(on).await, 1);
    let page = luis.get(path).await;
    assert!(
        page.body.contains("wrong text") && page.body.contains("ana,"),
        "{}",
        page.body
    );
    assert!(
        !page.body.contains("Turn off"),
        "a host sees, and turns nothing"
    );
    // No text is sent while the switch is on; a text that waited is answered when it is off.
    house.text(GUEST, "What time is check-in?");
    tokio::time::sleep(std::time::Duration::from_secs(2)).await;
    assert!(house.texts_to(GUEST).is_empty());
    let off = [
        ("switch", "kill"),
        ("turn", "off"),
        ("reason", "it was the old menu"),
    ];
    assert_eq!(ana.act(path, &off).await.status, StatusCode::SEE_OTHER);
    house.settle(1).await;
    assert_eq!(house.texts_to(GUEST).len(), 1);
    let audited = "select count(*) from audit_log where action in ('sending_stopped', 'sending_resumed') and actor like 'operator:%'";
    assert_eq!(house.number(audited).await, 2);
    house.stop().await;
}

#[tokio::test] // D27, SEC-138: why the host said it, masked for those who may not read words
async fn behind_each_reply_stands_its_turn() {
    let house = with_console("console_turn").await;
    let staff = Staff::new(&house);
    house.text(GUEST, "What time does the pool open?");
    house.settle(1).await;
    let here = Some(house.casino());
    let luis = staff.add("luis@example.com", Role::Host, here).await;
    let carla = staff.add("carla@example.com", Role::Compliance, here).await;
    let (luis, carla) = (luis.logged_in(&house).await, carla.logged_in(&house).await);
    let thread = format!(
        "/c/silver_birch/conversations/{}",
        staff.conversation().await
    );
    // Parts that were not sent are shown in the order of their numbers.
    let parts = "insert into outbound_messages (casino_id, outbound_id, conversation_id, guest_id, part, parts, kind, class, seq, body, encoding,
         units, segments, agent, useful_until, next_sweep_at, trace, state)
       select casino_id, gen_random_uuid(), conversation_id, guest_id, n, 2, 'person', class, 100 + n, 'part ' || n, encoding, units, segments, agent,
         now(), now(), trace, 'suppressed' from outbound_messages, generate_series(2, 1, -1) n where seq = 0 or seq = 1 limit 2";
    house.change(parts).await;
    let page = luis.get(&thread).await.body;
    assert!(page.find("part 1") < page.find("part 2"), "{page}");
    let link = page.split(&format!("{thread}/turns/")).nth(1).unwrap();
    let link = format!("{thread}/turns/{}", &link[..36]);
    let page = luis.get(&link).await;
    assert_eq!(page.status, StatusCode::OK);
    for part in [
        "What time does the pool open?",
        "<dt>Intent</dt>",
        "<dt>Row</dt>",
    ] {
        assert!(page.body.contains(part), "{part}: {}", page.body);
    }
    let page = carla.get(&link).await;
    assert!(!page.body.contains("pool open") && page.body.contains("<dt>Row</dt>"));
    for wrong in [
        link.replace(&thread[thread.len() - 6..], "000000"),
        format!("{thread}/turns/{}", uuid::Uuid::nil()),
    ] {
        assert_eq!(luis.get(&wrong).await.status, StatusCode::NOT_FOUND);
    }
    house.stop().await;
}

#[tokio::test(flavor = "multi_thread")] // D28: contacts without a shell
async fn an_admin_adds_a_phone_and_enters_its_code() {
    let house = with_console("console_contacts").await;
    let staff = Staff::new(&house);
    let here = Some(house.casino());
    let ana = staff.add("ana@example.com", Role::Admin, here).await;
    let luis = staff.add("luis@example.com", Role::Host, here).await;
    let editor = staff.add("ed@example.com", Role::Editor, here).await;
    let (ana, luis, editor) = (
        ana.logged_in(&house).await,
        luis.logged_in(&house).await,
        editor.logged_in(&house).await,
    );
    let path = "/c/silver_birch/contacts";
    let phone = [
        ("name", "Night host"),
        ("channel", "text"),
        ("address", "+18605550177"),
        ("language", "en"),
        ("severity", "sev2"),
        ("level", "1"),
    ];
    // The page shows all problems of the form at once and keeps what was typed.
    let wrong = [
        ("name", " "),
        ("channel", "text"),
        ("address", "not a number"),
        ("quiet_from", "22:00"),
    ];
    let page = ana.act(path, &wrong).await;
    assert_eq!(page.status, StatusCode::UNPROCESSABLE_ENTITY);
    for says in ["Give a name", "two different times", "not a number"] {
        assert!(page.body.contains(says), "{says}: {}", page.body);
    }
    let mut bad = phone;
    bad[2].1 = "12";
    let page = ana.act(path, &bad).await;
    assert!(
        page.body.contains("does not fit the channel"),
        "{}",
        page.body
    );
    assert_eq!(luis.act(path, &phone).await.status, StatusCode::NOT_FOUND);
    assert_eq!(editor.get(path).await.status, StatusCode::NOT_FOUND);
    assert_eq!(house.number("select count(*) from contacts").await, 0);
    assert_eq!(ana.act(path, &phone).await.location, path);
    let code = "select split_part(body, ' ', 2) from outbound_messages where kind = 'staff_code'";
    let code = house.texts_of(code).await.remove(0);
    let id = house
        .texts_of("select contact_id::text from contacts")
        .await;
    let one = format!("{path}/{}", id[0]);
    assert!(luis.get(path).await.body.contains("code missing"));
    let wrong = ana
        .act(&one, &[("what", "verify"), ("code", "12345")])
        .await;
    assert!(wrong.body.contains("not the code"), "{}", wrong.body);
    let right = ana.act(&one, &[("what", "verify"), ("code", &code)]).await;
    assert_eq!(right.location, path);
    assert!(!luis.get(path).await.body.contains("code missing"));
    assert_eq!(ana.act(&one, &[("what", "remove")]).await.location, path);
    assert!(ana.get(path).await.body.contains("Nobody is told yet"));
    house.stop().await;
}

#[tokio::test(flavor = "multi_thread")] // D27: campaigns by those who answer for them
async fn a_marketer_pauses_and_cancels_a_campaign_and_a_manager_only_looks() {
    let house = with_console("console_campaigns").await;
    let staff = Staff::new(&house);
    let here = Some(house.casino());
    let mara = staff.add("mara@example.com", Role::Marketing, here).await;
    let boss = staff.add("boss@example.com", Role::Manager, here).await;
    let (mara, boss) = (mara.logged_in(&house).await, boss.logged_in(&house).await);
    house
        .change("insert into campaigns (casino_id, campaign_id, name, class, text_en, text_es, state, created_by) values ('silver_birch', gen_random_uuid(), 'Spa week', 'marketing', 'Spa week is on.', 'Semana de spa.', 'running', 'Mara')")
        .await;
    let path = "/c/silver_birch/campaigns";
    assert_eq!(mara.get("/").await.location, path);
    let page = mara.get(path).await.body;
    assert!(
        page.contains("Spa week is on.") && page.contains("Cancel for good"),
        "{page}"
    );
    assert!(!boss.get(path).await.body.contains("Cancel for good"));
    let ids = house
        .texts_of("select campaign_id::text from campaigns")
        .await;
    let one = format!("{path}/{}", ids[0]);
    let pause = [("step", "pause"), ("reason", "wrong price")];
    assert_eq!(boss.act(&one, &pause).await.status, StatusCode::NOT_FOUND);
    let refused = mara.act(&one, &pause[..1]).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(mara.act(&one, &pause).await.location, path);
    let again = mara.act(&one, &pause).await;
    assert!(again.body.contains("changed meanwhile"), "{}", again.body);
    let cancel = [("step", "cancel"), ("reason", "wrong price")];
    assert_eq!(mara.act(&one, &cancel).await.location, path);
    let audit =
        "select detail->>'state' from audit_log where action = 'campaign_changed' order by entry";
    assert_eq!(house.texts_of(audit).await, ["paused", "cancelled"]);
    house.stop().await;
}
