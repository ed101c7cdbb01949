//! A worker dies before or after a commit, a publish, a provider call or an acknowledgement (D3,
//! D5). Afterwards, every guest has one answer. If the answer's state is `unknown`, the guest has
//! at most one.

use std::time::Duration;

use seven_settings::Worker;

use crate::harness::{GUEST, House, Wanted, house};

const QUESTION: &str = "where is nonna salvia?";

/// Sends `texts` through a fleet whose `worker` dies at `failpoint` and is started again.
async fn die_at(worker: Worker, name: &str, failpoint: &str, texts: &[&str]) -> House {
    let workers = Worker::ALL.into_iter().filter(|w| *w != worker).collect();
    // If ingress dies, the carrier must retry the webhook until ingress runs again. The carrier's
    // waits between two tries are long enough only at scale 1.
    let scale = if worker == Worker::IngressWebhook {
        1.0
    } else {
        0.0
    };
    let house = house(
        &format!("crash_{}", failpoint.replace('.', "_")),
        Wanted {
            workers,
            scale,
            ..Wanted::default()
        },
    )
    .await;
    let mut doomed = house.process(name, Some(failpoint));
    if worker == Worker::IngressWebhook {
        house.ingress_up().await;
    }
    for text in texts {
        house.text(GUEST, text);
    }
    let status = tokio::time::timeout(Duration::from_secs(20), doomed.wait())
        .await
        .expect("the failpoint was never reached")
        .unwrap();
    assert!(!status.success(), "{name} should have died at {failpoint}");
    let _heir = house.process(name, None);
    house
        .settle_within(i64::try_from(texts.len()).unwrap(), Duration::from_secs(45))
        .await;
    house
}

async fn answered_once(house: House) {
    let texts = house.texts_to(GUEST);
    let unknown = house.count("outbound", "unknown").await;
    let answers = texts.iter().filter(|t| t.contains("Nonna Salvia")).count();
    assert!(
        answers == 1 || (answers == 0 && unknown == 1),
        "answers {answers}, unknown {unknown}: {texts:?}"
    );
    assert_eq!(
        texts.len(),
        texts.iter().collect::<std::collections::HashSet<_>>().len(),
        "no text twice: {texts:?}"
    );
    house.stop().await;
}

macro_rules! dies_at {
    ($($test:ident: $worker:ident, $name:literal, $failpoint:literal;)+) => {$(
        #[tokio::test] // SMS-6, SMS-9
        async fn $test() {
            answered_once(die_at(Worker::$worker, $name, $failpoint, &[QUESTION]).await).await;
        }
    )+};
}

dies_at! {
    gate_before_commit: ComplianceGate, "compliance-gate", "gate.before_commit";
    gate_after_commit: ComplianceGate, "compliance-gate", "gate.after_commit";
    gate_after_publish: ComplianceGate, "compliance-gate", "gate.after_publish";
    swarm_after_lease: AgentSwarm, "agent-swarm", "swarm.after_lease";
    swarm_before_commit: AgentSwarm, "agent-swarm", "swarm.before_commit";
    swarm_after_commit: AgentSwarm, "agent-swarm", "swarm.after_commit";
    swarm_after_publish: AgentSwarm, "agent-swarm", "swarm.after_publish";
    envelope_before_commit: PersonaEnvelope, "persona-envelope", "envelope.before_commit";
    envelope_after_commit: PersonaEnvelope, "persona-envelope", "envelope.after_commit";
    envelope_after_publish: PersonaEnvelope, "persona-envelope", "envelope.after_publish";
    sender_after_claim: OutboundSender, "outbound-sender", "sender.after_claim";
    sender_after_call: OutboundSender, "outbound-sender", "sender.after_call";
    sender_after_record: OutboundSender, "outbound-sender", "sender.after_record";
    receipts_before_commit: OutboundSender, "outbound-sender", "receipts.before_commit";
    receipts_after_commit: OutboundSender, "outbound-sender", "receipts.after_commit";
    ingress_after_publish: IngressWebhook, "ingress-webhook", "ingress.after_publish";
}

#[tokio::test] // SMS-16: a safety text in doubt goes out again once, and only once
async fn a_stop_confirmation_in_doubt_is_sent_again_once() {
    let house = die_at(
        Worker::OutboundSender,
        "outbound-sender",
        "sender.after_claim",
        &["STOP"],
    )
    .await;
    let texts = house.texts_to(GUEST);
    assert_eq!(
        texts.len(),
        1,
        "nothing had reached the carrier, so the repeat is the only one: {texts:?}"
    );
    house.stop().await;
}

#[tokio::test] // SMS-10, D7
async fn a_stop_survives_the_death_of_ingress() {
    let house = die_at(
        Worker::IngressWebhook,
        "ingress-webhook",
        "ingress.after_suppression",
        &["STOP"],
    )
    .await;
    let _ingress = house.process("ingress-webhook", None);
    house.ingress_up().await;
    house.text(GUEST, QUESTION);
    house.settle(2).await;
    let texts = house.texts_to(GUEST);
    assert!(texts.len() == 1 && texts[0].contains("START"), "{texts:?}");
    house.stop().await;
}
