//! Alerts about carriers that block us, bad delivery figures and cases reach people once on every
//! channel (SMS-52, SMS-54, SMS-55, SEC-110).

use std::time::Duration;

use serde_json::Value;
use seven_carrier_sim::{Fault, Matcher, Plan, Rule};
use seven_domain::Severity;
use seven_store::alerts::NewAlert;
use seven_telemetry::Alert;
use seven_testkit::pagers::{Fault as Trouble, Pagers, ROUTING_KEY, Side};
use tokio::time::sleep;

use crate::harness::{GUEST, House, Wanted, house, until};

const SHORT: Duration = Duration::from_secs(20);

fn guest(n: usize) -> String {
    format!("+147555504{n:02}")
}

async fn told(name: &str) -> (House, Pagers) {
    let pagers = Pagers::start().await.unwrap();
    let extra = format!(
        "alerts.slack_webhook_url = \"{}\"\nalerts.pagerduty_routing_key = \"{ROUTING_KEY}\"\nalerts.pagerduty_url = \"{}\"\n",
        pagers.slack_url(),
        pagers.pagerduty_url()
    );
    (
        house(
            name,
            Wanted {
                extra,
                ..Wanted::default()
            },
        )
        .await,
        pagers,
    )
}

/// Makes the carrier report the next `times` texts as failed with this code; all further texts if
/// `times` is `None`.
fn refusing(house: &House, code: &str, times: Option<u32>) {
    let rule = Rule {
        matcher: Matcher::default(),
        fault: Fault::FinalizedError(code.to_owned()),
        times,
    };
    house
        .stack
        .sim
        .set_rules(Plan {
            rules: vec![rule],
            ..Plan::default()
        })
        .unwrap();
}

async fn seven(house: &House, args: &[&str]) -> String {
    let said = house.seven(args, "").await;
    assert_eq!(said.code, 0, "{args:?}: {said:?}");
    said.out
}

/// Returns the actions of the events that PagerDuty received about alerts of this `class`, in
/// order.
fn paged(pagers: &Pagers, class: &str) -> Vec<String> {
    let events = pagers.taken(Side::PagerDuty);
    let keys: Vec<&Value> = events
        .iter()
        .filter(|e| e["payload"]["class"] == class)
        .map(|e| &e["dedup_key"])
        .collect();
    let ours = events
        .iter()
        .filter(|event| keys.contains(&&event["dedup_key"]));
    ours.map(|event| event["event_action"].as_str().unwrap().to_owned())
        .collect()
}

/// Returns the messages to Slack's webhook about alerts of this name.
fn posted(pagers: &Pagers, name: &str) -> Vec<String> {
    let texts = pagers
        .taken(Side::Slack)
        .into_iter()
        .map(|post| post["text"].as_str().unwrap().to_owned());
    texts
        .filter(|text| text.contains(&format!(" {name} (")))
        .collect()
}

/// Lets guests send HELP. The answer to HELP is always one text of one segment.
fn ask_for_help(house: &House, guests: std::ops::Range<usize>) {
    guests.for_each(|n| drop(house.text(&guest(n), "HELP")));
}

async fn ended(house: &House, state: &str, texts: i64) {
    until(&format!("{texts} texts are {state}"), SHORT, || async {
        house.count("outbound", state).await == texts
    })
    .await;
}

const PAUSED: &str =
    "select count(*) from controls where name = 'pause_proactive' and actor = 'carrier-block'";

// SMS-52, SMS-55, C-47: if a carrier blocks us, the next check pauses proactive texts, but not
// replies. People are paged once, however long the block lasts
#[tokio::test]
async fn a_carrier_that_blocks_us_pauses_proactive_texts_and_pages_once() {
    let (house, pagers) = told("alerts_block").await;
    refusing(&house, "40002", None);
    ask_for_help(&house, 0..10);
    ended(&house, "undelivered", 10).await;
    sleep(Duration::from_millis(1_500)).await;
    assert_eq!(house.number(PAUSED).await, 0, "ten are not more than ten");
    ask_for_help(&house, 10..11);
    until(
        "proactive texts are paused",
        Duration::from_secs(10),
        || async { house.number(PAUSED).await == 1 },
    )
    .await;
    until("somebody is paged", SHORT, || async {
        paged(&pagers, "carrier_block") == ["trigger"]
    })
    .await;
    let seen = "select coalesce(max(repeats), 0) from alerts where name = 'carrier_block'";
    until("it is seen again and again", SHORT, || async {
        house.number(seen).await >= 3
    })
    .await;
    let text = posted(&pagers, "carrier_block").concat();
    assert!(
        text.contains("Simulated Wireless behind telnyx refused 11 texts in a row"),
        "{text}"
    );
    assert!(!text.contains("+1475"), "{text}");
    // If a person lifts the pause while the carrier still blocks us, the pause stays lifted.
    let casino = house.casino().to_string();
    let by = ["--by", "Robin", "--reason", "talked to the carrier"];
    seven(
        &house,
        &[&["resume", "--casino", &casino, "--proactive"][..], &by].concat(),
    )
    .await;
    sleep(Duration::from_millis(1_500)).await;
    assert_eq!(house.number(PAUSED).await, 0);
    house.stack.sim.set_rules(Plan::default()).unwrap();
    house.text(GUEST, "where is nonna salvia?");
    until("replies go on", SHORT, || async {
        house.said_to(GUEST).contains("Nonna Salvia")
    })
    .await;
    until("the block is over", SHORT, || async {
        paged(&pagers, "carrier_block") == ["trigger", "resolve"]
    })
    .await;
    let posts = posted(&pagers, "carrier_block");
    assert!(
        posts.len() == 2 && posts[1].starts_with("RESOLVED"),
        "{posts:?}"
    );
    let audited = "select count(*) from audit_log where action = 'sending_stopped' and actor = 'carrier-block'";
    assert_eq!(house.number(audited).await, 1);
    assert_eq!(
        house
            .number("select count(*) from alerts where name = 'carrier_block'")
            .await,
        1
    );
    house.stop().await;
}

// SMS-54, PROD-23: `seven delivery` prints the figures. The alert about a bad delivery rate stays
// open until the rate is good again
#[tokio::test]
async fn a_bad_share_stands_until_it_is_good_again() {
    let (house, pagers) = told("alerts_figures").await;
    // 40012 means that the guest's number is invalid. The check does not take this for a block by
    // the carrier.
    refusing(&house, "40012", Some(4));
    ask_for_help(&house, 0..30);
    ended(&house, "delivered", 26).await;
    until("a critical share is told", SHORT, || async {
        paged(&pagers, "delivery_rate") == ["trigger"]
    })
    .await;
    // The first bad figure raises the alert. Later figures update the alert's sentence.
    let whole = "select count(*) from alerts where name = 'delivery_rate' and summary like '%86.7 \\% of 30 texts%'";
    until("all thirty are counted", SHORT, || async {
        house.number(whole).await == 1
    })
    .await;
    let listed = seven(&house, &["alert", "list", "--json"]).await;
    let rows: Vec<Value> = listed
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let row = rows
        .iter()
        .find(|row| row["name"] == "delivery_rate")
        .unwrap();
    assert_eq!(row["severity"], "critical", "{row}");
    assert!(
        !row["ack_due_at"].is_null() && row["overdue"] == false,
        "{row}"
    );
    let casino = house.casino().to_string();
    let table = seven(&house, &["delivery", "--casino", &casino]).await;
    assert!(
        table.contains("!! delivery_rate")
            && table.contains("!! bounce_rate")
            && table.contains("86.7 %"),
        "{table}"
    );
    ask_for_help(&house, 30..99);
    house.text(GUEST, "STOP");
    ended(&house, "delivered", 96).await;
    until("the share is good again", SHORT, || async {
        paged(&pagers, "delivery_rate") == ["trigger", "resolve"]
    })
    .await;
    // The delivery rate may be good again before the last text is old enough to be counted.
    tokio::time::sleep(house.stack.fleet.timing.receipt_margin()).await;
    let json = seven(&house, &["delivery", "--hours", "2", "--json"]).await;
    let hours: Vec<Value> = json
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let sum = |field: &str| {
        hours
            .iter()
            .map(|hour| hour[field].as_i64().unwrap())
            .sum::<i64>()
    };
    assert_eq!(
        (
            sum("sent"),
            sum("delivered"),
            sum("bounced"),
            sum("opt_outs")
        ),
        (100, 96, 4, 1),
        "{json}"
    );
    assert!(sum("segments") >= 100 && sum("reported") == 100, "{json}");
    assert_eq!(
        house.number("select count(*) from controls").await,
        0,
        "one STOP among a hundred pauses nothing"
    );
    house.stop().await;
}

#[tokio::test] // SMS-54: guests who leave in numbers pause proactive texts at once
async fn guests_who_leave_in_numbers_pause_proactive_texts() {
    let (house, pagers) = told("alerts_leaving").await;
    ask_for_help(&house, 0..20);
    (0..2).for_each(|n| drop(house.text(&guest(n), "STOP")));
    ended(&house, "delivered", 22).await;
    sleep(Duration::from_millis(2_500)).await;
    assert!(
        paged(&pagers, "opt_out_rate").is_empty(),
        "two of twenty are chance"
    );
    house.text(&guest(2), "STOP");
    until("somebody is paged", SHORT, || async {
        paged(&pagers, "opt_out_rate") == ["trigger"]
    })
    .await;
    let paused =
        "select count(*) from controls where name = 'pause_proactive' and actor = 'opt-out-rate'";
    assert_eq!(house.number(paused).await, 1);
    assert_eq!(
        house.number("select count(*) from controls").await,
        1,
        "replies go on"
    );
    let status = seven(&house, &["status"]).await;
    assert!(
        status.contains("ALERT critical opt_out_rate") && status.contains("ON: pause_proactive"),
        "{status}"
    );
    house.stop().await;
}

#[tokio::test] // SEC-110: told once, acknowledged and resolved with its case
async fn a_case_is_told_once_and_followed_to_its_end() {
    let (house, pagers) = told("alerts_case").await;
    house.text(GUEST, "I want to kill myself, I lost my house");
    until("somebody is paged", SHORT, || async {
        paged(&pagers, "case") == ["trigger"]
    })
    .await;
    house.text(GUEST, "hello?");
    house.settle(2).await;
    sleep(Duration::from_millis(1_500)).await;
    assert_eq!(paged(&pagers, "case"), ["trigger"]);
    let triggers = pagers.taken(Side::PagerDuty);
    let everything = format!("{triggers:?}{:?}", pagers.taken(Side::Slack));
    assert!(
        !everything.contains(GUEST) && !everything.contains("my house"),
        "{everything}"
    );
    let id = triggers[0]["dedup_key"].as_str().unwrap();
    let casino = house.casino().to_string();
    seven(&house, &["alert", "ack", id, "--by", "Robin"]).await;
    assert_eq!(
        house
            .seven(&["alert", "ack", id, "--by", "Kim"], "")
            .await
            .code,
        1,
        "Robin has it"
    );
    let in_hand = "select count(*) from escalations where acknowledged_by = 'Robin'";
    assert_eq!(house.number(in_hand).await, 1, "the case is in hand too");
    assert_eq!(
        house.number("select count(*) from audit_log where action = 'alert_acknowledged' and actor = 'Robin'").await,
        1
    );
    until("it is in hand", SHORT, || async {
        paged(&pagers, "case") == ["trigger", "acknowledge"]
    })
    .await;
    seven(
        &house,
        &[
            "escalation",
            "resolve",
            id,
            "--casino",
            &casino,
            "--by",
            "Robin",
        ],
    )
    .await;
    until("it is over", SHORT, || async {
        paged(&pagers, "case") == ["trigger", "acknowledge", "resolve"]
    })
    .await;
    assert!(posted(&pagers, "case")[0].starts_with("CRITICAL"));
    let figures = format!("{}/metrics", house.stack.ops_url.clone().unwrap());
    let labels = "casino=\"silver_birch\",severity=\"sev0\",step=\"resolved\"";
    let counted = format!("seven_cases_of_the_day{{{labels}}} 1");
    let timed = format!("seven_case_seconds_p95{{{labels}}} ");
    until("the gauges tell its time", SHORT, || async {
        let text = reqwest::get(&figures).await.unwrap().text().await.unwrap();
        text.contains(&counted) && text.contains(&timed)
    })
    .await;
    house.stop().await;
}

// SMS-55: a channel that fails is tried again, and gets the alert only once. An alert that is
// raised a thousand times is one alert
#[tokio::test]
async fn a_channel_that_fails_is_told_later_and_once() {
    let (house, pagers) = told("alerts_retry").await;
    // Two schedulers together must send each alert only once.
    let other = house.process("scheduler", None);
    let beats = "select count(*) from workers where worker = 'scheduler'";
    until("another scheduler works", SHORT, || async {
        house.number(beats).await == 2
    })
    .await;
    pagers.fail(Side::Slack, Trouble::Status(500), 2);
    pagers.fail(Side::Slack, Trouble::Slow(800), 1);
    pagers.fail(Side::PagerDuty, Trouble::Silence, 1);
    pagers.fail(Side::PagerDuty, Trouble::Throttled(1), 1);
    let alert = Alert {
        name: "provider_stopped",
        casino: "",
        provider: "telnyx",
        code: "20100",
        text: "no funds",
    };
    (0..1_000).for_each(|_| alert.raise());
    until("the webhook took it", SHORT, || async {
        posted(&pagers, "provider_stopped").len() == 1
    })
    .await;
    until("PagerDuty took it", SHORT, || async {
        paged(&pagers, "provider_stopped") == ["trigger"]
    })
    .await;
    sleep(Duration::from_secs(1)).await;
    assert_eq!(
        (
            pagers.requests(Side::Slack),
            pagers.requests(Side::PagerDuty)
        ),
        (3, 3)
    );
    assert_eq!(
        house
            .number("select repeats from alerts where name = 'provider_stopped'")
            .await,
        999
    );
    // Nobody raises the alert again, so it ends. Raising it later makes a new alert.
    until("it is over", SHORT, || async {
        paged(&pagers, "provider_stopped") == ["trigger", "resolve"]
    })
    .await;
    pagers.fail(Side::Slack, Trouble::Status(404), 1);
    alert.raise();
    until("it is paged anew", SHORT, || async {
        paged(&pagers, "provider_stopped").len() == 3
    })
    .await;
    let given_up = "select count(*) from alert_deliveries where given_up_at is not null and channel = 'webhook'";
    until("a dead webhook is given up", SHORT, || async {
        house.number(given_up).await == 1
    })
    .await;
    assert_eq!(
        house
            .number("select count(*) from alerts where name = 'provider_stopped'")
            .await,
        2
    );
    drop(other);
    house.stop().await;
}

#[tokio::test] // SMS-55: whoever had the smaller thing in hand hears that it has grown
async fn a_warning_that_becomes_critical_is_told_anew() {
    let (house, pagers) = told("alerts_grown").await;
    let fleet = &house.stack.fleet;
    let file = async |severity, summary: &str| {
        let new = NewAlert {
            alert_id: fleet.ids.uuid(),
            key: "grown///",
            name: "grown",
            casino: "",
            provider: "",
            code: "",
            severity,
            summary,
            standing: true,
            times: 1,
            ack_within: Some(Duration::from_secs(300)),
        };
        fleet.store.raise_alert(&new).await.unwrap();
    };
    file(Severity::Warning, "it smells").await;
    until("the webhook took it", SHORT, || async {
        posted(&pagers, "grown").len() == 1
    })
    .await;
    let id = fleet.store.alerts(false, 9).await.unwrap()[0].alert_id;
    assert!(fleet.store.acknowledge_alert(id, "Robin").await.unwrap());
    until("it is in hand", SHORT, || async {
        posted(&pagers, "grown").len() == 2
    })
    .await;
    file(Severity::Warning, "it smells").await;
    file(Severity::Critical, "it burns").await;
    until("it is told anew", SHORT, || async {
        posted(&pagers, "grown").len() == 3
    })
    .await;
    until("it is paged", SHORT, || async {
        paged(&pagers, "grown") == ["trigger"]
    })
    .await;
    assert!(posted(&pagers, "grown")[2].starts_with("CRITICAL grown (the whole fleet): it burns"));
    file(Severity::Warning, "it smells").await;
    let now = fleet.store.alerts(false, 9).await.unwrap().remove(0);
    assert_eq!(
        (now.alert_id, now.severity.as_str(), now.repeats),
        (id, "critical", 3)
    );
    assert_eq!(
        now.acknowledged_by, None,
        "Robin had the smell in hand, not the fire"
    );
    sleep(Duration::from_millis(1_500)).await;
    assert_eq!(
        (
            posted(&pagers, "grown").len(),
            paged(&pagers, "grown").len()
        ),
        (3, 1)
    );
    house.stop().await;
}

#[tokio::test]
async fn an_operator_tries_every_channel() {
    let (house, pagers) = told("alerts_test").await;
    let said = seven(&house, &["alert", "test"]).await;
    for line in [
        "log        trigger  ok",
        "webhook    trigger  ok: HTTP 200 ok",
        "pagerduty  resolve  ok: HTTP 202",
    ] {
        assert!(said.contains(line), "{said}");
    }
    assert_eq!(paged(&pagers, "test"), ["trigger", "resolve"]);
    pagers.fail(Side::Slack, Trouble::Status(404), 1);
    let failed = house.seven(&["alert", "test"], "").await;
    assert!(
        failed.code == 1 && failed.out.contains("webhook    trigger  FAILED: HTTP 404"),
        "{failed:?}"
    );
    assert!(
        seven(&house, &["alert", "list"])
            .await
            .contains("No alert is open"),
        "a test is no alert"
    );
    house.stop().await;
}
