//! Tests that a receipt and a turn read few rows, even if the casino and the guest have exchanged
//! many texts before.

use std::time::Duration;

use seven_domain::{Clock, MessageClass};
use seven_store::sessions::Shown;

use crate::life::{Life, Step, house};

#[test] // DATA-27: a casino's receipts cost the same however many texts it has sent
fn a_receipt_reads_its_own_attempt_and_no_others() {
    const OTHERS: i64 = 3_000;
    const RECEIPTS: i64 = 40;
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let house = house().await;
        let mut life = Life::begin(&house, MessageClass::Reply).await;
        life.play(&Step::Claim { arrives: true }).await;
        let pool = sqlx::postgres::PgPoolOptions::new()
            .max_connections(1)
            .connect(&house.url)
            .await
            .unwrap();
        let others = "insert into send_attempts select (jsonb_populate_record(made,
             jsonb_build_object('attempt_id', gen_random_uuid(), 'provider_message_id', n::text))).*
           from send_attempts made, generate_series(1, 3000) n";
        for step in [others, "vacuum analyze send_attempts"] {
            sqlx::query(step).execute(&pool).await.unwrap();
        }
        let counted = async || -> (i64, i64) {
            let query = "select coalesce(seq_scan, 0) + coalesce(idx_scan, 0), coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)
               from pg_stat_user_tables where relname = 'send_attempts'";
            sqlx::query_as(query).fetch_one(&pool).await.unwrap()
        };
        let before = counted().await;
        for n in 0..RECEIPTS {
            let named = (n % 2 == 0).then_some(life.attempts[0].id);
            let casino = &house.config.casino_id;
            let mut tx = house.store.bind(casino).await.unwrap();
            tx.record_receipt(&life.receipt(named, "sent")).await.unwrap();
            tx.commit().await.unwrap();
        }
        // Postgres updates these statistics some seconds after the rows were read.
        let mut after = counted().await;
        while after.0 < before.0 + RECEIPTS {
            tokio::time::sleep(Duration::from_millis(200)).await;
            after = counted().await;
        }
        let rows = after.1 - before.1;
        assert!(rows < OTHERS, "{rows} rows read for {RECEIPTS} receipts");
    });
}

/// SQL that adds a thousand exchanges to the only conversation: one per minute, the last one just
/// now.
const LONG_CONVERSATION: [&str; 3] = [
    "insert into turns (casino_id, turn_id, conversation_id, guest_id, epoch, agent, model, intent, language, verdict, draft, disclosure,
       sources, grounded, class, newest_text_at, next_sweep_at, trace, state, created_at)
     select casino_id, gen_random_uuid(), conversation_id, guest_id, n, 'host', 'm', 'i', 'en', 'pass', 'answer ' || n, false,
       '[]', true, 'reply', now(), now(), '', 'shaped', now() - (1000 - n) * interval '1 minute'
     from outbound_messages, generate_series(1, 1000) n",
    "insert into inbound_messages (casino_id, inbound_id, conversation_id, guest_id, provider, provider_message_id, event_id, body, arrival,
       occurred_at, received_at, verdict, next_sweep_at, trace, disposition, disposition_ref)
     overriding system value
     select casino_id, gen_random_uuid(), conversation_id, guest_id, 'telnyx', turn_id, turn_id, 'question ' || epoch, epoch,
       created_at, created_at, 'pass', now(), '', 'answered', turn_id
     from turns",
    "insert into outbound_messages select (jsonb_populate_record(made, jsonb_build_object('outbound_id', gen_random_uuid(), 'seq', 100 + n,
       'state', 'sent', 'sent_at', now() - (1000 - n) * interval '1 minute'))).*
     from outbound_messages made, generate_series(1, 1000) n",
];

#[test] // DEP-6: a guest's thousandth text costs what the tenth did
fn a_turn_reads_the_newest_exchanges_and_not_the_whole_conversation() {
    const TURNS: i64 = 20;
    const ROWS_OF_A_TURN: i64 = 400;
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let house = house().await;
        let life = Life::begin(&house, MessageClass::Reply).await;
        let pool = sqlx::PgPool::connect(&house.url).await.unwrap();
        for step in LONG_CONVERSATION.into_iter().chain(["vacuum analyze"]) {
            sqlx::query(step).execute(&pool).await.unwrap();
        }
        let counted = async || -> (i64, i64) {
            let query = "select sum(coalesce(seq_scan, 0) + coalesce(idx_scan, 0))::bigint,
                sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::bigint
              from pg_stat_user_tables where relname in ('inbound_messages', 'outbound_messages', 'turns')";
            sqlx::query_as(query).fetch_one(&pool).await.unwrap()
        };
        let now = Clock::default().now();
        let before = counted().await;
        for _ in 0..TURNS {
            let mut tx = house.store.bind(&house.config.casino_id).await.unwrap();
            let shown = Shown {
                useful: Duration::from_secs(1_800),
                most: 10,
                canned: &["thanks"],
            };
            let state = tx.place(life.conversation, shown).await.unwrap();
            assert_eq!(state.exchanges.len(), 10);
            let newest = ("question 1000".to_owned(), "answer 1000".to_owned());
            assert_eq!(state.exchanges.last(), Some(&newest));
            let (other, since) = (house.ids.next(), now - chrono::TimeDelta::minutes(10));
            let earlier = tx.earlier_texts(life.conversation, other, since).await.unwrap();
            assert_eq!(earlier.len(), 4);
            let ours = tx.seconds_since_ours(life.conversation, now).await.unwrap();
            assert!(ours.is_some_and(|seconds| seconds < 600.0), "{ours:?}");
            tx.commit().await.unwrap();
        }
        // Postgres updates these statistics some seconds after the rows were read.
        let mut after = counted().await;
        while after.0 < before.0 + 5 * TURNS {
            tokio::time::sleep(Duration::from_millis(200)).await;
            after = counted().await;
        }
        let rows = (after.1 - before.1) / TURNS;
        assert!(rows < ROWS_OF_A_TURN, "{rows} rows read for a turn");
        pool.close().await;
    });
}
