//! A worker dies between a model's answer and the turn's commit. Its successor does not ask a model
//! again for an answer that was stored (D4).

use std::time::Duration;

use seven_settings::Worker;
use seven_testkit::models::{Models, Play};

use super::{ANSWER, QUESTION, answer, brain, calls, content_with_all, counts, last, wanted};
use crate::harness::{GUEST, House, house};

/// Lets the swarm die when it has stored `kept` answers of models, and starts it again.
pub(super) async fn die_after(models: &Models, kept: u32, unique: &str, text: &str) -> House {
    let workers = Worker::ALL
        .into_iter()
        .filter(|worker| *worker != Worker::AgentSwarm)
        .collect();
    let mut wanted = wanted(models);
    wanted.workers = workers;
    // No call may time out on a busy machine, because the swarm would make the call again.
    let patient =
        "[model]\nroute_seconds = 60\nplan_seconds = 60\nspeak_seconds = 60\njudge_seconds = 60\n";
    wanted.extra = wanted.extra.replacen("[model]\n", patient, 1);
    let house = house(unique, wanted).await;
    let mut doomed = house.process("agent-swarm", Some(&format!("swarm.after_model:{kept}")));
    house.text(GUEST, text);
    let died = tokio::time::timeout(Duration::from_secs(20), doomed.wait()).await;
    assert!(
        !died
            .expect("the failpoint was never reached")
            .unwrap()
            .success()
    );
    let _heir = house.process("agent-swarm", None);
    house.settle_within(1, Duration::from_secs(45)).await;
    house
}

#[tokio::test]
async fn no_answer_that_was_kept_is_asked_for_again() {
    for kept in 1..=4 {
        let models = brain("host").await;
        content_with_all(&models);
        models.then(Play::text(ANSWER));
        let house = die_after(&models, kept, &format!("hosted_dies_{kept}"), QUESTION).await;
        assert!(answer(&house).contains(ANSWER));
        assert_eq!(
            calls(&models),
            counts([("route", 1), ("plan", 1), ("speak", 1), ("judge", 1)]),
            "died after {kept}"
        );
        assert_eq!(
            house.number("select count(*) from model_results").await,
            0,
            "gone with the commit"
        );
        let steps = last(&house).await.1.steps;
        assert_eq!(
            steps.iter().map(|step| u32::from(step.kept)).sum::<u32>(),
            kept,
            "{steps:?}"
        );
        assert!(
            steps.iter().all(|step| step.usage.is_some()),
            "billed, whoever asked: {steps:?}"
        );
        house.stop().await;
    }
}
