use seven_testkit::pagers::{Fault, Pagers, ROUTING_KEY, Side};

use super::*;
use crate::{LOG, PAGERDUTY, WEBHOOK};

fn notice(action: Action) -> Notice {
    Notice {
        alert_id: Uuid::from_u128(7),
        action,
        name: "carrier_block".into(),
        casino: "silver_birch".into(),
        provider: "telnyx".into(),
        code: "40002".into(),
        severity: Severity::Critical,
        summary: "only 45 % of 20 texts arrived <look> & act".into(),
        repeats: 3,
        since: DateTime::UNIX_EPOCH,
    }
}

fn channels(pagers: &Pagers) -> Channels {
    drop(rustls::crypto::ring::default_provider().install_default());
    Channels::new(&Settings {
        slack_webhook_url: Some(pagers.slack_url().into()),
        pagerduty_routing_key: Some(ROUTING_KEY.into()),
        pagerduty_url: pagers.pagerduty_url().parse().unwrap(),
        deadline: Duration::from_millis(300),
    })
    .unwrap()
}

#[tokio::test] // SMS-55: the shapes that Slack and PagerDuty take; the double refuses others
async fn channels_speak_what_slack_and_pagerduty_understand() {
    let pagers = Pagers::start().await.unwrap();
    let channels = channels(&pagers);
    assert_eq!(channels.names(), [LOG, WEBHOOK, PAGERDUTY]);
    for action in [Action::Trigger, Action::Acknowledge, Action::Resolve] {
        for channel in channels.iter() {
            let told = channel.tell(&notice(action)).await;
            assert!(told.is_ok(), "{} {action:?}: {told:?}", channel.channel());
        }
    }
    let slack = pagers.taken(Side::Slack);
    assert_eq!(slack.len(), 3);
    let text = slack[0]["text"].as_str().unwrap();
    assert!(
        text.starts_with("CRITICAL carrier_block (silver_birch)")
            && text.contains("&lt;look&gt; &amp; act"),
        "{text}"
    );
    assert!(slack[2]["text"].as_str().unwrap().starts_with("RESOLVED"));
    let events = pagers.taken(Side::PagerDuty);
    let actions: Vec<&str> = events
        .iter()
        .map(|event| event["event_action"].as_str().unwrap())
        .collect();
    assert_eq!(actions, ["trigger", "acknowledge", "resolve"]);
    assert!(
        events
            .iter()
            .all(|event| event["dedup_key"] == Uuid::from_u128(7).to_string())
    );
    assert_eq!(events[0]["payload"]["severity"], "critical");
    assert_eq!(events[0]["payload"]["source"], "seven-silver_birch");
}

#[tokio::test]
async fn what_may_pass_later_is_told_apart_from_what_never_does() {
    let pagers = Pagers::start().await.unwrap();
    let channels = channels(&pagers);
    let later = Again::Later(None);
    for (fault, again) in [
        (Fault::Status(500), later),
        (Fault::Silence, later),
        (
            Fault::Throttled(7),
            Again::Later(Some(Duration::from_secs(7))),
        ),
        (Fault::Status(404), Again::Never),
        (Fault::Status(400), Again::Never),
    ] {
        for (side, channel) in [(Side::Slack, WEBHOOK), (Side::PagerDuty, PAGERDUTY)] {
            pagers.fail(side, fault, 1);
            let untold = channels
                .get(channel)
                .unwrap()
                .tell(&notice(Action::Trigger))
                .await
                .unwrap_err();
            assert_eq!(untold.again, again, "{channel} {fault:?}: {untold}");
            assert!(
                !untold.why.contains("http"),
                "an address is a secret: {untold}"
            );
        }
    }
    assert!(pagers.taken(Side::Slack).is_empty() && pagers.taken(Side::PagerDuty).is_empty());
    drop(pagers);
    let untold = channels
        .get(WEBHOOK)
        .unwrap()
        .tell(&notice(Action::Trigger))
        .await
        .unwrap_err();
    assert_eq!(untold.again, later, "{untold}");
}

#[test]
fn tries_come_further_apart_and_end() {
    let later = |asked: Option<u64>| Again::Later(asked.map(Duration::from_secs));
    for (tries, again, wait) in [
        (1, later(None), Some(5)),
        (2, later(None), Some(15)),
        (3, later(None), Some(45)),
        (1, later(Some(60)), Some(60)),
        (3, later(Some(1)), Some(45)),
        (7, later(None), Some(1_200)),
        (1, later(Some(86_400)), Some(3_600)),
        (MOST_TRIES, later(None), None),
        (1, Again::Never, None),
    ] {
        assert_eq!(
            backoff(tries, again),
            wait.map(Duration::from_secs),
            "{tries} {again:?}"
        );
    }
}
