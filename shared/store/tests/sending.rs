//! The life of a text against a real Postgres (D5): random sends, crashes, timeouts and receipts,
//! whatever their order.

#![expect(clippy::unwrap_used, reason = "a test that fails says where")]

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use proptest::{
    prelude::*,
    test_runner::{Config, TestRunner},
};
use secrecy::SecretString;
use serde_json::json;
use seven_domain::{
    AttemptId, AttemptOutcome, CasinoConfig, Channel, Clock, HashKey, HashKeys, IdSource,
    MessageClass, OutboundId, OutboundState, PhoneE164, Queue, Stage, TELNYX,
    sending::{TRANSITIONS, by_receipt, may_move},
};
use seven_store::{
    Store, SweepPlan,
    guests::{GuestLaw, NewIds},
    outbound::{AttemptEnd, NewOutbound, Next, Origin},
    presend_check::PresendCheck,
    receipts::{NewReceipt, ReceiptOutcome},
    sessions::Shown,
};
use seven_testkit::Postgres;

/// One event in the life of a text. `attempt` picks one of all attempts made, old ones included.
#[derive(Debug, Clone)]
enum Step {
    /// A sender claims the text, if it may; `arrives` says whether the call reaches the provider.
    Claim {
        arrives: bool,
    },
    /// The sender gets the answer to the attempt, at most once.
    Answer {
        attempt: usize,
        said: Report,
    },
    DoubtIsOver {
        attempt: usize,
    },
    Receipt {
        attempt: usize,
        status: &'static str,
    },
    StrangeReceipt {
        status: &'static str,
    },
    Silence,
}

/// The provider's answer to an attempt, as the sender gets it.
#[derive(Debug, Clone, Copy)]
enum Report {
    /// The true result: accepted if the call arrived, otherwise a transient failure that is
    /// certainly not taken.
    Truth,
    /// A timeout, a broken read, a 5xx.
    Nothing,
    /// A permanent refusal, if the call did not arrive.
    Never,
}

#[derive(Debug)]
struct Attempt {
    id: AttemptId,
    arrives: bool,
    answered: bool,
    /// Whether the attempt was answered, a receipt reported it, or its doubt timed out.
    settled: bool,
}

struct House {
    /// The owner's connection URL, for data that the app role may not see.
    url: String,
    store: Store,
    config: CasinoConfig,
    keys: HashKeys,
    ids: IdSource,
    texts: AtomicUsize,
}

async fn house() -> House {
    let ids = IdSource::default();
    let postgres = Postgres::for_tests().await.unwrap();
    let url = postgres
        .create_database(&format!("sending_{}", ids.uuid().simple()), None)
        .await
        .unwrap();
    Store::migrate(&SecretString::from(url.clone()))
        .await
        .unwrap();
    let app = SecretString::from(url.replacen("postgres@", "seven_app@", 1));
    let sweep = SweepPlan {
        base: Duration::from_secs(15),
        longest: Duration::from_secs(600),
    };
    let config: CasinoConfig = serde_json::from_value(json!({
        "casino_id": "silver_birch",
        "prompts": { "casino_name_display": "Silver Birch" },
        "regulations": { "state": "CT" },
        "operational": {
            "timezone": "America/New_York",
            "telnyx_phone_number": "+18605550100",
            "number_kind": "demo",
            "contact_phone": "1-860-555-0199",
        }
    }))
    .unwrap();
    let store = Store::new(&app, 3, sweep).unwrap();
    store.put_casino(&config, "test").await.unwrap();
    let keys = HashKeys::new(HashKey {
        id: 1,
        secret: SecretString::from("k".repeat(32)),
    });
    House {
        url,
        store,
        config,
        keys,
        ids,
        texts: AtomicUsize::new(0),
    }
}

/// One text, the only one to its guest.
struct Life<'h> {
    house: &'h House,
    outbound: OutboundId,
    conversation: seven_domain::ConversationId,
    class: MessageClass,
    attempts: Vec<Attempt>,
}

impl<'h> Life<'h> {
    async fn begin(house: &'h House, class: MessageClass) -> Self {
        let n = house.texts.fetch_add(1, Ordering::Relaxed);
        let phone: PhoneE164 = format!("+1860555{n:04}").parse().unwrap();
        let hash = house.keys.hash(&house.config.casino_id, &phone);
        let new = NewIds {
            guest: house.ids.next(),
            conversation: house.ids.next(),
        };
        let number = &house.config.operational.telnyx_phone_number;
        let mut tx = house.store.bind(&house.config.casino_id).await.unwrap();
        let party = tx
            .party(
                &phone,
                &hash,
                number,
                Channel::Sms,
                new,
                &GuestLaw::default(),
            )
            .await
            .unwrap();
        tx.ensure_suppression_row(&hash).await.unwrap();
        let outbound = house.ids.next();
        let text = NewOutbound::new(
            outbound,
            party.recipient(),
            Origin::Person,
            class,
            "The pool is open.".into(),
            Duration::from_secs(3_600),
        )
        .answers_at(Some(Clock::default().now()));
        tx.queue(&text).await.unwrap().unwrap();
        tx.commit().await.unwrap();
        Self {
            house,
            outbound,
            conversation: party.conversation_id,
            class,
            attempts: Vec::new(),
        }
    }

    async fn state(&self) -> OutboundState {
        let mut tx = self
            .house
            .store
            .bind(&self.house.config.casino_id)
            .await
            .unwrap();
        let (state, _) = tx.outbound_state(self.outbound).await.unwrap().unwrap();
        state
    }

    /// Plays a step, and asserts that the text moved as the transition table permits.
    async fn play(&mut self, step: &Step) {
        let before = self.state().await;
        let expected = self.step(step, before).await;
        let after = self.state().await;
        assert!(
            before == after || may_move(before, after),
            "{step:?}: {before} -> {after}"
        );
        if let Some(expected) = expected {
            assert_eq!(after, expected, "{step:?} at {before}");
        }
        let at_the_guests = self
            .attempts
            .iter()
            .filter(|attempt| attempt.arrives)
            .count();
        let most = if self.class.is_safety() { 2 } else { 1 };
        assert!(
            at_the_guests <= most,
            "{step:?}: the guest has {at_the_guests} copies"
        );
    }

    async fn step(&mut self, step: &Step, before: OutboundState) -> Option<OutboundState> {
        let casino = &self.house.config.casino_id;
        let mut tx = self.house.store.bind(casino).await.unwrap();
        let expected = match *step {
            Step::Claim { arrives } => {
                let id: AttemptId = self.house.ids.next();
                let check = PresendCheck {
                    outbound_id: self.outbound,
                    attempt_id: id,
                    provider: TELNYX,
                    sender: Some(self.house.config.operational.telnyx_phone_number.clone()),
                    deadline: Duration::from_secs(10),
                    grace: Duration::from_secs(10),
                    window_open: true,
                    exclusion_list_needed: false,
                    called_at: Clock::default().now(),
                    refused_as_of: None,
                    risk: None,
                };
                let passed = tx.presend_check(&check).await.unwrap().is_ok();
                assert_eq!(
                    passed,
                    before == OutboundState::Queued,
                    "only what is queued goes out"
                );
                if passed {
                    assert!(
                        self.attempts.iter().all(|attempt| attempt.settled),
                        "another call is under way"
                    );
                    self.attempts.push(Attempt {
                        id,
                        arrives,
                        answered: false,
                        settled: false,
                    });
                }
                passed.then_some(OutboundState::Sending)
            }
            Step::Answer { attempt, said } => {
                let at = self.pick(attempt)?;
                let known = &mut self.attempts[at];
                if std::mem::replace(&mut known.answered, true) {
                    return Some(before);
                }
                known.settled |= !matches!(said, Report::Nothing);
                let (outcome, next) = match (said, known.arrives) {
                    (Report::Nothing, _) => (AttemptOutcome::Ambiguous, Next::InDoubt),
                    (_, true) => (AttemptOutcome::Accepted, Next::Sent),
                    (Report::Truth, false) => (AttemptOutcome::Transient, Next::RetryNow),
                    (Report::Never, false) => (AttemptOutcome::Refused, Next::Failed),
                };
                let id = (outcome == AttemptOutcome::Accepted).then(|| format!("p-{}", known.id));
                let end = AttemptEnd {
                    outcome,
                    http_status: None,
                    error_code: (outcome == AttemptOutcome::Refused).then(|| "40310".to_owned()),
                    detail: None,
                    provider_message_id: id,
                };
                tx.end_attempt(self.outbound, known.id, &end, next, None)
                    .await
                    .unwrap();
                None
            }
            Step::DoubtIsOver { attempt } => {
                let at = self.pick(attempt)?;
                let last = at + 1 == self.attempts.len();
                self.attempts[at].settled = true;
                tx.settle_doubt(self.attempts[at].id).await.unwrap();
                // An older attempt does not affect the current one.
                (!last).then_some(before)
            }
            Step::Receipt { attempt, status } => {
                let at = self.pick(attempt)?;
                if !self.attempts[at].arrives {
                    return Some(before);
                }
                self.attempts[at].settled |= by_receipt(OutboundState::Sending, status).is_some();
                let told = self.receipt(Some(self.attempts[at].id), status);
                tx.record_receipt(&told).await.unwrap();
                Some(by_receipt(before, status).unwrap_or(before))
            }
            Step::StrangeReceipt { status } => {
                let told = self.receipt(None, status);
                let outcome = tx.record_receipt(&told).await.unwrap().outcome;
                assert_eq!(outcome, ReceiptOutcome::Stranger);
                Some(before)
            }
            Step::Silence => {
                tx.cancel_unsent(self.conversation, "guest_opted_out")
                    .await
                    .unwrap();
                let stops = before == OutboundState::Queued && !self.class.is_safety();
                Some(if stops {
                    OutboundState::Suppressed
                } else {
                    before
                })
            }
        };
        tx.commit().await.unwrap();
        expected
    }

    /// Picks any attempt, also an old one, for a receipt or an answer.
    fn pick(&self, attempt: usize) -> Option<usize> {
        attempt.checked_rem(self.attempts.len())
    }

    fn receipt(&self, attempt: Option<AttemptId>, status: &str) -> NewReceipt {
        let id = attempt.map_or_else(
            || format!("stranger-{}", self.house.ids.uuid()),
            |id| format!("p-{id}"),
        );
        NewReceipt {
            provider: TELNYX.into(),
            event_id: self.house.ids.uuid().to_string(),
            status: status.into(),
            attempt_id: attempt,
            error_code: None,
            occurred_at: Clock::default().now(),
            provider_message_id: id,
            carrier: None,
        }
    }

    /// Ends the life: no answer comes any more, and every doubt times out.
    async fn ends(&mut self) {
        for attempt in 0..self.attempts.len() {
            self.play(&Step::DoubtIsOver { attempt }).await;
        }
        assert_ne!(
            self.state().await,
            OutboundState::Sending,
            "somebody has the last word"
        );
    }
}

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
        // The one to the cry is due last.
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
        // Connections report their counts some seconds later.
        let mut after = counted().await;
        while after.0 < before.0 + RECEIPTS {
            tokio::time::sleep(Duration::from_millis(200)).await;
            after = counted().await;
        }
        let rows = after.1 - before.1;
        assert!(rows < OTHERS, "{rows} rows read for {RECEIPTS} receipts");
    });
}

/// SQL that gives the only conversation a thousand exchanges, one a minute, the last one just now.
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
        // Connections report their counts some seconds later.
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
