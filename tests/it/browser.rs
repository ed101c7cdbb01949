//! The console in a real browser (D27): chromium, driven through chromedriver. Run with
//! `./scripts/test --browser`. If `SEVEN_SCREENSHOTS` names a folder, such as docs/console,
//! screenshots of the pages are written there.

mod driver;
mod editors;
mod own_login;
mod widget;

use std::time::Duration;

use seven_content::Terms;
use seven_domain::Role;
use seven_testkit::pagers::{Pagers, Side};

use self::driver::Browser;
use crate::{
    console::{
        hostile,
        staff::{Caller, Staff},
        with_console,
    },
    editing::{by, changed},
    harness::{GUEST, until},
    notices,
    operations::dead_many::{file, letter},
};

/// SQL that inserts one open and one settled incident.
const INCIDENTS: &str = "insert into incidents (casino_id, incident_id, kind, severity, state, detected_by, conversation_id, guest_id, evidence, actions,
     escalation_id, resolved_at, resolved_by, outcome)
   select casino_id, gen_random_uuid(), kind, severity, state, 'scheduler', conversation_id, guest_id, array[gen_random_uuid()], actions,
     gen_random_uuid(), case when state = 'resolved' then now() end, case when state = 'resolved' then 'Ana' end, 'an old menu'
   from conversations, (values ('offer_unproven', 'high', 'mitigating', array['paused_guest']),
     ('text_after_stop', 'critical', 'resolved', array['paused_guest', 'paused_proactive'])) found (kind, severity, state, actions) limit 2";
/// SQL that inserts a phone of staff whose code nobody has entered.
const UNVERIFIED: &str = "insert into contacts (casino_id, contact_id, name, channel, address, created_by) values ('silver_birch', gen_random_uuid(), 'Night host', 'text', '+18605550177', 'Ana')";
/// SQL that inserts a running campaign.
const CAMPAIGN: &str = "insert into campaigns (casino_id, campaign_id, name, class, text_en, text_es, state, created_by) values ('silver_birch', gen_random_uuid(), 'Spa week', 'marketing', 'Spa week is on.', 'Semana de spa.', 'running', 'Mara')";
/// SQL that switches on review: a person has to release each reply of the casino.
const REVIEWED: &str =
    "update casinos set config = jsonb_set(config, '{features,hitl_interrupt_enabled}', 'true')";
/// SQL that makes operator $1 the holder of a conversation, and adds a saved reply.
const TAKEN: &str = "with taken as (insert into conversation_holders (casino_id, conversation_id, holder)
     select casino_id, conversation_id, 'operator:$1' from conversations limit 1 on conflict do nothing returning conversation_id),
   saved as (insert into saved_replies (casino_id, reply_id, title, en, es, changed_by)
     values ('silver_birch', 'a0000000-0000-4000-8000-000000000001', 'Valet', 'Your car is on its way.', 'Su auto viene en camino.', 'Luis') on conflict do nothing)
   update conversations set paused_at = now(), paused_until = null where conversation_id in (select conversation_id from taken)";
const SOON: Duration = Duration::from_secs(30);

#[tokio::test] // D26, D27: the whole way of a takeover, by what people see and click
async fn a_new_host_takes_over_writes_and_gives_back() {
    let house = with_console("browser_takeover").await;
    let staff = Staff::new(&house);
    let chat = Pagers::start().await.unwrap();
    let desk = ["--name", "Host desk"];
    notices::contact(&house, "silver_birch", &chat.slack_url(), &desk).await;
    let browser = Browser::start(&house).await;
    // An administrator follows an invitation, sets up password and second factor, logs in.
    let (_, token) = staff.invite("ana@example.com", Role::Admin, None).await;
    let mut ana = browser
        .set_up(&format!("/link/{}", token.expose()), "ana@example.com")
        .await;
    ana.log_in(&browser).await;
    browser.page("/operators").await;
    browser.fill("name", "Luis Gil").await;
    browser.fill("email", "luis@example.com").await;
    browser
        .submit("#main form[action='/operators'] button")
        .await;
    let link = browser.text("#link").await;
    let link = link.split("/link/").nth(1).unwrap().to_owned();
    browser.forget().await;
    let mut luis = browser
        .set_up(&format!("/link/{link}"), "luis@example.com")
        .await;
    luis.log_in(&browser).await;
    // The list shows a new guest without a reload.
    browser.page("/c/silver_birch/conversations").await;
    house.text(GUEST, "I want to speak to a manager please");
    house.settle(1).await;
    browser.see("#list", "Guest ending in 0142").await;
    browser.see("#list", "case open").await;
    // The title shows the number of waiting cases. The bell (sound and notices) is off until a
    // person turns it on.
    until("the title counts", SOON, || async {
        browser.title().await.starts_with("(1) ")
    })
    .await;
    assert_eq!(browser.count("#bell[aria-pressed=false]").await, 1);
    browser.click("#bell").await;
    assert_eq!(browser.count("#bell[aria-pressed=true]").await, 1);
    // The casino's contact gets a notice. Its link acknowledges the case and leads to the
    // conversation.
    notices::told(&chat, 1).await;
    browser
        .page(&notices::link_of(&chat.taken(Side::Slack)[0]))
        .await;
    browser.see("h1", "asks for a person").await;
    browser.submit("#main form button").await;
    browser.see("#main", "in hand: Host desk").await;
    browser.submit("#main p a").await;
    browser
        .see("#texts", "I want to speak to a manager please")
        .await;
    browser.fill("reason", "the guest asked").await;
    browser.submit("#who form[action$='takeover'] button").await;
    browser
        .see("#who", "You have taken this conversation over")
        .await;
    browser
        .fill("text", "Luis here, the manager on shift.")
        .await;
    browser.see("#length", "32 characters, 1 segment(s)").await;
    // A guest's text appears while luis writes. His own words stay in the form.
    house.text(GUEST, "Are you there?");
    browser.see("#texts", "Are you there?").await;
    assert_eq!(
        browser.value("text").await,
        "Luis here, the manager on shift."
    );
    browser.submit("#say button").await;
    browser
        .see("#texts", "Luis here, the manager on shift.")
        .await;
    until("the handset shows it", SOON, || async {
        let texts = house.texts_to(GUEST);
        texts
            .iter()
            .filter(|text| text.contains("Luis here"))
            .count()
            == 1
    })
    .await;
    // Maria takes the conversation over. Luis's next text is then refused, but stays in the form.
    let maria = staff
        .add("maria@example.com", Role::Host, Some(house.casino()))
        .await;
    let conversation = seven_domain::ConversationId(staff.conversation().await);
    browser.fill("text", "One more thing").await;
    let by = seven_staff::login::actor(maria.id);
    let mut tx = house.stack.fleet.store.bind(house.casino()).await.unwrap();
    seven_staff::take_over(&mut tx, conversation, &by, "shift")
        .await
        .unwrap();
    tx.commit().await.unwrap();
    browser.submit("#say button").await;
    browser
        .see("#problem", "Somebody else has taken this conversation over")
        .await;
    assert_eq!(browser.value("text").await, "One more thing");
    browser
        .see("#who", "maria has taken this conversation over")
        .await;
    browser.submit("#who form[action$='release'] button").await;
    browser.see("#who", "The host answers here.").await;
    let before = house.texts_to(GUEST).len();
    house.text(GUEST, "What time is check-out?");
    until("the host answers again", SOON, || async {
        house.texts_to(GUEST).len() > before
    })
    .await;
    browser.see("#texts", "What time is check-out?").await;
    assert_eq!(browser.violations().await, Vec::<String>::new());
    browser.stop().await;
    house.stop().await;
}

/// Script that stores the loudest sample of the page's sounds in `window.loudest`. Samples are from
/// 0 to 1.
const LISTEN: &str = "window.loudest = 0;
    const connect = AudioNode.prototype.connect;
    AudioNode.prototype.connect = function (to, ...rest) {
        if (to instanceof AudioDestinationNode) {
            const meter = this.context.createAnalyser();
            const samples = new Float32Array(meter.fftSize);
            const read = () => {
                meter.getFloatTimeDomainData(samples);
                window.loudest = Math.max(window.loudest, ...samples);
                if (this.context.state !== 'closed') setTimeout(read, 10);
            };
            connect.call(this, meter);
            read();
        }
        return connect.call(this, to, ...rest);
    };";

#[tokio::test] // D27: off by default, and heard once it is on
async fn a_new_case_rings_where_the_person_wants_it() {
    let house = with_console("browser_rings").await;
    let staff = Staff::new(&house);
    let luis = staff
        .add("luis@example.com", Role::Host, Some(house.casino()))
        .await;
    let luis = luis.logged_in(&house).await;
    let browser = Browser::start(&house).await;
    browser.open_as(&luis, "/c/silver_birch/cases").await;
    let loudest = async || browser.ask("return window.loudest").await.as_f64().unwrap();
    let case = async |n: usize| {
        let guest = format!("+1860555014{n}");
        house.text(&guest, "I want to speak to a manager please");
        until("the title counts the case", SOON, || async {
            browser.title().await.starts_with(&format!("({n}) "))
        })
        .await;
    };
    browser.ask(LISTEN).await;
    case(1).await;
    case(2).await;
    assert!(loudest().await < 0.01, "the bell is off");
    browser.click("#bell").await;
    case(3).await;
    until("the tone is heard", SOON, || async {
        loudest().await > 0.05
    })
    .await;
    assert_eq!(browser.violations().await, Vec::<String>::new());
    browser.stop().await;
    house.stop().await;
}

const FORGOTTEN: &str = "insert into deletions (casino_id, deletion_id, key_id, phone_hash, guest_id, state, requested_by, requested_at, due_at,
    counts, completed_at)
  values ('silver_birch', gen_random_uuid(), 1, decode(repeat('ab', 32), 'hex'), gen_random_uuid(), 'done', 'guest', now(), now(),
    '{\"turns\": 3, \"elsewhere\": {\"stream_messages\": 2}, \"offers\": 0}', now())";
const SHOWN: &str = "insert into audit_log (casino_id, at, actor, action, severity, subject, detail)
  values ('silver_birch', timestamptz '2026-11-18 12:00Z', 'operator:x', 'personal_data_revealed', 'info', 'conversation',
    '{\"reason\": \"the guest complained\", \"minutes\": 15}')";

#[tokio::test] // D27, WCAG 2.2 AA
async fn every_page_is_accessible_in_both_languages_and_at_phone_width() {
    let house = with_console("browser_axe").await;
    let staff = Staff::new(&house);
    house.text(
        GUEST,
        "I want to speak to a manager, we are two adults and one is vegan",
    );
    house.settle(1).await;
    let chat = Pagers::start().await.unwrap();
    let desk = ["--name", "Host desk"];
    notices::contact(&house, "silver_birch", &chat.slack_url(), &desk).await;
    notices::told(&chat, 1).await;
    let notice = notices::link_of(&chat.taken(Side::Slack)[0]);
    let here = Some(house.casino());
    let luis = staff.add("luis@example.com", Role::Host, here).await;
    let thread = format!(
        "/c/silver_birch/conversations/{}",
        staff.conversation().await
    );
    let turns = house.texts_of("select turn_id::text from turns").await;
    let turn = format!("{thread}/turns/{}", turns[0]);
    let caller = luis.logged_in(&house).await;
    caller
        .act(
            &format!("{thread}/takeover"),
            &[("reason", "the guest asked")],
        )
        .await;
    caller
        .act(
            &format!("{thread}/notes"),
            &[("note", "Table 12 is free at 19:00")],
        )
        .await;
    house.change(INCIDENTS).await;
    house.change(UNVERIFIED).await;
    house.change(CAMPAIGN).await;
    house.change(REVIEWED).await;
    house.text("+18605550143", "Is there a pool?");
    until("a reply is held", SOON, || async {
        let held = "select count(*) from held_turns where decided_at is null";
        house.number(held).await == 1
    })
    .await;
    let everyone = seven_staff::account::set_role;
    for role in [
        Role::Admin,
        Role::Editor,
        Role::Approver,
        Role::Marketing,
        Role::Manager,
        Role::Compliance,
    ] {
        everyone(&staff.store(), luis.id, (None, role), true, "test")
            .await
            .unwrap();
    }
    let (_, token) = staff.invite("new@example.com", Role::Host, here).await;
    let link = format!("/link/{}", token.expose());
    let evidence = format!("{thread}/consent");
    leave_traces(&house).await;
    let rollback = edit_content(&house, &caller).await;
    let letters = [1, 2].map(|n| letter(&house, n, GUEST, "Is there a pool?"));
    file(&house, &letters).await;
    let dead = format!("/c/silver_birch/dead/{}", letters[0].dead_id);
    let browser = Browser::start(&house).await;
    for language in ["en", "es"] {
        house
            .change(&format!("update operators set language = '{language}'"))
            .await;
        house
            .change(&format!("update contacts set language = '{language}'"))
            .await;
        browser.prefer(language).await;
        browser.forget().await;
        for (name, path) in [
            ("login", "/login"),
            ("code", "/login/code"),
            ("invitation", &link),
            ("notice", &notice),
            ("notice-dead", "/n/silver_birch/x"),
        ] {
            browser.page(path).await;
            browser.is_accessible(&format!("{name}-{language}")).await;
        }
        browser.page("/login").await;
        browser.take_cookie(caller.cookie.as_deref().unwrap()).await;
        for (name, path) in [
            ("conversations", "/c/silver_birch/conversations"),
            ("empty", "/c/silver_birch/conversations?show=waiting"),
            ("thread", &*thread),
            ("turn", &*turn),
            ("now", "/c/silver_birch/now"),
            ("switches", "/c/silver_birch/switches"),
            ("cases", "/c/silver_birch/cases"),
            ("dead", "/c/silver_birch/dead"),
            ("dead-letter", &*dead),
            ("held", "/c/silver_birch/held"),
            ("replies", "/c/silver_birch/replies"),
            ("incidents", "/c/silver_birch/incidents"),
            ("contacts", "/c/silver_birch/contacts"),
            ("campaigns", "/c/silver_birch/campaigns"),
            ("campaign-new", "/c/silver_birch/campaigns/new"),
            ("content", "/c/silver_birch/content?category=spa"),
            ("content-item", "/c/silver_birch/content/items/spa_001"),
            (
                "content-new",
                "/c/silver_birch/content/new?category=promotions",
            ),
            ("content-gaps", "/c/silver_birch/content/gaps"),
            ("content-upload", "/c/silver_birch/content/upload"),
            ("content-together", "/c/silver_birch/content/together"),
            ("content-set", "/c/silver_birch/content/set"),
            ("content-rollback", &*rollback),
            ("figures", "/c/silver_birch/figures"),
            ("compliance", "/c/silver_birch/compliance"),
            ("audit", "/c/silver_birch/audit"),
            ("evidence", &*evidence),
            ("operators", "/operators"),
            ("not-found", "/nowhere"),
        ] {
            browser.page(path).await;
            browser.is_accessible(&format!("{name}-{language}")).await;
        }
        // Checks the same conversation after Luis took it over, with all folded parts of the page
        // open.
        let taken = TAKEN.replace("$1", &luis.id.to_string());
        house.change(&taken).await;
        browser.page(&thread).await;
        browser.click("#correct summary").await;
        browser.click("#revoke summary").await;
        browser
            .is_accessible(&format!("thread-mine-{language}"))
            .await;
        browser
            .page("/c/silver_birch/conversations?show=mine")
            .await;
        browser.is_accessible(&format!("mine-{language}")).await;
    }
    assert_eq!(browser.violations().await, Vec::<String>::new());
    browser.stop().await;
    house.stop().await;
}

/// Creates rows for the compliance pages:
/// - a guest who opted out
/// - a guest who was deleted
/// - an audit entry: an operator read a guest's words
/// - a sealed day of the audit log
async fn leave_traces(house: &crate::harness::House) {
    house.text("+18605550144", "STOP, you text too often");
    until("the guest has left", SOON, || async {
        let gone = "select count(*) from suppressions where state = 'stopped'";
        house.number(gone).await == 1
    })
    .await;
    house.change(FORGOTTEN).await;
    house.change(SHOWN).await;
    house.change("delete from nightly").await;
    let date = "2026-11-20".parse().unwrap();
    seven_scheduler::night(&house.stack.fleet, &house.config, date)
        .await
        .unwrap();
}

/// Creates rows for the editors' pages: a published change, a draft, and a run of a set of
/// questions. Returns the address of a page that previews a rollback.
async fn edit_content(house: &crate::harness::House, caller: &Caller) -> String {
    let ours = "update content_revisions set published_at = published_at - interval '1 hour'";
    house.change(ours).await;
    let fleet = &house.stack.fleet;
    for (draft, price) in [(false, 170), (true, 180)] {
        let terms = Terms { draft, ..by("ana") };
        changed(house, &terms, "spa_001", |item| {
            item["details"]["price"] = price.into();
        })
        .await;
    }
    let set = "/c/silver_birch/content/set";
    for (question, expected) in [
        ("How much is a Swedish massage?", "Swedish Massage"),
        ("Do you have kennels?", "Cinder Grove"),
    ] {
        let add = [
            ("what", "add"),
            ("question", question),
            ("expected", expected),
        ];
        caller.act(set, &add).await;
    }
    caller.act(set, &[("what", "run")]).await;
    let then = fleet.clock.now() - chrono::TimeDelta::minutes(5);
    let then = then.with_timezone(&house.config.operational.timezone);
    let at = then.format("%Y-%m-%dT%H:%M");
    format!("/c/silver_birch/content/rollback?at={at}")
}

#[tokio::test] // D27
async fn a_takeover_needs_no_mouse() {
    let house = with_console("browser_keyboard").await;
    let staff = Staff::new(&house);
    house.text(GUEST, "What time is check-in?");
    house.settle(1).await;
    let luis = staff
        .add("luis@example.com", Role::Host, Some(house.casino()))
        .await;
    let browser = Browser::start(&house).await;
    browser.page("/login").await;
    let caller = luis.logged_in(&house).await;
    browser.take_cookie(caller.cookie.as_deref().unwrap()).await;
    browser.page("/c/silver_birch/conversations").await;
    browser.tab_to("#list a.item").await;
    browser.enter().await;
    browser.see("h1", "Guest ending in 0142").await;
    browser.tab_to("#reason").await;
    browser.type_keys("asked for me").await;
    browser.enter().await;
    browser
        .see("#who", "You have taken this conversation over")
        .await;
    browser.tab_to("#text").await;
    browser.type_keys("Luis by keyboard").await;
    browser.tab_to("#say button").await;
    browser.enter().await;
    browser.see("#texts", "Luis by keyboard").await;
    browser.tab_to("#who form[action$='release'] button").await;
    browser.enter().await;
    browser.see("#who", "The host answers here.").await;
    until("the text arrived", SOON, || async {
        house
            .texts_to(GUEST)
            .iter()
            .any(|text| text.contains("Luis by keyboard"))
    })
    .await;
    browser.stop().await;
    house.stop().await;
}

#[tokio::test] // D27: no text of a guest becomes markup, runs, or moves the page
async fn hostile_texts_do_nothing_in_a_browser() {
    let house = with_console("browser_hostile").await;
    let staff = Staff::new(&house);
    let hostile = hostile::texts();
    for text in &hostile {
        house.text(GUEST, text);
    }
    let count = i64::try_from(hostile.len()).unwrap();
    house.settle_within(count, Duration::from_secs(60)).await;
    let luis = staff
        .add("luis@example.com", Role::Host, Some(house.casino()))
        .await;
    let thread = format!(
        "/c/silver_birch/conversations/{}",
        staff.conversation().await
    );
    let caller = luis.logged_in(&house).await;
    let browser = Browser::start(&house).await;
    browser.page("/login").await;
    browser.take_cookie(caller.cookie.as_deref().unwrap()).await;
    house.change(REVIEWED).await;
    for path in [
        &*thread,
        "/c/silver_birch/conversations",
        "/c/silver_birch/cases",
        "/c/silver_birch/now",
        "/c/silver_birch/held",
    ] {
        browser.page(path).await;
        // The page stays open, so htmx inserts the next text as a fragment.
        house.text(GUEST, "<script>document.title='owned'</script>");
        tokio::time::sleep(Duration::from_secs(3)).await;
        assert!(browser.title().await.ends_with("· Seven"), "{path}");
        assert_eq!(
            browser
                .count("#main script, #main img, #main iframe, #main style")
                .await,
            0
        );
    }
    browser.page(&thread).await;
    browser
        .see("#texts", "<script>document.title='owned'</script>")
        .await;
    assert_eq!(browser.violations().await, Vec::<String>::new());
    browser.stop().await;
    house.stop().await;
}
