//! Every process keeps a casino's document until the document's row changes
//! (`store/src/documents.rs`). After an operator's command has changed the document, running
//! workers use the new document for the next text.

use std::time::Duration;

use serde_json::Value;
use seven_carrier_sim::Outbound;
use seven_settings::Worker;
use tokio::process::Child;

use crate::{
    harness::{House, Wanted, house, until},
    operations::OTHER,
};

const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);
const AT_TWILIO: &str = "+18605550120";
const STAGES: [Worker; 4] = [
    Worker::ComplianceGate,
    Worker::AgentSwarm,
    Worker::PersonaEnvelope,
    Worker::OutboundSender,
];

/// Values that the stages take from a casino's document:
/// - `casino`: the casino's name, which the gate writes into fixed texts.
/// - `host`: the host's name, which the envelope writes into the disclosure.
/// - `phone`: the casino's phone, which the swarm writes into answers.
/// - `provider`: the provider that the sender calls.
struct Version {
    casino: &'static str,
    host: &'static str,
    phone: &'static str,
    provider: &'static str,
}

const FIRST: Version = Version {
    casino: "Silver Birch Resort",
    host: "Marlowe",
    phone: "1-860-555-0199",
    provider: "telnyx",
};
const SECOND: Version = Version {
    casino: "Copper Lake Lodge",
    host: "Juniper",
    phone: "1-860-555-0133",
    provider: "twilio",
};

impl Version {
    fn document(&self) -> String {
        let mut document: Value = serde_json::from_str(seven_packs::demo::CASINO).unwrap();
        document["prompts"]["casino_name_display"] = self.casino.into();
        document["branding"]["persona_name"] = self.host.into();
        document["operational"]["contact_phone"] = self.phone.into();
        document["operational"]["twilio_phone_number"] = AT_TWILIO.into();
        document["operational"]["providers"] = serde_json::json!([self.provider]);
        document.to_string()
    }

    /// Asserts that the texts contain all values of this version and none of the version `other`.
    fn said(&self, other: &Self, sent: &[Outbound]) {
        let all = sent
            .iter()
            .filter_map(|text| text.text.as_deref())
            .collect::<Vec<_>>()
            .join(" | ");
        for word in [self.casino, self.host, self.phone] {
            assert!(all.contains(word), "{word}: {all}");
        }
        for word in [other.casino, other.host, other.phone] {
            assert!(!all.contains(word), "{word}: {all}");
        }
        assert!(
            sent.iter().all(|text| text.provider == self.provider),
            "{sent:?}"
        );
    }
}

/// Lets a new guest ask whether the host is human, and then ask for help. Returns the disclosure,
/// the host's answer and the gate's fixed text.
async fn greeted(house: &House, guest: &str) -> Vec<Outbound> {
    house.text(guest, "are you a human?");
    until("the host answers", ANSWER_TIMEOUT, || async {
        !house.sent_to(guest).is_empty()
    })
    .await;
    let texts = house.number("select count(*) from inbound_messages").await;
    house.text(guest, "HELP");
    house.settle_within(texts + 1, ANSWER_TIMEOUT).await;
    house.sent_to(guest)
}

async fn replace(house: &House, with: &Version) {
    let file = house.file("changed.json", &with.document());
    let said = house
        .seven(&["casino", "add", &file, "--by", "test", "--yes"], "")
        .await;
    assert!(
        said.code == 0 && said.out.contains("Replaced the document"),
        "{said:?}"
    );
}

#[tokio::test] // DEP-22
async fn workers_that_run_use_the_document_of_now() {
    let casino = Some((FIRST.document(), seven_packs::demo::CONTENT.to_owned()));
    let (workers, extra) = (
        vec![Worker::IngressWebhook, Worker::Scheduler],
        "postgres.connections = 4\n".to_owned(),
    );
    let house = house(
        "documents",
        Wanted {
            workers,
            casino,
            extra,
            ..Wanted::default()
        },
    )
    .await;
    let mut running = STAGES.map(|worker| house.process(worker.name(), None));
    FIRST.said(&SECOND, &greeted(&house, "+18605550110").await);

    // The first text after the command is answered by the new document. The test does nothing else
    // to inform the workers.
    replace(&house, &SECOND).await;
    SECOND.said(&FIRST, &greeted(&house, "+18605550111").await);
    // Going back to an earlier document is a change like any other.
    replace(&house, &FIRST).await;
    FIRST.said(&SECOND, &greeted(&house, "+18605550112").await);

    // Neither a refused file nor a change of another casino changes this casino's document.
    let refused = house.file(
        "refused.json",
        &FIRST.document().replace("+1860555", "1860555"),
    );
    assert_ne!(
        house
            .seven(&["casino", "add", &refused, "--by", "test", "--yes"], "")
            .await
            .code,
        0
    );
    house.add_other().await;
    let said = house
        .seven(
            &[
                "casino",
                "suspend",
                OTHER,
                "--by",
                "O. Perator",
                "--reason",
                "test",
            ],
            "",
        )
        .await;
    assert_eq!(said.code, 0, "{said:?}");
    FIRST.said(&SECOND, &greeted(&house, "+18605550113").await);
    assert!(
        running.iter_mut().all(alive),
        "a worker was not the one that began"
    );
    house.stop().await;
}

fn alive(worker: &mut Child) -> bool {
    worker.try_wait().unwrap().is_none()
}
