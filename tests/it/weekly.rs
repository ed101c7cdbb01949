//! The figures of the week reach the contacts that want them, once each (D28).

use std::time::Duration;

use seven_testkit::{
    mailbox::{Fault, Mailbox},
    pagers::{Pagers, Side},
};

use crate::{
    harness::{GUEST, until},
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
    // A contact that was added since the week's end hears of the next one first.
    let night = async || {
        house.change("delete from nightly").await;
        let zone = house.config.operational.timezone;
        let today = chrono::Utc::now().with_timezone(&zone).date_naive();
        seven_scheduler::night(&house.stack.fleet, &house.config, today)
            .await
            .unwrap();
    };
    night().await;
    let planned = "select count(*) from weekly_reports";
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
    // Whatever the hour at which this test runs.
    house
        .change("update weekly_reports set next_at = now()")
        .await;
    let told = "select count(*) from weekly_reports where delivered_at is not null";
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
