//! Dead letters and flags on the console's pages.

use std::time::Duration;

use reqwest::StatusCode;
use seven_domain::Role;

use super::{staff::Staff, with_console};
use crate::{
    harness::{GUEST, until},
    operations::dead_many::{file, letter},
};

const SOON: Duration = Duration::from_secs(30);
const PATH: &str = "/c/silver_birch/dead";
const QUESTION: &str = "What time is check-in?";

#[tokio::test] // D17, D27: by kind, replayed and discarded, never twice, without personal data
async fn an_admin_orders_dead_letters_and_the_scheduler_carries_the_orders_out() {
    let house = with_console("console_dead").await;
    let staff = Staff::new(&house);
    let here = Some(house.casino());
    let ana = staff.add("ana@example.com", Role::Admin, here).await;
    let rosa = staff.add("rosa@example.com", Role::Compliance, here).await;
    let luis = staff.add("luis@example.com", Role::Host, here).await;
    let (ana, rosa, luis) = (
        ana.logged_in(&house).await,
        rosa.logged_in(&house).await,
        luis.logged_in(&house).await,
    );
    assert!(ana.get(PATH).await.body.contains("No dead letters"));
    // Files dead letters of two guests who wait for an answer, and of one who has opted out.
    house.text(GUEST, "STOP");
    house.settle(1).await;
    let phones = ["+12035550171", "+12035550172"];
    let letters = [
        letter(&house, 1, phones[0], QUESTION),
        letter(&house, 2, phones[1], QUESTION),
        letter(&house, 3, GUEST, QUESTION),
    ];
    file(&house, &letters).await;
    let stopped = format!("{PATH}/{}", letters[2].dead_id);
    let page = rosa.get(PATH).await.body;
    assert!(page.contains("3 × Compliance gate"), "{page}");
    assert!(
        !page.contains("Replay all"),
        "compliance reads and orders nothing"
    );
    let one = rosa.get(&stopped).await.body;
    assert!(one.contains("(22 characters)"), "{one}");
    for body in [&page, &one] {
        assert!(
            !body.contains("check-in") && !body.contains(&GUEST[2..]),
            "{body}"
        );
    }
    // The roles of host and compliance cannot order a replay. An administrator cannot order one
    // without a reason.
    let kind = [
        ("stage", "gate"),
        ("kind", "failed"),
        ("order", "replay"),
        ("reason", "the gate was mended"),
    ];
    assert_eq!(luis.get(PATH).await.status, StatusCode::NOT_FOUND);
    assert_eq!(luis.get(&stopped).await.status, StatusCode::NOT_FOUND);
    for caller in [&luis, &rosa] {
        assert_eq!(caller.act(PATH, &kind).await.status, StatusCode::NOT_FOUND);
    }
    let page = ana.act(PATH, &kind[..3]).await;
    assert_eq!(page.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(page.body.contains("Write a reason first"), "{}", page.body);
    assert_eq!(
        house
            .number("select count(*) from dead_letters where asked is not null")
            .await,
        0
    );

    assert_eq!(ana.act(PATH, &kind).await.status, StatusCode::SEE_OTHER);
    until("every order is carried out", SOON, || async {
        let left = "select count(*) from dead_letters where asked is not null";
        house.number(left).await == 0
    })
    .await;
    house.settle(3).await;
    for phone in phones {
        assert_eq!(house.texts_to(phone).len(), 1, "answered once");
    }
    let page = ana.get(PATH).await.body;
    assert!(page.contains("1 × Compliance gate"), "{page}");
    assert!(page.contains("the guest opted out since"), "{page}");

    let discard = [
        ("letter", &*letters[2].dead_id.to_string()),
        ("order", "discard"),
        ("reason", "the guest does not want it"),
    ]
    .map(|(name, value)| (name, value.to_owned()));
    let discard: Vec<(&str, &str)> = discard.iter().map(|(name, v)| (*name, &**v)).collect();
    assert_eq!(ana.act(PATH, &discard).await.location, stopped);
    until("it is discarded", SOON, || async {
        let done = "select count(*) from dead_letters where state = 'discarded'";
        house.number(done).await == 1
    })
    .await;
    let page = ana.get(&stopped).await.body;
    assert!(page.contains("the guest does not want it"), "{page}");
    assert!(page.contains("ana:"), "the history has the person: {page}");
    let again = ana.act(PATH, &discard).await;
    assert_eq!(again.status, StatusCode::UNPROCESSABLE_ENTITY);
    let all = ana.get(&format!("{PATH}?all=1")).await.body;
    assert!(
        all.contains("replayed") && all.contains("discarded"),
        "{all}"
    );
    let audited = "select count(*) from audit_log where action = 'dead_letter_handled' and actor like 'operator:%'";
    assert_eq!(
        house.number(audited).await,
        2 + 3,
        "two orders and three letters"
    );
    assert_eq!(
        house.texts_to(GUEST).len(),
        1,
        "only the confirmation of the STOP"
    );
    house.stop().await;
}

#[tokio::test] // D27: another casino's letters are not there
async fn a_dead_letter_of_another_casino_is_not_found() {
    let house = with_console("console_dead_apart").await;
    let staff = Staff::new(&house);
    let other = "amber_lake".parse().unwrap();
    let theirs = staff
        .add("theirs@example.com", Role::Admin, Some(&other))
        .await;
    let theirs = theirs.logged_in(&house).await;
    let letters = [letter(&house, 1, GUEST, QUESTION)];
    file(&house, &letters).await;
    let id = letters[0].dead_id.to_string();
    let order = [("letter", &*id), ("order", "discard"), ("reason", "x")];
    for path in ["/c/silver_birch/dead", "/c/amber_lake/dead"] {
        assert_eq!(
            theirs.get(&format!("{path}/{id}")).await.status,
            StatusCode::NOT_FOUND
        );
        theirs.act(path, &order).await;
    }
    let asked = "select count(*) from dead_letters where asked is not null or state <> 'open'";
    assert_eq!(house.number(asked).await, 0);
    house.stop().await;
}

#[tokio::test] // DEP-27, D27: a flag for a share of the guests, and the disclosure that must stay on
async fn an_admin_sets_flags_and_the_law_keeps_the_disclosure_on() {
    let house = with_console("console_flags").await;
    let staff = Staff::new(&house);
    let here = Some(house.casino());
    let ana = staff.add("ana@example.com", Role::Admin, here).await;
    let luis = staff.add("luis@example.com", Role::Host, here).await;
    let (ana, luis) = (ana.logged_in(&house).await, luis.logged_in(&house).await);
    let (path, page) = ("/c/silver_birch/flags", "/c/silver_birch/switches");
    let set = |flag, whom, share| {
        [
            ("flag", flag),
            ("whom", whom),
            ("share", share),
            ("reason", "we try it with few guests"),
        ]
    };
    let comps = "comp_agent_enabled";
    let some = set(comps, "share", "20");
    assert_eq!(luis.act(path, &some).await.status, StatusCode::NOT_FOUND);
    let house_law = "update casinos set config = jsonb_set(config, '{regulations,ai_disclosure_required}', 'true')";
    house.change(house_law).await;
    for (fields, says) in [
        (set(comps, "share", "120"), "from 0 to 100"),
        (set(comps, "share", ""), "from 0 to 100"),
        (set("ai_disclosure_enabled", "none", ""), "law demands"),
        (set(comps, "document", ""), "No rule is set here"),
    ] {
        let answer = ana.act(path, &fields).await;
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY, "{says}");
        assert!(answer.body.contains(says), "{}", answer.body);
    }
    assert_eq!(house.number("select count(*) from flags").await, 0);
    assert_eq!(ana.act(path, &some).await.status, StatusCode::SEE_OTHER);
    let body = luis.get(page).await.body;
    assert!(body.contains("20 % of the guests"), "{body}");
    assert!(
        body.contains("ana,") && body.contains("with few guests"),
        "{body}"
    );
    assert!(
        !body.contains("Set the rule"),
        "a host sees, and sets nothing"
    );
    let off = set(comps, "none", "");
    assert_eq!(ana.act(path, &off).await.status, StatusCode::SEE_OTHER);
    let gone = set(comps, "document", "");
    assert_eq!(ana.act(path, &gone).await.status, StatusCode::SEE_OTHER);
    assert_eq!(house.number("select count(*) from flags").await, 0);
    house.stop().await;
}
