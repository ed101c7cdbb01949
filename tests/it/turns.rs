//! The record of a turn: which agent spoke, from which rows, and what the checks found (AGENT-7,
//! AGENT-9, AGENT-12, AGENT-75, DATA-23, DATA-36).

use std::time::Duration;

use seven_bus::{Delivery, Handler, Outcome, events::DraftReady};
use seven_domain::TraceContext;
use seven_host::Record;
use seven_persona_envelope::Envelope;
use seven_settings::Worker;
use uuid::Uuid;

use crate::harness::{GUEST, House, Wanted, house, until};

async fn last(house: &House) -> (String, Record) {
    let mut tx = house.stack.fleet.store.bind(house.casino()).await.unwrap();
    let newest = tx.newest_turns(1).await.unwrap();
    let told = tx.shown_turn(newest[0].turn_id).await.unwrap().unwrap();
    tx.commit().await.unwrap();
    assert_eq!(told.texts.as_array().unwrap().len(), 1);
    assert!(["sent", "delivered"].contains(&told.sent[0]["state"].as_str().unwrap()));
    (told.agent, serde_json::from_value(told.record).unwrap())
}

#[tokio::test]
async fn each_domain_has_its_agent_and_every_reply_its_reasons() {
    let house = house("turns_agents", Wanted::default()).await;
    for (sent, (text, agent, path)) in (1..).zip([
        (
            "What time does the Lakeside Pool open?",
            "host",
            "router planner host validator reply",
        ),
        (
            "Which restaurants do you have?",
            "dining",
            "router planner dining validator reply",
        ),
        (
            "Tell me about the massage",
            "entertainment",
            "router planner entertainment validator reply",
        ),
        (
            "Any promotions right now?",
            "comp",
            "router planner comp validator reply",
        ),
        ("hello", "host", "router greeting"),
    ]) {
        house.text(GUEST, text);
        house.settle(sent).await;
        let (spoke, record) = last(&house).await;
        assert_eq!(
            (spoke.as_str(), record.path.join(" ").as_str()),
            (agent, path),
            "{text}"
        );
        assert_eq!(record.findings, vec![], "{text}");
        assert!(!record.degraded && record.steps.len() == 1);
        assert_eq!(
            record.context.is_empty(),
            path.ends_with("greeting"),
            "{text}"
        );
    }
    house.stop().await;
}

/// Makes Postgres run the statement `how` in the first two transactions that do `done`, such as
/// `insert on turns`, to a row that meets the condition `when`. The statement runs at the commit.
/// The sequence `asked` counts all such commits, because a rollback does not reset a sequence.
async fn disturb_two(house: &House, done: &str, when: &str, how: &str) {
    let owner = sqlx::PgPool::connect(&house.database_url).await.unwrap();
    let statements = format!(
        "create sequence asked;
        create function disturb() returns trigger language plpgsql security definer as $$ begin
            if nextval('asked') <= 2 then {how}; end if; return null; end $$;
        create constraint trigger disturb after {done} deferrable initially deferred for each row when ({when}) execute function disturb()"
    );
    sqlx::raw_sql(sqlx::AssertSqlSafe(statements))
        .execute(&owner)
        .await
        .unwrap();
}

const REFUSE: &str = "raise exception 'not this time'";

#[tokio::test] // D4: else the guest waits for the lease to lapse, fifteen seconds
async fn a_turn_that_fails_gives_its_lease_back() {
    let extra = "time.pauses = 0.0".to_owned();
    let house = house(
        "turns_lease_back",
        Wanted {
            scale: 1.0,
            extra,
            ..Wanted::default()
        },
    )
    .await;
    disturb_two(&house, "insert on turns", "true", REFUSE).await;
    house.text(GUEST, "What time does the Lakeside Pool open?");
    house.settle_within(1, Duration::from_secs(14)).await;
    assert_eq!(
        house.texts_to(GUEST).len(),
        1,
        "{:?}",
        house.texts_to(GUEST)
    );
    assert_eq!(
        house.number("select last_value from asked").await,
        3,
        "two refused, one that stood"
    );
    house.stop().await;
}

#[tokio::test] // D4
async fn a_turn_that_outlasts_its_deadline_gives_its_lease_back() {
    let extra =
        "time.pauses = 0.0\nworker.model_deadline_seconds = 1\nworker.handler_deadline_seconds = 2\n".to_owned();
    let house = house(
        "turns_deadline",
        Wanted {
            scale: 1.0,
            extra,
            ..Wanted::default()
        },
    )
    .await;
    disturb_two(
        &house,
        "insert on turns",
        "true",
        &format!("perform pg_sleep(3); {REFUSE}"),
    )
    .await;
    house.text(GUEST, "What time does the Lakeside Pool open?");
    // Allows for two tries of 2 s each and the waits between them. Each lease that is not given
    // back would add 15 s.
    house.settle_within(1, Duration::from_secs(25)).await;
    assert_eq!(
        house.texts_to(GUEST).len(),
        1,
        "{:?}",
        house.texts_to(GUEST)
    );
    assert_eq!(
        house.number("select last_value from asked").await,
        3,
        "two taken back, one that stood"
    );
    house.stop().await;
}

// AGENT-7, D4: a turn may read before its lease is committed, but writes nothing until then
#[tokio::test]
async fn a_lease_that_postgres_refuses_at_its_commit_is_taken_again_and_the_guest_answered_once() {
    let house = house("turns_lease_refused", Wanted::default()).await;
    let leased = "new.turn_epoch > old.turn_epoch and new.leased_until is not null";
    disturb_two(&house, "update on conversations", leased, REFUSE).await;
    house.text(GUEST, "What time does the Lakeside Pool open?");
    house.settle(1).await;
    assert_eq!(
        house.texts_to(GUEST).len(),
        1,
        "{:?}",
        house.texts_to(GUEST)
    );
    assert_eq!(
        house.number("select last_value from asked").await,
        3,
        "two refused, one that stood"
    );
    assert_eq!(house.number("select count(*) from turns").await, 1);
    house.stop().await;
}

#[tokio::test] // SMS-6: signals of two turns may meet in any order
async fn a_draft_waits_until_the_turn_before_it_is_shaped() {
    let workers = Worker::ALL
        .into_iter()
        .filter(|worker| *worker != Worker::PersonaEnvelope)
        .collect();
    let house = house(
        "turns_behind",
        Wanted {
            workers,
            ..Wanted::default()
        },
    )
    .await;
    for (drafts, text) in (1..).zip([
        "Which restaurants do you have?",
        "Tell me about the massage",
    ]) {
        house.text(GUEST, text);
        until("a turn is drafted", Duration::from_secs(10), || async {
            house
                .number("select count(*) from turns where state = 'drafted'")
                .await
                == drafts
        })
        .await;
    }
    let mut tx = house.stack.fleet.store.bind(house.casino()).await.unwrap();
    let [second, first] = tx.newest_turns(2).await.unwrap().try_into().unwrap();
    tx.commit().await.unwrap();

    let envelope = Envelope {
        fleet: house.stack.fleet.clone(),
    };
    let shape = async |turn: Uuid| {
        let (casino, event) = (
            house.casino().clone(),
            DraftReady {
                turn_id: seven_bus::id_bytes(turn),
            },
        );
        let trace = TraceContext::start();
        envelope
            .handle(Delivery {
                casino,
                event,
                trace,
                key: String::new(),
                stream_seq: 0,
                deliveries: 1,
                tries: 1,
            })
            .await
    };
    assert!(matches!(
        shape(second.turn_id).await,
        Outcome::Wait {
            why: "earlier_turn",
            ..
        }
    ));
    assert_eq!(
        house.number("select count(*) from outbound_messages").await,
        0,
        "nothing of it stays"
    );
    assert_eq!(shape(first.turn_id).await, Outcome::Done);
    assert_eq!(shape(second.turn_id).await, Outcome::Done);
    house.settle(2).await;
    let said = house.said_to(GUEST).to_lowercase();
    assert!(
        said.find("nonna salvia").unwrap() < said.find("massage").unwrap(),
        "{said}"
    );
    house.stop().await;
}
