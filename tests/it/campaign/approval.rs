//! Campaigns that one person plans and a second approves, on the console and with commands (issue
//! J).

use reqwest::StatusCode;
use seven_domain::Role;
use seven_settings::Worker;
use seven_staff::account::set_role;

use super::{EN, ES, done, guest, listed, morning, order, ran, reached};
use crate::{console::staff::Staff, harness::house};

const PATH: &str = "/c/silver_birch/campaigns";
const CAMPAIGNS: &str = "select count(*) from campaigns";

fn form<'a>(what: &'a str, name: &'a str, texts: (&'a str, &'a str)) -> [(&'a str, &'a str); 4] {
    let (en, es) = texts;
    [
        ("name", name),
        ("text_en", en),
        ("text_es", es),
        ("what", what),
    ]
}

#[tokio::test] // SMS-33, D27: nothing leaves before a second person approves
async fn a_marketer_plans_and_somebody_else_approves() {
    let mut house = house("campaign_console", morning()).await;
    house.stack.spawn(Worker::Console, None).await.unwrap();
    let staff = Staff::new(&house);
    let here = Some(house.casino());
    let mara = staff.add("mara@example.com", Role::Marketing, here).await;
    let ada = staff.add("ada@example.com", Role::Approver, here).await;
    let boss = staff.add("boss@example.com", Role::Manager, here).await;
    let by_mara = mara.id;
    let (mara, ada, boss) = (
        mara.logged_in(&house).await,
        ada.logged_in(&house).await,
        boss.logged_in(&house).await,
    );
    let new = format!("{PATH}/new");
    assert_eq!(boss.get(&new).await.status, StatusCode::NOT_FOUND);
    assert!(mara.get(&new).await.body.contains("Show the forecast"));
    let nobody = mara.act(&new, &form("plan", "autumn", (EN, ES))).await;
    assert!(
        nobody.body.contains("No guest has agreed"),
        "{}",
        nobody.body
    );
    // The list has two guests in Connecticut and one in Hawaii, where it is night.
    listed(&house, [0, 1, 50]).await;
    // The page shows every fault at once, each beside its field.
    let wrong = mara
        .act(&new, &form("submit", " ", ("Come {now}!", "Venga.")))
        .await;
    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY);
    for part in [
        "at most 60",
        "{now}",
        "an AI writes",
        "how to stop",
        "Venga.",
    ] {
        assert!(wrong.body.contains(part), "{part}: {}", wrong.body);
    }
    let forecast = mara.act(&new, &form("plan", "autumn", (EN, ES))).await;
    for part in [
        "2 get it at once",
        "1 get it when",
        "AI host of Silver Birch Resort",
    ] {
        assert!(forecast.body.contains(part), "{part}: {}", forecast.body);
    }
    assert_eq!(
        house.number(CAMPAIGNS).await,
        0,
        "a forecast stores nothing"
    );
    let asked = form("submit", "autumn", (EN, ES));
    assert_eq!(mara.act(&new, &asked).await.location, PATH);
    let twice = mara.act(&new, &asked).await;
    assert!(
        twice.body.contains("of this name already"),
        "{}",
        twice.body
    );
    let list = boss.get(PATH).await.body;
    assert!(
        list.contains("waits for approval") && !list.contains("Approve and"),
        "{list}"
    );
    assert!(!mara.get(PATH).await.body.contains("Approve and send"));
    let ids = house
        .texts_of("select campaign_id::text from campaigns")
        .await;
    let one = format!("{PATH}/{}", ids[0]);
    let (approve, resume) = (
        [("step", "approve"), ("reason", "the price is right")],
        [("step", "resume"), ("reason", "now")],
    );
    assert_eq!(mara.act(&one, &approve).await.status, StatusCode::NOT_FOUND);
    let early = mara.act(&one, &resume).await;
    assert_eq!(
        early.status,
        StatusCode::UNPROCESSABLE_ENTITY,
        "{}",
        early.body
    );
    // The person who planned the campaign cannot approve it, even with an approver's role.
    set_role(
        &staff.store(),
        by_mara,
        (None, Role::Approver),
        true,
        "test",
    )
    .await
    .unwrap();
    let own = mara.act(&one, &approve).await;
    assert!(
        own.body.contains("Somebody else has to approve"),
        "{}",
        own.body
    );
    assert!(reached(&house).is_empty());
    assert_eq!(ada.act(&one, &approve).await.location, PATH);
    let reached_all = "select count(*) from campaign_guests where state = 'released'";
    crate::harness::until(
        "two have it",
        std::time::Duration::from_secs(30),
        || async { house.number(reached_all).await == 2 && reached(&house).len() == 2 },
    )
    .await;
    let list = boss.get(PATH).await.body;
    assert!(
        list.contains("approved by") && list.contains("ada,"),
        "{list}"
    );
    let again = ada.act(&one, &approve).await;
    assert_eq!(again.status, StatusCode::UNPROCESSABLE_ENTITY);
    let audited = "select count(*) from audit_log where action = 'campaign_changed' and actor like 'operator:%'";
    assert_eq!(house.number(audited).await, 2);
    house.stop().await;
}

#[tokio::test] // SMS-33: the same by command
async fn a_command_plans_for_approval_and_another_persons_command_approves() {
    let house = house("campaign_approved", morning()).await;
    listed(&house, [0, 1]).await;
    let list = format!("{}\n{}\n", guest(0), guest(1));
    let file = house.file("guests.txt", &list);
    let file = &*file;
    let mut args = order(&house, "autumn", &["--guests", file, "--yes"]);
    args.push("--for-approval");
    let said = ran(&house, &args).await;
    assert!(said.contains("waits for `seven campaign approve"), "{said}");
    let listed = ["campaign", "list", "--casino", house.casino().as_str()];
    let listed = ran(&house, &listed).await;
    assert!(listed.contains("waits for approval"), "{listed}");
    let step = |step, by| {
        let casino = house.casino().as_str();
        let words = ["campaign", step, "autumn", "--casino", casino];
        [&words[..], &["--by", by, "--reason", "checked"]].concat()
    };
    for (what, by, says) in [
        ("resume", "Ana", "waits for the approval of a second person"),
        ("approve", "Robin", "planned by the same person"),
    ] {
        let said = house.seven(&step(what, by), "").await;
        assert!(said.code != 0 && said.err.contains(says), "{said:?}");
    }
    assert!(reached(&house).is_empty());
    ran(&house, &step("approve", "Ana")).await;
    done(&house).await;
    assert_eq!(reached(&house), [0, 1]);
    let casino = house.casino().as_str();
    let shown = ran(&house, &["campaign", "show", "autumn", "--casino", casino]).await;
    assert!(shown.contains("approval  by Ana"), "{shown}");
    house.stop().await;
}
