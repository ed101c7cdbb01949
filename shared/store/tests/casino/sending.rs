//! Tests the life of a text on a real Postgres (D5): random sends, crashes, timeouts and receipts,
//! in any order.

use std::time::Duration;

use proptest::{
    prelude::*,
    test_runner::{Config, TestRunner},
};
use seven_domain::{MessageClass, Queue, Stage, sending::TRANSITIONS};

use crate::life::{Life, Report, Step, house};

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let status = || {
        prop::sample::select(vec![
            "queued",
            "sent",
            "delivered",
            "sending_failed",
            "delivery_failed",
            "delivery_unconfirmed",
            "next_years_word",
        ])
    };
    let said = prop::sample::select(vec![Report::Truth, Report::Nothing, Report::Never]);
    let step = prop_oneof![
        4 => any::<bool>().prop_map(|arrives| Step::Claim { arrives }),
        4 => (0..4_usize, said).prop_map(|(attempt, said)| Step::Answer { attempt, said }),
        3 => (0..4_usize).prop_map(|attempt| Step::DoubtIsOver { attempt }),
        3 => (0..4_usize, status()).prop_map(|(attempt, status)| Step::Receipt { attempt, status }),
        1 => status().prop_map(|status| Step::StrangeReceipt { status }),
        1 => Just(Step::Silence),
    ];
    prop::collection::vec(step, 1..24)
}

#[test] // D5, SMS-43
fn whatever_happens_a_text_moves_by_the_table_and_arrives_once() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let house = runtime.block_on(house());
    let classes = prop::sample::select(vec![MessageClass::Reply, MessageClass::Help]);
    let mut runner = TestRunner::new(Config {
        cases: 128,
        max_shrink_iters: 200,
        ..Config::default()
    });
    let lives = runner.run(&(classes, steps()), |(class, steps)| {
        runtime.block_on(async {
            let mut life = Life::begin(&house, class).await;
            for step in &steps {
                life.play(step).await;
            }
            life.ends().await;
        });
        Ok(())
    });
    if let Err(failure) = lives {
        panic!("{failure}");
    }
}

#[test] // D16
fn a_queue_that_is_made_again_begins_at_its_own_oldest_text() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let house = house().await;
        let oldest = async |queue| {
            let casino = &house.config.casino_id;
            house
                .store
                .oldest_open(casino, Stage::Sender, Some(queue))
                .await
                .unwrap()
                .unwrap()
        };
        let before = oldest(Queue::Reply).await;
        Life::begin(&house, MessageClass::Reply).await;
        let queued = oldest(Queue::Reply).await;
        let nothing = oldest(Queue::Safety).await;
        assert!(
            before < queued && queued < nothing,
            "{before} {queued} {nothing}: where nothing waits it is now"
        );
        assert_eq!(oldest(Queue::Reply).await, queued);
    });
}

#[test] // D16
fn a_sweep_takes_the_answers_to_cries_first() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let house = house().await;
        for class in [
            MessageClass::Reply,
            MessageClass::Help,
            MessageClass::Crisis,
        ] {
            Life::begin(&house, class).await;
        }
        let pool = sqlx::PgPool::connect(&house.url).await.unwrap();
        // The answer to the crisis is due last.
        let due = "update outbound_messages set next_sweep_at = now() - interval '1 hour'
          + (interval '1 minute' * array_position(array['reply', 'help', 'crisis'], class))";
        sqlx::raw_sql("set row_security = off")
            .execute(&pool)
            .await
            .unwrap();
        assert_eq!(
            sqlx::query(due)
                .execute(&pool)
                .await
                .unwrap()
                .rows_affected(),
            3
        );
        let mut queues = Vec::new();
        for _ in 0..4 {
            let longest = Duration::from_secs(600);
            let swept = house.store.sweep(Stage::Sender, longest, 1).await.unwrap();
            queues.extend(swept.into_iter().map(|swept| swept.queue.unwrap()));
        }
        assert_eq!(queues, [Queue::Urgent, Queue::Reply, Queue::Safety]);
        pool.close().await;
    });
}

#[test] // D5
fn the_database_holds_the_same_table_and_refuses_other_moves() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let house = house().await;
        let life = Life::begin(&house, MessageClass::Reply).await;
        let pool = sqlx::postgres::PgPoolOptions::new()
            .max_connections(1)
            .connect(&house.url)
            .await
            .unwrap();
        sqlx::query("set app.casino = 'silver_birch'")
            .execute(&pool)
            .await
            .unwrap();
        let query = "select from_state, to_state, why from outbound_transitions order by from_state, to_state";
        let rows: Vec<(String, String, String)> =
            sqlx::query_as(query).fetch_all(&pool).await.unwrap();
        let mut table: Vec<_> = TRANSITIONS
            .iter()
            .map(|(a, b, why)| (a.to_string(), b.to_string(), (*why).to_owned()))
            .collect();
        table.sort();
        assert_eq!(rows, table);
        for (state, passes) in [
            ("unknown", false),
            ("expired", true),
            ("queued", false),
            ("delivered", false),
        ] {
            let change = "update outbound_messages set state = $2 where outbound_id = $1";
            let forced = sqlx::query(change)
                .bind(life.outbound.0)
                .bind(state)
                .execute(&pool)
                .await;
            assert_eq!(
                forced.is_ok(),
                passes,
                "queued, then expired, to {state}: the owner itself may not"
            );
        }
        pool.close().await;
    });
}
