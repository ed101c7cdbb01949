//! Tests that each contact gets the letters that it wants, once each. Letters report the figures of
//! the week, refused content, and outages (D28, D31).

use std::time::Duration;

use axum::{Router, extract::State, http::StatusCode, response::IntoResponse, routing::get};
use seven_carrier_sim::{Fault as Faulty, Matcher, Plan, Rule};
use seven_content::{Outcome, Terms};
use seven_scheduler::{Sheets, read_sheet};
use seven_testkit::{
    mailbox::{Fault, Mailbox},
    pagers::{Pagers, Side},
};
use tokio::time::sleep;

use crate::{
    editing::{by, changed},
    harness::{GUEST, House, until},
    notices::{contact, with_mail},
};

const SHORT: Duration = Duration::from_secs(30);

#[tokio::test(flavor = "multi_thread")] // D28, OBS-33
async fn a_weekly_report_is_told_once_by_each_channel_and_names_nobody() {
    let (mailbox, chat) = (
        Mailbox::start().await.unwrap(),
        Pagers::start().await.unwrap(),
    );
    let house = with_mail("weekly_report", &mailbox).await;
    let ours = house.casino().as_str().to_owned();
    let desk = ["--name", "Desk", "--weekly"];
    contact(&house, &ours, &chat.slack_url(), &desk).await;
    let boss = ["--name", "Boss", "--weekly", "--language", "es"];
    contact(&house, &ours, "boss@birch.example", &boss).await;
    contact(&house, &ours, "plain@birch.example", &["--name", "Plain"]).await;
    house.text(GUEST, "What time is check-in?");
    house.settle(1).await;
    // A contact that was added after the end of a week gets its first letter about the next week.
    let night = async || {
        house.change("delete from nightly").await;
        let zone = house.config.operational.timezone;
        let today = chrono::Utc::now().with_timezone(&zone).date_naive();
        seven_scheduler::night(&house.stack.fleet, &house.config, today)
            .await
            .unwrap();
    };
    night().await;
    let planned = "select count(*) from contact_letters";
    assert_eq!(house.number(planned).await, 0);
    house
        .change("update contacts set created_at = created_at - interval '30 days'")
        .await;
    house
        .change("update inbound_messages set received_at = received_at - interval '7 days'")
        .await;
    mailbox.fail(Fault::Reply("451 4.3.0 try again later"), 1);
    night().await;
    night().await;
    assert_eq!(house.number(planned).await, 2, "one per week and contact");
    // Makes the letters due at once, whatever the hour at which this test runs.
    house
        .change("update contact_letters set next_at = now()")
        .await;
    let told = "select count(*) from contact_letters where delivered_at is not null";
    until("both are told", SHORT, || async {
        house.number(told).await == 2
    })
    .await;
    let posts = chat.taken(Side::Slack);
    let mails = mailbox.taken();
    assert_eq!((posts.len(), mails.len()), (1, 1));
    let text = posts[0]["text"].as_str().unwrap();
    assert!(
        text.contains("the week from") && text.contains("Guests who wrote: 1 (the week before: 0)"),
        "{text}"
    );
    assert!(text.contains("/c/silver_birch/figures?from="), "{text}");
    assert!(
        !text.contains("check-in") && !text.contains("5550142"),
        "{text}"
    );
    assert_eq!(mails[0].to, ["boss@birch.example"]);
    house.stop().await;
}

const HEAD: &str =
    "category,name,description,treatment_type,duration_minutes,price,regulation_type,state\n";

/// A server that delivers a spreadsheet. The fields are the status and the body of its answer, and
/// the number of requests that it got.
#[derive(Clone, Default)]
pub(crate) struct Sheet(std::sync::Arc<std::sync::Mutex<(u16, String, usize)>>);

impl Sheet {
    pub(crate) async fn start() -> (Self, String) {
        let sheet = Self::default();
        let answer = async |State(sheet): State<Sheet>| {
            let mut told = sheet.0.lock().unwrap();
            told.2 += 1;
            let (status, body, _) = told.clone();
            let headers = [("content-type", "text/csv"), ("location", "/elsewhere")];
            (StatusCode::from_u16(status).unwrap(), headers, body).into_response()
        };
        let app = Router::new()
            .route("/sheet", get(answer))
            .with_state(sheet.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}/sheet", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        (sheet, address)
    }

    pub(crate) fn answers(&self, status: u16, body: &str) {
        let mut told = self.0.lock().unwrap();
        (told.0, told.1) = (status, body.to_owned());
    }

    pub(crate) fn asked(&self) -> usize {
        self.0.lock().unwrap().2
    }
}

async fn price(house: &House) -> String {
    let item = "select item -> 'details' ->> 'price' from content_items where item_id = 'spa_001'";
    house.texts_of(item).await.remove(0)
}

#[tokio::test(flavor = "multi_thread")] // D31, CMS-25
async fn a_whole_sheet_is_read_each_night_and_a_refused_one_is_told() {
    let (mailbox, chat) = (
        Mailbox::start().await.unwrap(),
        Pagers::start().await.unwrap(),
    );
    let house = with_mail("nightly_sheet", &mailbox).await;
    let ours = house.casino().as_str().to_owned();
    let desk = ["--name", "Desk", "--content"];
    contact(&house, &ours, &chat.slack_url(), &desk).await;
    let (sheet, address) = Sheet::start().await;
    let fleet = &house.stack.fleet;
    let ours = house.casino();
    let read_at = async |local: bool, address: &str, day: &str| {
        let sheets = Sheets::new(local).unwrap();
        let date = day.parse().unwrap();
        read_sheet(fleet, &sheets, (ours, address), date, true).await
    };
    // Reads the sheet as in the first hour of the nightly jobs. If the read fails in this hour, no
    // contact is told.
    let (sheets, date) = (Sheets::new(true).unwrap(), "2026-10-31".parse().unwrap());
    sheet.answers(500, "");
    let silent = read_sheet(fleet, &sheets, (ours, &address), date, false).await;
    assert!(silent.is_err());
    assert_eq!(
        house.number("select count(*) from contact_letters").await,
        0
    );
    let read = async |local: bool, day: &str| read_at(local, &address, day).await;

    // Outside development, no request is sent to an address in our own network. If a host name
    // resolves to such an address, the resolver refuses it (`seven_notices::address`).
    let port = address.split(':').nth(2).unwrap();
    for (address, said) in [
        (address.clone(), "must begin with https://"),
        (format!("https://127.0.0.1:{port}"), "not public"),
    ] {
        let refused = read_at(false, &address, "2026-11-01")
            .await
            .unwrap_err()
            .to_string();
        assert!(refused.contains(said), "{address}: {refused}");
    }
    for (status, said) in [
        (302, "302 Found"),
        (500, "500 Internal"),
        (404, "404 Not Found"),
    ] {
        sheet.answers(status, "");
        let refused = read(true, "2026-11-02").await.unwrap_err().to_string();
        assert!(
            refused.contains(said) && !refused.contains("127.0.0.1"),
            "{refused}"
        );
    }
    sheet.answers(200, &"x".repeat(11 << 20));
    let refused = read(true, "2026-11-02").await.unwrap_err().to_string();
    assert!(refused.contains("more than 10 MB"), "{refused}");

    // A file with one bad row is refused as a whole, and one letter reports it.
    let bad =
        format!("{HEAD}spa,Swedish Massage,Oil,Massage,60,170,,\nspa,Sauna,Hot,Sauna,,30,,\n");
    sheet.answers(200, &bad);
    read(true, "2026-11-03").await.unwrap();
    assert_eq!(price(&house).await, "165.0");
    let good = format!("{HEAD}spa,Swedish Massage,Oil,Massage,60,170,,\n");
    sheet.answers(200, &good);
    read(true, "2026-11-03").await.unwrap();
    assert_eq!(price(&house).await, "165.0", "one reading a night");
    read(true, "2026-11-04").await.unwrap();
    assert_eq!(price(&house).await, "170.0");
    let result = "select result::text from nightly where job = 'content_sheet'";
    let result = house.texts_of(result).await.remove(0);
    assert!(result.contains("\"changed\": 1"), "{result}");

    // Reading the sheet does not change revisions that wait for a person, and does not propose
    // rejected revisions again.
    let draft = Terms {
        draft: true,
        ..by("ana")
    };
    changed(&house, &draft, "spa_001", |item| {
        item["details"]["price"] = 200.into();
    })
    .await;
    let other = format!(
        "{HEAD}spa,Swedish Massage,Oil,Massage,60,175,,\nregulations,No Drones,None fly here.,,,,Age restriction,CT\n"
    );
    sheet.answers(200, &other);
    read(true, "2026-11-05").await.unwrap();
    assert_eq!(price(&house).await, "170.0");
    let waits = "select count(*) from content_revisions where state in ('draft', 'review')";
    let waiting = house.number(waits).await;
    assert_eq!(waiting, 2, "the draft, and the new regulation for review");
    read(true, "2026-11-06").await.unwrap();
    assert_eq!(
        house.number(waits).await,
        waiting,
        "nothing is proposed twice"
    );
    let reject =
        "update content_revisions set state = 'rejected' where state in ('draft', 'review')";
    house.change(reject).await;
    read(true, "2026-11-07").await.unwrap();
    let again = "select count(*) from content_revisions where state = 'review'";
    assert_eq!(
        house.number(again).await,
        0,
        "what a person refused does not come back"
    );
    assert_eq!(
        price(&house).await,
        "175.0",
        "another price than the refused one does"
    );

    // Three nights made one letter each: two because the file could not be read from the address,
    // and one because the file was refused.
    let told = "select count(*) from contact_letters where delivered_at is not null";
    until("three letters", SHORT, || async {
        house.number(told).await == 3
    })
    .await;
    let posts = chat.taken(Side::Slack);
    let texts: Vec<&str> = posts
        .iter()
        .map(|post| post["text"].as_str().unwrap())
        .collect();
    let refused = texts.iter().find(|text| text.contains("duration_minutes"));
    assert!(
        refused.is_some_and(|text| text.contains("the spreadsheet was refused")),
        "{texts:?}"
    );
    let kept = "select count(*) from contact_letters where detail <> '{}'";
    assert_eq!(
        house.number(kept).await,
        0,
        "problems are forgotten once told"
    );
    house.stop().await;
}

#[tokio::test(flavor = "multi_thread")] // CMS-10, CMS-47
async fn a_refused_regulation_is_told_to_those_who_want_to_hear_of_it() {
    let mailbox = Mailbox::start().await.unwrap();
    let house = with_mail("refused_told", &mailbox).await;
    let ours = house.casino().as_str().to_owned();
    let boss = ["--name", "Boss", "--content", "--language", "es"];
    contact(&house, &ours, "boss@birch.example", &boss).await;
    contact(&house, &ours, "plain@birch.example", &["--name", "Plain"]).await;
    let edit = async |id: &str| {
        let outcome = changed(&house, &by("ana"), id, |item| item["name"] = "".into()).await;
        assert!(matches!(outcome, Outcome::Refused { .. }), "{outcome:?}");
    };
    edit("spa_001").await;
    edit("regulation_001").await;
    let told = "select count(*) from contact_letters where delivered_at is not null";
    until("one mail", SHORT, || async {
        house.number(told).await == 1
    })
    .await;
    let mails = mailbox.taken();
    assert_eq!(mails[0].to, ["boss@birch.example"]);
    assert_eq!(
        house.number("select count(*) from contact_letters").await,
        1
    );
    house.stop().await;
}

#[tokio::test(flavor = "multi_thread")] // PROD-40
async fn contacts_hear_when_no_provider_takes_texts_and_when_it_is_over() {
    let (mailbox, chat) = (
        Mailbox::start().await.unwrap(),
        Pagers::start().await.unwrap(),
    );
    let house = with_mail("outage_told", &mailbox).await;
    let ours = house.casino().as_str().to_owned();
    let desk = ["--name", "Desk", "--outages"];
    contact(&house, &ours, &chat.slack_url(), &desk).await;
    let boss = ["--name", "Boss", "--outages", "--language", "es"];
    contact(&house, &ours, "boss@birch.example", &boss).await;
    contact(&house, &ours, "plain@birch.example", &["--name", "Plain"]).await;
    let refusing = Rule {
        matcher: Matcher::default(),
        fault: Faulty::TooManyRequests,
        times: None,
    };
    let plan = Plan {
        rules: vec![refusing],
        ..Plan::default()
    };
    house.stack.sim.set_rules(plan).unwrap();
    for n in 0..6 {
        house.text(&format!("+147555503{n:02}"), "where is nonna salvia?");
    }
    until("the outage is told", SHORT, || async {
        chat.taken(Side::Slack).len() == 1 && mailbox.taken().len() == 1
    })
    .await;
    house.stack.sim.set_rules(Plan::default()).unwrap();
    until("its end is told", SHORT * 3, || async {
        chat.taken(Side::Slack).len() == 2 && mailbox.taken().len() == 2
    })
    .await;
    let said = |n: usize| chat.taken(Side::Slack)[n]["text"].to_string();
    for part in [
        "SEV1",
        "texts to guests",
        "no provider takes",
        "wait in order",
    ] {
        assert!(said(0).contains(part), "{part}: {}", said(0));
    }
    assert!(said(1).contains("over") && said(1).contains("None waits for a provider any more"));
    assert_eq!(mailbox.taken()[0].to, ["boss@birch.example"]);
    let ended = "select count(*) from outages where kind = 'sending' and ended_at > began_at";
    assert_eq!(house.number(ended).await, 1);

    // A host that a person paused does not count as an outage.
    let silence = [
        "pause", "--agents", "--casino", &ours, "--by", "Ana", "--reason", "a test",
    ];
    let said = house.seven(&silence, "").await;
    assert_eq!(said.code, 0, "{said:?}");
    house.text(GUEST, "where is nonna salvia?");
    let open = "select count(*) from inbound_messages where disposition = 'open'";
    until("a text waits", SHORT, || async {
        house.number(open).await == 1
    })
    .await;
    house
        .change("update inbound_messages set stored_at = stored_at - interval '1 hour' where disposition = 'open'")
        .await;
    sleep(Duration::from_secs(5)).await;
    assert_eq!(house.number("select count(*) from outages").await, 1);

    // An outage ends even if some text has just begun to wait. At a busy casino there is nearly
    // always such a text.
    for statement in [
        "update inbound_messages set stored_at = now() + interval '1 hour' where disposition = 'open'",
        "insert into outages (casino_id, outage_id, kind, began_at)
           select casino_id, gen_random_uuid(), 'answers', now() - interval '1 hour' from casinos",
    ] {
        house.change(statement).await;
    }
    let open = "select count(*) from outages where ended_at is null";
    until("it is over", SHORT, || async {
        house.number(open).await == 0
    })
    .await;
}
