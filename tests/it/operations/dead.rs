//! Dead letters (D17) are filed once, whatever made the message fail. They are listed and replayed,
//! and none takes effect twice.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    time::Duration,
};

use seven::commands::dead;
use seven_agent_swarm::Models;
use seven_bus::{Outgoing, WorkerSettings, events::DeadLetter, subject_for_dead};
use seven_domain::{CasinoId, ConversationId, DeadId, DeadState, Stage};
use seven_llm::{Model, Request, Responding};
use seven_offline_host::OfflineModel;
use seven_settings::Worker;
use seven_store::dead::Filter;
use sqlx::PgPool;
use uuid::Uuid;

use super::{OTHER_NUMBER, OTHER_VENUE, QUESTION};
use crate::harness::{GUEST, House, Wanted, house, until};

/// Returns the only open dead letter of a casino: its id, stage, reason and attempts.
async fn only_letter(house: &House, casino: &CasinoId) -> (DeadId, Stage, String, i32) {
    until(
        "a dead letter is filed",
        Duration::from_secs(15),
        || async { house.count("dead", "open").await == 1 },
    )
    .await;
    let mut tx = house.stack.fleet.store.bind(casino).await.unwrap();
    let open = Filter {
        state: Some(DeadState::Open),
        ..Filter::default()
    };
    let mut letters = tx.dead_letters(&open, None, 10).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(letters.len(), 1, "{letters:?}");
    let letter = letters.remove(0);
    (
        letter.dead_id.into(),
        letter.stage,
        letter.reason,
        letter.attempts,
    )
}

/// Returns how often the stage handled a message with this outcome in this process.
fn handled(stage: &str, outcome: &str) -> u64 {
    let messages = &seven_telemetry::metrics().messages;
    messages
        .with_label_values(&[stage, outcome, "silver_birch"])
        .get()
}

#[tokio::test] // D17, D2: PROD-35
async fn a_text_for_an_unknown_number_is_answered_once_its_casino_was_added() {
    let house = house("dead_unknown", Wanted::default()).await;
    let fleet = &house.stack.fleet;
    house.text_to_other(GUEST, QUESTION);
    let (id, stage, reason, _) = only_letter(&house, &CasinoId::unknown()).await;
    assert_eq!(
        (stage.as_str(), reason.as_str()),
        ("ingress", "unknown_number")
    );
    let too_early = dead::replay(fleet, &CasinoId::unknown(), id)
        .await
        .unwrap_err()
        .to_string();
    assert!(too_early.contains("add the casino"), "{too_early}");
    assert_eq!(house.count("dead", "open").await, 1, "it stays open");
    let listed = house.seven(&["dead", "list", "--unknown"], "").await;
    assert!(
        listed.out.contains(&id.to_string()) && listed.out.contains("unknown_number"),
        "{listed:?}"
    );

    // `seven casino add` replays the dead letters for the casino's numbers.
    house.add_other().await;
    house.settle(1).await;
    assert!(
        house.said_from(OTHER_NUMBER, GUEST).contains(OTHER_VENUE),
        "{:?}",
        house.texts_to(GUEST)
    );
    let answer = house.texts_to(GUEST);

    let known = seven_telemetry::metrics()
        .duplicates
        .with_label_values(&["gate"])
        .get();
    dead::replay(fleet, &CasinoId::unknown(), id).await.unwrap();
    until(
        "the second replay reached the gate",
        Duration::from_secs(10),
        || async {
            seven_telemetry::metrics()
                .duplicates
                .with_label_values(&["gate"])
                .get()
                > known
        },
    )
    .await;
    house.settle(1).await;
    assert_eq!(
        house.texts_to(GUEST),
        answer,
        "a second replay says nothing new"
    );
    assert_eq!(house.number("select count(*) from turns").await, 1);
    assert_eq!(
        house.number("select replays::int8 from dead_letters").await,
        2
    );
    house.stop().await;
}

/// A model that panics at its first call, then fails until `healed` is set.
struct Moody {
    healed: AtomicBool,
    calls: AtomicU32,
    well: Arc<dyn Model>,
}

impl Model for Moody {
    fn name(&self) -> &str {
        "moody"
    }

    fn respond<'a>(&'a self, request: &'a Request) -> Responding<'a> {
        let call = self.calls.fetch_add(1, Ordering::SeqCst);
        if self.healed.load(Ordering::SeqCst) {
            return self.well.respond(request);
        }
        assert!(call > 0, "a panic is a failed try like any other");
        Box::pin(async {
            Err(seven_llm::Error::Unavailable {
                model: "moody".into(),
                source: None,
            })
        })
    }
}

#[tokio::test] // AGENT-77, DEP-9
async fn a_turn_that_fails_for_good_gives_the_fallback_once_and_a_dead_letter() {
    let workers = Worker::ALL
        .into_iter()
        .filter(|w| *w != Worker::AgentSwarm)
        .collect();
    let house = house(
        "dead_turn",
        Wanted {
            workers,
            ..Wanted::default()
        },
    )
    .await;
    let fleet = house.stack.fleet.clone();
    let model = Arc::new(Moody {
        healed: AtomicBool::new(false),
        calls: AtomicU32::new(0),
        well: Arc::new(OfflineModel::from_toml(&seven_packs::CASINO.host).unwrap()),
    });
    let settings = seven_agent_swarm::Settings {
        embedding: seven_agent_swarm::Embedding::default(),
        models: Models::same(&fleet.packs, &(Arc::clone(&model) as Arc<dyn Model>)),
        hosted: None,
        web_limits: seven_agent_swarm::WebLimits::default(),
        model_deadline: Duration::from_secs(5),
        index_bytes: 1 << 24,
    };
    let swarm = tokio::spawn(seven_agent_swarm::run(
        fleet.clone(),
        settings,
        WorkerSettings::default(),
    ));

    house.text(GUEST, QUESTION);
    let (id, stage, reason, attempts) = only_letter(&house, house.casino()).await;
    assert_eq!(
        (stage, reason.as_str(), attempts),
        (Stage::Swarm, "turn_failed", 5)
    );
    assert_eq!(
        model.calls.load(Ordering::SeqCst),
        5,
        "as many calls as tries"
    );
    house.settle(1).await;
    let fallback = house.texts_to(GUEST);
    assert!(
        fallback.len() == 1 && fallback[0].contains("1-860-555-0199"),
        "the casino's phone, once: {fallback:?}"
    );
    assert_eq!(house.count("inbound", "parked").await, 1);

    model.healed.store(true, Ordering::SeqCst);
    dead::replay(&fleet, house.casino(), id).await.unwrap();
    until(
        "the replayed turn answers",
        Duration::from_secs(10),
        || async { house.said_to(GUEST).contains("Nonna Salvia") },
    )
    .await;
    house.settle(1).await;
    let texts = house.texts_to(GUEST);
    let done = handled("swarm", "done");
    dead::replay(&fleet, house.casino(), id).await.unwrap();
    until(
        "the second replay reached the swarm",
        Duration::from_secs(10),
        || async { handled("swarm", "done") > done },
    )
    .await;
    house.settle(1).await;
    assert_eq!(
        house.texts_to(GUEST),
        texts,
        "replayed twice, answered once"
    );
    assert_eq!(house.number("select count(*) from turns").await, 1);

    // If a person has answered the guest meanwhile, a replay of the dead letter is refused.
    // Otherwise the host would answer, too.
    model.healed.store(false, Ordering::SeqCst);
    let other = "+18605550143";
    house.text(other, QUESTION);
    let (id, ..) = only_letter(&house, house.casino()).await;
    let words = "It is next to the north lift. Ana";
    write_as_a_person(&house, other, words).await;
    until(
        "the person's text left",
        Duration::from_secs(10),
        || async { house.said_to(other).contains(words) },
    )
    .await;
    model.healed.store(true, Ordering::SeqCst);
    let refused = dead::replay(&fleet, house.casino(), id).await.unwrap_err();
    assert!(
        refused.to_string().contains("a person has written"),
        "{refused}"
    );
    fleet.shutdown.cancel();
    swarm.await.unwrap();
    house.stop().await;
}

/// Takes the guest's only conversation over, writes to it and hands it back to the host.
async fn write_as_a_person(house: &House, guest: &str, text: &str) {
    let query = format!(
        "select conversation_id::text from conversations join guests using (casino_id, guest_id)
         where phone = '{guest}'"
    );
    let conversation: Uuid = house.texts_of(&query).await[0].parse().unwrap();
    let (fleet, casino) = (&house.stack.fleet, house.casino());
    let conversation = ConversationId(conversation);
    let mut tx = fleet.store.bind(casino).await.unwrap();
    let taken = seven_staff::take_over(&mut tx, conversation, "ana", "a test").await;
    taken.unwrap();
    tx.commit().await.unwrap();
    let write = seven_staff::Write {
        casino,
        conversation,
        by: "ana",
        text,
        read: None,
    };
    seven_staff::say(fleet, &write).await.unwrap();
    let mut tx = fleet.store.bind(casino).await.unwrap();
    let gone_on = seven_staff::go_on(&mut tx, conversation, "ana").await;
    gone_on.unwrap();
    tx.commit().await.unwrap();
}

#[tokio::test] // D17: a message that kills its worker every time; AGENT-77, AGENT-26
async fn a_text_that_kills_its_worker_every_time_becomes_a_dead_letter_and_blocks_nobody() {
    let workers = Worker::ALL
        .into_iter()
        .filter(|w| *w != Worker::ComplianceGate)
        .collect();
    let house = house(
        "dead_deadly",
        Wanted {
            workers,
            extra: "nats.max_deliver = 3".to_owned(),
            ..Wanted::default()
        },
    )
    .await;
    house.text(GUEST, QUESTION);
    for delivery in 1..=3 {
        let mut doomed = house.process("compliance-gate", Some("gate.before_commit"));
        let status = tokio::time::timeout(Duration::from_secs(15), doomed.wait())
            .await
            .unwrap_or_else(|_| panic!("delivery {delivery} never came"))
            .unwrap();
        assert!(!status.success());
    }
    // A healthy worker takes over. It answers another guest's text, which waits behind the text
    // that kills workers.
    let other = "+18605550143";
    house.text(other, QUESTION);
    let _heir = house.process("compliance-gate", None);
    until(
        "the text behind it is answered",
        Duration::from_secs(15),
        || async { house.said_to(other).contains("Nonna Salvia") },
    )
    .await;
    let (id, stage, reason, attempts) = only_letter(&house, house.casino()).await;
    assert_eq!(
        (stage.as_str(), reason.as_str(), attempts),
        ("gate", "max_deliver", 3)
    );
    assert!(house.texts_to(GUEST).is_empty(), "it was never handled");

    for _ in 0..2 {
        dead::replay(&house.stack.fleet, house.casino(), id)
            .await
            .unwrap();
        until(
            "the replay is answered",
            Duration::from_secs(10),
            || async { house.said_to(GUEST).contains("Nonna Salvia") },
        )
        .await;
    }
    house.settle(2).await;
    assert_eq!(
        house.number("select count(*) from turns").await,
        2,
        "one for each guest"
    );
    assert_eq!(house.number("select count(*) from dead_letters").await, 1);
    house.stop().await;
}

#[tokio::test] // D16, D17: waiting for Postgres must not use up a dead letter's deliveries
async fn a_dead_letter_that_cannot_be_filed_is_filed_later() {
    let house = house(
        "dead_filing",
        Wanted {
            extra: "nats.max_deliver = 1".to_owned(),
            ..Wanted::default()
        },
    )
    .await;
    let owner = PgPool::connect(&house.database_url).await.unwrap();
    sqlx::raw_sql(
        "create sequence tries; grant usage on sequence tries to seven_app;
         create function away() returns trigger language plpgsql as $$ begin perform nextval('tries'); raise exception 'away'; end $$;
         create trigger away before insert on dead_letters for each row execute function away()",
    )
    .execute(&owner)
    .await
    .unwrap();
    house.text_to_other(GUEST, QUESTION);
    until("filing failed", Duration::from_secs(10), || async {
        house
            .number("select case when is_called then last_value else 0 end from tries")
            .await
            > 0
    })
    .await;
    sqlx::raw_sql("drop trigger away on dead_letters")
        .execute(&owner)
        .await
        .unwrap();
    let (_, stage, ..) = only_letter(&house, &CasinoId::unknown()).await;
    assert_eq!(stage, Stage::Ingress);
    house.stop().await;
}

#[tokio::test] // D17
async fn a_dead_letter_that_cannot_be_read_holds_up_no_other() {
    let house = house("dead_unreadable", Wanted::default()).await;
    let bus = &house.stack.fleet.bus;
    let subject = || subject_for_dead(Stage::Gate, house.casino());
    let junk = Outgoing {
        subject: subject(),
        key: "junk",
        copy: None,
        trace: "",
        payload: vec![0xff_u8; 40].into(),
    };
    bus.publish(&junk, Duration::from_secs(5)).await.unwrap();
    for (stage, casino) in [("nonsense", "silver_birch"), ("gate", "No Casino")] {
        let letter = DeadLetter {
            stage: stage.into(),
            casino: casino.into(),
            message_key: stage.into(),
            ..DeadLetter::default()
        };
        bus.dead_letter(Stage::Gate, house.casino(), &letter, "")
            .await
            .unwrap();
    }
    house.text_to_other(GUEST, QUESTION);
    let (_, stage, reason, _) = only_letter(&house, &CasinoId::unknown()).await;
    assert_eq!(
        (stage.as_str(), reason.as_str()),
        ("ingress", "unknown_number")
    );
    house.stop().await;
}
