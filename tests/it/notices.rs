//! Notices tell a casino's own people about its cases. Each contact gets a notice once, at the
//! contact's level and within its hours. The link in a notice opens only the case of this notice
//! (D28, SEC-110, SEC-114 to SEC-116, CONV-43).

use std::time::Duration;

use reqwest::StatusCode;
use seven_domain::CasinoConfig;
use seven_settings::Worker;
use seven_testkit::{
    mailbox::{Fault, Mailbox},
    pagers::{Pagers, Side},
};
use tokio::time::{Instant, sleep_until};

use crate::{
    console::staff::Caller,
    harness::{GUEST, House, Wanted, house, until},
};

const SHORT: Duration = Duration::from_secs(30);
const OTHER_NUMBER: &str = "+18605550170";

pub(crate) async fn with_mail(name: &str, mailbox: &Mailbox) -> House {
    let extra = format!(
        "notices.smtp_url = \"{}\"\nnotices.mail_from = \"Hey Seven <notices@seven.example>\"\n",
        mailbox.url()
    );
    // At this scale retries wait a twentieth of their usual time.
    let (scale, wanted) = (0.05, Wanted::default());
    house(
        name,
        Wanted {
            extra,
            scale,
            ..wanted
        },
    )
    .await
}

async fn seven(house: &House, args: &[&str], input: &str) -> String {
    let said = house.seven(args, input).await;
    assert_eq!(said.code, 0, "{args:?}: {said:?}");
    said.out
}

/// Adds a contact with `seven contact add` and returns its id.
pub(crate) async fn contact(house: &House, casino: &str, address: &str, more: &[&str]) -> String {
    let channel = if address.contains('@') {
        "mail"
    } else {
        "chat"
    };
    let mut args = vec!["contact", "add", "-", "--casino", casino, "--by", "Ana"];
    args.extend(["--channel", channel]);
    args.extend(more);
    let said = seven(house, &args, address).await;
    let id = said.split(" as ").nth(1).unwrap();
    id[..36].to_owned()
}

/// Adds a second casino with its own number.
async fn second(house: &House) -> CasinoConfig {
    let mut other = house.config.clone();
    other.casino_id = "red_maple".parse().unwrap();
    other.operational.telnyx_phone_number = OTHER_NUMBER.parse().unwrap();
    other.operational.twilio_phone_number = None;
    seven::onboard::add_casino(&house.stack.fleet, &other, "test")
        .await
        .unwrap();
    other
}

pub(crate) fn link_of(post: &serde_json::Value) -> String {
    let blocks = post["blocks"].as_array().unwrap();
    let url = blocks.last().unwrap()["elements"][0]["url"].as_str();
    url::Url::parse(url.unwrap()).unwrap().path().to_owned()
}

pub(crate) async fn told(pagers: &Pagers, posts: usize) {
    until(&format!("{posts} notices are told"), SHORT, || async {
        pagers.taken(Side::Slack).len() == posts
    })
    .await;
}

#[tokio::test] // D28, SEC-110, SEC-114, SEC-115, CONV-43
async fn a_guest_who_asks_for_a_person_reaches_their_own_casinos_people() {
    let (mailbox, chat, elsewhere) = (
        Mailbox::start().await.unwrap(),
        Pagers::start().await.unwrap(),
        Pagers::start().await.unwrap(),
    );
    let mut house = with_mail("notices_told", &mailbox).await;
    house.stack.spawn(Worker::Console, None).await.unwrap();
    let other = second(&house).await;
    let ours = house.casino().as_str().to_owned();
    let desk = contact(&house, &ours, &chat.slack_url(), &["--name", "Host desk"]).await;
    let words = ["--name", "Mail", "--words", "--language", "es"];
    contact(&house, &ours, "desk@birch.example", &words).await;
    let theirs = other.casino_id.as_str();
    contact(
        &house,
        theirs,
        &elsewhere.slack_url(),
        &["--name", "Theirs"],
    )
    .await;
    house.text(GUEST, "Hi, it is my anniversary, any tables tonight?");
    house.settle(1).await;
    house.text(GUEST, "I want to talk to a manager <!channel>");
    house.settle(2).await;
    told(&chat, 1).await;
    until("the mail is there", SHORT, || async {
        mailbox.taken().len() == 1
    })
    .await;
    let post = &chat.taken(Side::Slack)[0];
    let text = post["text"].as_str().unwrap();
    assert!(text.contains("asks for a person") && text.contains("number ending 0142"));
    assert!(!post.to_string().contains("anniversary") && !post.to_string().contains("+1860"));
    let mail = &mailbox.taken()[0];
    assert_eq!(mail.to, ["desk@birch.example"]);
    let body = decoded(&mail.text);
    for part in [
        "pide hablar con una persona",
        "Huésped: I want to talk to a manager",
        "/n/",
    ] {
        assert!(body.contains(part), "{part}: {body}");
    }
    assert!(!body.contains("8605550142"), "{body}");
    // The link opens only this case, without a login. Viewing the case does not acknowledge it.
    let link = link_of(post);
    let mut caller = Caller::new(&house);
    let page = caller.get(&link).await;
    assert_eq!(page.status, StatusCode::OK);
    assert!(
        page.body.contains("sev2") && !page.body.contains("manager"),
        "{}",
        page.body
    );
    let in_hand = "select count(*) from escalations where acknowledged_at is not null";
    assert_eq!(house.number(in_hand).await, 0);
    let moved = link.replace(&ours, theirs);
    assert_eq!(caller.get(&moved).await.status, StatusCode::NOT_FOUND);
    assert_eq!(
        caller.get(&link[..link.len() - 1]).await.status,
        StatusCode::NOT_FOUND
    );
    let page = caller.post(&link, "").await;
    assert_eq!(
        (page.status, &*page.location),
        (StatusCode::SEE_OTHER, &*link)
    );
    assert_eq!(
        house
            .texts_of("select acknowledged_by from escalations")
            .await,
        [format!("contact:{desk}")]
    );
    assert!(caller.get(&link).await.body.contains("in hand: Host desk"));
    // `seven escalation show` lists the contacts that got a notice.
    let case = house
        .texts_of("select escalation_id::text from escalations")
        .await;
    let shown = seven(
        &house,
        &["escalation", "show", &case[0], "--casino", &ours],
        "",
    )
    .await;
    assert!(
        shown.contains("Host desk") && shown.contains("chat"),
        "{shown}"
    );
    // A link works for a day, and only while its contact exists.
    house
        .change("update case_notices set delivered_at = now() - interval '25 hours'")
        .await;
    assert_eq!(caller.get(&link).await.status, StatusCode::NOT_FOUND);
    house
        .change("update case_notices set delivered_at = now()")
        .await;
    assert_eq!(caller.get(&link).await.status, StatusCode::OK);
    seven(
        &house,
        &["contact", "remove", &desk, "--casino", &ours, "--by", "Ana"],
        "",
    )
    .await;
    assert_eq!(caller.get(&link).await.status, StatusCode::NOT_FOUND);
    assert_eq!(
        house
            .number("select count(*) from contacts where address = ''")
            .await,
        1
    );
    assert_eq!(elsewhere.requests(Side::Slack), 0);
    house.stop().await;
}

/// Reads the body of a mail whatever its transfer encoding.
fn decoded(mail: &str) -> String {
    let (head, body) = mail.split_once("\n\n").unwrap();
    if head.to_lowercase().contains("base64") {
        use base64::Engine as _;
        let joined: String = body.split_whitespace().collect();
        let bytes = base64::engine::general_purpose::STANDARD.decode(joined);
        return String::from_utf8(bytes.unwrap()).unwrap();
    }
    let mut bytes = Vec::new();
    let joined = body.replace("=\n", "");
    let mut rest = joined.as_bytes();
    while let [first, tail @ ..] = rest {
        let hex = tail.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) if *first == b'=' => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            _ => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8(bytes).unwrap()
}

#[tokio::test] // SEC-113, SEC-116: levels by timers, each told once, and the highest is the last
async fn a_case_left_alone_climbs_to_level_3() {
    let (one, two, three) = (
        Pagers::start().await.unwrap(),
        Pagers::start().await.unwrap(),
        Pagers::start().await.unwrap(),
    );
    let house = house("notices_climb", Wanted::default()).await;
    let ours = house.casino().as_str().to_owned();
    for (pagers, level) in [(&one, "1"), (&two, "2"), (&three, "3")] {
        let named = ["--name", level, "--level", level];
        contact(&house, &ours, &pagers.slack_url(), &named).await;
    }
    let count = || [&one, &two, &three].map(|pagers| pagers.taken(Side::Slack).len());
    house.text(GUEST, "I want to talk to a manager");
    house.settle(1).await;
    told(&one, 1).await;
    assert_eq!(count(), [1, 0, 0]);
    // A case of sev2 rises by one level after every two hours without an acknowledgement.
    house
        .change("update escalations set ack_due_at = now()")
        .await;
    told(&two, 1).await;
    told(&one, 2).await;
    assert_eq!(count(), [2, 1, 0]);
    let hours = "update escalations set raised_at = raised_at - interval '2 hours'";
    house.change(hours).await;
    told(&three, 1).await;
    told(&two, 2).await;
    told(&one, 3).await;
    assert_eq!(count(), [3, 2, 1]);
    let text = three.taken(Side::Slack)[0]["text"].to_string();
    assert!(text.contains("3 of 3"), "{text}");
    // There is no level 4, so the fleet's operators get an alert instead.
    house.change(hours).await;
    until("the fleet's operators are told", SHORT, || async {
        let alert = "select count(*) from alerts where name = 'case_unattended'";
        house.number(alert).await == 1
    })
    .await;
    assert_eq!(count(), [3, 2, 1]);
    let climbed = "select count(*) from audit_log where action = 'escalation_auto_escalated'";
    assert_eq!(house.number(climbed).await, 2);
    assert_eq!(
        house
            .number("select max(level)::bigint from escalations")
            .await,
        3
    );
    house.stop().await;
}

#[tokio::test] // D28: a channel that is down is tried again, and shown
async fn a_channel_that_is_down_loses_no_notice_and_tells_none_twice() {
    let (mailbox, chat) = (
        Mailbox::start().await.unwrap(),
        Pagers::start().await.unwrap(),
    );
    let house = with_mail("notices_down", &mailbox).await;
    let ours = house.casino().as_str().to_owned();
    contact(&house, &ours, &chat.slack_url(), &["--name", "Desk"]).await;
    contact(&house, &ours, "gone@birch.example", &["--name", "Gone"]).await;
    let night = ["--name", "Asleep", "--quiet", "00:00-23:59"];
    contact(&house, &ours, "asleep@birch.example", &night).await;
    let address = chat.address();
    drop(chat);
    mailbox.fail(Fault::Reply("550 5.1.1 no such user"), 1);
    let guests: Vec<String> = (0..12).map(|n| format!("+147555505{n:02}")).collect();
    house.text(&guests[0], "I want to talk to a manager");
    house.settle(1).await;
    until("the mailbox is given up", SHORT, || async {
        house
            .number(
                "select count(*) from alerts where name = 'contact_unreachable' and code = 'mail'",
            )
            .await
            == 1
    })
    .await;
    for guest in &guests[1..] {
        house.text(guest, "I want to talk to a manager");
    }
    house.settle(12).await;
    until("the chat was tried again and again", SHORT, || async {
        house
            .number("select coalesce(min(tries), 0)::bigint from case_notices n join contacts c using (contact_id) where c.name = 'Desk'")
            .await
            >= 2
    })
    .await;
    let shown = "select count(*) from case_notices n join contacts c using (contact_id)
        where c.name = 'Desk' and last_error like 'connection refused%'";
    until("each was tried, and shows why", SHORT, || async {
        house.number(shown).await == 12
    })
    .await;
    let chat = Pagers::start_at(address).await.unwrap();
    until("every notice is told", Duration::from_secs(60), || async {
        chat.taken(Side::Slack).len() >= 12
    })
    .await;
    let mut links: Vec<String> = chat.taken(Side::Slack).iter().map(link_of).collect();
    links.sort();
    links.dedup();
    assert_eq!((links.len(), chat.taken(Side::Slack).len()), (12, 12));
    let asleep = |mail: &seven_testkit::mailbox::Mail| mail.to == ["asleep@birch.example"];
    assert!(!mailbox.taken().iter().any(asleep), "quiet hours");
    // A danger to life is reported even in a contact's quiet hours.
    house.text(GUEST, "someone collapsed at the buffet call an ambulance");
    house.settle(13).await;
    until("sev0 wakes them", SHORT, || async {
        mailbox.taken().iter().any(asleep)
    })
    .await;
    house.stop().await;
}

/// Ten minutes, at the scale of [`with_mail`].
const TEN_MINUTES: Duration = Duration::from_secs(30);

#[tokio::test] // issue J: the chat service is away for ten minutes under load
async fn ten_minutes_without_the_chat_lose_no_notice_and_tell_none_twice() {
    const GUESTS: usize = 60;
    let (mailbox, chat) = (
        Mailbox::start().await.unwrap(),
        Pagers::start().await.unwrap(),
    );
    let house = with_mail("notices_ten_minutes", &mailbox).await;
    let ours = house.casino().as_str().to_owned();
    contact(&house, &ours, &chat.slack_url(), &["--name", "Desk"]).await;
    let _second = house.process("scheduler", None);
    let address = chat.address();
    drop(chat);
    let away = Instant::now();
    // Guests keep asking during the outage. When half of the guests have asked, a third scheduler
    // is killed.
    let third = house.process("scheduler", None);
    let mut third = Some(third);
    for n in 0..GUESTS {
        let guest = format!("+120355501{n:02}");
        house.text(&guest, "I want to talk to a manager");
        if n == GUESTS / 2 {
            drop(third.take());
        }
        sleep_until(away + TEN_MINUTES.mul_f64(n as f64 / GUESTS as f64)).await;
    }
    house.settle(GUESTS as i64).await;
    sleep_until(away + TEN_MINUTES).await;
    let pending = "select count(*) from case_notices where delivered_at is null and tries > 0";
    assert!(house.number(pending).await > 0, "nothing was tried");
    let chat = Pagers::start_at(address).await.unwrap();
    until("every notice is told", Duration::from_secs(90), || async {
        chat.taken(Side::Slack).len() >= GUESTS
    })
    .await;
    let open = "select count(*) from case_notices where delivered_at is null";
    until("no notice is left", SHORT, || async {
        house.number(open).await == 0
    })
    .await;
    let mut links: Vec<String> = chat.taken(Side::Slack).iter().map(link_of).collect();
    links.sort();
    links.dedup();
    assert_eq!(
        (links.len(), chat.taken(Side::Slack).len()),
        (GUESTS, GUESTS)
    );
    house.stop().await;
}

#[tokio::test] // D28: what a contact's address may be
async fn a_wrong_contact_is_refused_and_nothing_is_stored() {
    let house = house("notices_wrong", Wanted::default()).await;
    let ours = house.casino().as_str().to_owned();
    for (more, address, why) in [
        (&["--channel", "chat"][..], "ftp://x.example/", "https://"),
        (&["--channel", "chat"], "nonsense", "no URL"),
        (&["--channel", "mail"], "desk", "no mail address"),
        (
            &["--channel", "mail"],
            "desk@birch.example",
            "no mail server yet",
        ),
        (
            &["--channel", "chat", "--severity", "sev9"],
            "https://x.example/",
            "sev3",
        ),
        (
            &["--channel", "chat", "--quiet", "22-7"],
            "https://x.example/",
            "22:00-07:00",
        ),
        (&["--channel", "chat"], "", "has no address"),
    ] {
        let mut args = vec![
            "contact", "add", "-", "--casino", &ours, "--name", "X", "--by", "Ana",
        ];
        args.extend(more);
        let said = house.seven(&args, address).await;
        assert_ne!(said.code, 0, "{address}");
        assert!(said.err.contains(why), "{address}: {said:?}");
    }
    assert_eq!(house.number("select count(*) from contacts").await, 0);
    house.stop().await;
}

#[tokio::test(flavor = "multi_thread")] // D28, D6, SEC-110
async fn a_verified_phone_of_staff_is_told_and_is_no_guest() {
    let mailbox = Mailbox::start().await.unwrap();
    let house = with_mail("notices_phone", &mailbox).await;
    let ours = house.casino().as_str().to_owned();
    let phone = "+18605550177";
    let mut args = vec!["contact", "add", phone, "--casino", &ours, "--by", "Ana"];
    args.extend(["--channel", "text", "--name", "Night host"]);
    let said = seven(&house, &args, "").await;
    let id = said.split(" as ").nth(1).unwrap()[..36].to_owned();
    let sent = |kind: &str| {
        format!(
            "select body from outbound_messages where class = 'staff' and kind = '{kind}' and state in ('sent', 'delivered') order by created_at"
        )
    };
    let texts = async |kind: &str, n: usize| {
        until("the staff's text is sent", SHORT, || async {
            house.texts_of(&sent(kind)).await.len() == n
        })
        .await;
        house.texts_of(&sent(kind)).await
    };
    let code = texts("staff_code", 1).await.remove(0);
    assert!(
        code.contains("Silver Birch") && code.contains("STOP"),
        "{code}"
    );
    let code = code.split(' ').nth(1).unwrap().to_owned();
    // A phone gets no notice before its code is entered.
    house.text(GUEST, "I want to talk to a manager");
    house.settle(1).await;
    let planned = "select count(*) from case_notices";
    assert_eq!(house.number(planned).await, 0);
    let verify = async |code: &str| {
        let args = ["contact", "verify", &id, "--casino", &ours, "--code", code];
        house
            .seven(&[&args[..], &["--by", "Ana"]].concat(), "")
            .await
    };
    let wrong = if code == "000000" { "000001" } else { "000000" };
    let said = verify(wrong).await;
    assert!(said.err.contains("not the code"), "{said:?}");
    assert_eq!(verify(&code).await.code, 0);
    assert!(
        verify(&code).await.err.contains("expired"),
        "a code works once"
    );
    let notice = texts("staff_notice", 1).await.remove(0);
    assert!(
        notice.contains("asks for a person")
            && notice.contains("ending 0142")
            && notice.contains("/n/"),
        "{notice}"
    );
    assert!(!notice.contains("manager"), "{notice}");
    until("the notice counts as told", SHORT, || async {
        house
            .number("select count(*) from case_notices where delivered_at is not null")
            .await
            == 1
    })
    .await;
    // A text from a phone of staff is not a guest's text: it starts no turn, and its conversation
    // is not listed.
    house.text(phone, "On my way, what is the pool's time?");
    let closed =
        "select count(*) from inbound_messages where reason = 'staff' and disposition = 'closed'";
    until("the staff's answer is stored", SHORT, || async {
        house.number(closed).await == 1
    })
    .await;
    assert_eq!(
        house
            .number("select count(*) from turns where draft like '%pool%'")
            .await,
        0
    );
    let list = ["conversation", "list", "--casino", &ours, "--json"];
    let list = seven(&house, &list, "").await;
    assert_eq!(list.lines().count(), 1, "{list}");
    // A STOP from this phone is confirmed, and ends the notices to the phone. A case tells the
    // casino's other contacts about the STOP.
    house.text(phone, "STOP");
    let open = "select subject from escalations where reason = 'staff_stopped'";
    until("the others are told", SHORT, || async {
        house.texts_of(open).await == ["Night host"]
    })
    .await;
    let confirmed = "select count(*) from outbound_messages where class = 'opt_out_confirmation' and state in ('sent', 'delivered')";
    until("the STOP is confirmed", SHORT, || async {
        house.number(confirmed).await == 1
    })
    .await;
    let said = seven(
        &house,
        &["contact", "list", "--casino", &ours, "--json"],
        "",
    )
    .await;
    assert_eq!(said, "");
    let said = house.seven(&args, "").await;
    assert!(said.err.contains("START"), "{said:?}");
    house.stop().await;
}
