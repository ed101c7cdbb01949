//! If the bus does not accept events in time, they are published later, many in one commit (D2).

use std::time::Duration;

use prost::Message;
use seven_bus::{events::InboundText, subject};
use seven_domain::Stage;
use seven_settings::Worker;
use seven_store::spool::Spooled;
use sqlx::raw_sql;

use crate::harness::{House, Wanted, house, until};

const EVENTS: usize = 120;
/// SQL that records which transaction removed each row from the spool.
const WATCH: &str = "
    create table removals (transaction xid8);
    create function note_removal() returns trigger language plpgsql security definer
      set search_path = public as $$
      begin insert into removals values (pg_current_xact_id()); return old; end $$;
    create trigger note_removal after delete on spool for each row execute function note_removal();";

fn event(house: &House, n: usize) -> Spooled {
    let at = house.stack.fleet.clock.now().timestamp_millis();
    let event = InboundText {
        provider: "telnyx".into(),
        provider_message_id: format!("spooled-{n}"),
        event_id: format!("spooled-event-{n}"),
        from: format!("+1475555{:04}", 100 + n % 100),
        to: house.config.operational.telnyx_phone_number.as_str().into(),
        occurred_at: at,
        received_at: at,
        channel: "sms".into(),
        text: format!("What time is check-in? {n}"),
        ..InboundText::default()
    };
    Spooled {
        spool_id: house.stack.fleet.ids.uuid(),
        subject: subject(Stage::Gate, house.casino(), None),
        message_key: event.event_id.clone(),
        headers: serde_json::json!({}),
        payload: event.encode_to_vec(),
    }
}

#[tokio::test] // D2: ten minutes of chaos, seed 499689. A commit for each event took minutes.
async fn spooled_events_are_published_together_and_one_that_fails_holds_up_no_other() {
    let workers = Worker::ALL
        .into_iter()
        .filter(|worker| *worker != Worker::Scheduler);
    let wanted = Wanted {
        workers: workers.collect(),
        ..Wanted::default()
    };
    let house = house("spool_batches", wanted).await;
    let pool = sqlx::PgPool::connect(&house.database_url).await.unwrap();
    raw_sql(WATCH).execute(&pool).await.unwrap();
    pool.close().await;
    let mut tx = house.stack.fleet.store.bind(house.casino()).await.unwrap();
    for n in 0..EVENTS {
        let mut event = event(&house, n);
        if n == EVENTS / 2 {
            event.subject = "nowhere.at.all".into();
        }
        tx.spool(&event).await.unwrap();
    }
    tx.commit().await.unwrap();
    let _scheduler = house.process("scheduler", None);
    let stored = "select count(*) from inbound_messages";
    until(
        "the events are stored",
        Duration::from_secs(60),
        async || house.number(stored).await == EVENTS as i64 - 1,
    )
    .await;
    let left = "select count(*) from spool";
    until("they are dropped", Duration::from_secs(20), async || {
        house.number(left).await == 1
    })
    .await;
    let removals = "select count(*) from removals";
    let commits = "select count(distinct transaction) from removals";
    assert_eq!(house.number(removals).await, EVENTS as i64 - 1);
    assert!(house.number(commits).await <= 3, "a commit for each event");
    house.stop().await;
}
