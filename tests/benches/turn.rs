//! `cargo bench -p seven-it --bench turn` measures a turn without its model, on real stores. Goal:
//! if the quiet window is zero, a median under 3 ms from the turn's signal to the published draft.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench fails loudly and prints"
)]

use std::{sync::Arc, time::Duration};

use seven::onboard;
use seven_agent_swarm::{Embedding, Models, Settings, Swarm};
use seven_bus::{Delivery, Handler, Outcome, events::ConversationSignal};
use seven_carrier_sim::Text;
use seven_domain::{Language, TraceContext, config::RateLimitTier};
use seven_lab::stack::{Plan, Stack};
use seven_llm::{Model, Reply, Request, Responding, Usage};
use seven_settings::Worker;
use seven_testkit::{Nats, Postgres, Redis, Scratch};
use tokio::time::Instant;

/// Guests of each casino. The enterprise tier admits this many texts within one minute; the gate
/// would close further texts.
const GUESTS: usize = 200;
const CASINOS: usize = 4;
/// Number of turns before the measurement, in which every connection plans its statements.
const WARM: usize = 200;

/// A model with a fixed answer.
struct Ready;

impl Model for Ready {
    fn name(&self) -> &str {
        "ready"
    }

    fn respond<'a>(&'a self, request: &'a Request) -> Responding<'a> {
        let text = "Lakeside Pool hours: Daily 9am-8pm.".to_owned();
        let reply = Reply {
            text,
            language: Language::En,
            sources: vec!["amenities_001".to_owned()],
            intent: "amenities".to_owned(),
            grounded: true,
            asked: request.ask,
            state: request.state.clone(),
            staff: Vec::new(),
            usage: Usage::default(),
        };
        Box::pin(async { Ok(reply) })
    }
}

fn main() {
    // `cargo test --all-targets` also runs benches; only `cargo bench` may measure.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    drop(rustls::crypto::ring::default_provider().install_default());
    // Runs the measurement on a thread of the runtime, where a worker's handler also runs.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async { tokio::spawn(measure()).await.unwrap() });
}

fn number(casino: usize) -> String {
    format!("+1860555{:04}", 150 + casino)
}

async fn measure() {
    let scratch = Scratch::new("bench_turn").unwrap();
    let nats = Nats::start(&scratch.path().join("nats")).await.unwrap();
    let redis = Redis::start(&scratch.path().join("redis")).await.unwrap();
    let postgres = Postgres::for_tests().await.unwrap();
    let postgres_url = postgres.create_database("bench_turn", None).await.unwrap();
    let mut config = onboard::read_casino("casino.json", seven_packs::demo::CASINO).unwrap();
    config.limits.rate_limit_tier = RateLimitTier::Enterprise;
    let plan = Plan {
        nats_url: nats.url(),
        redis_url: redis.url(),
        postgres_url: postgres_url.clone(),
        dir: scratch.path().to_path_buf(),
        scale: 0.0,
        at: None,
        workers: vec![Worker::IngressWebhook, Worker::ComplianceGate],
        casino_name: config.prompts.casino_name_display.clone(),
        casino_number: config.operational.telnyx_phone_number.as_str().to_owned(),
        extra: String::new(),
        ledger_file: None,
    };
    let stack = Stack::start(plan).await.unwrap();
    for n in 0..CASINOS {
        config.casino_id = format!("bench_{n}").parse().unwrap();
        config.operational.telnyx_phone_number = number(n).parse().unwrap();
        onboard::add_casino(&stack.fleet, &config, "bench")
            .await
            .unwrap();
        let casino = &config.casino_id;
        onboard::load_content(
            &stack.fleet,
            casino,
            "content.json",
            seven_packs::demo::CONTENT,
            "bench",
        )
        .await
        .unwrap();
    }
    let model: Arc<dyn Model> = Arc::new(Ready);
    let swarm = Swarm::new(
        stack.fleet.clone(),
        Settings {
            models: Models::same(&stack.fleet.packs, &model),
            hosted: None,
            web_limits: seven_agent_swarm::WebLimits::default(),
            embedding: Embedding::default(),
            model_deadline: Duration::from_secs(5),
            index_bytes: 64 << 20,
        },
    );
    for (n, guest) in (0..CASINOS).flat_map(|n| (0..GUESTS).map(move |guest| (n, guest))) {
        let from = format!("+1203555{:04}", 100 + guest % 100 + guest / 100 * 1_000);
        let text = Some("when does the pool open?".to_owned());
        stack
            .sim
            .text(Text {
                from,
                to: Some(number(n)),
                text,
                ..Text::default()
            })
            .unwrap();
    }
    let owner = sqlx::PgPool::connect(&postgres_url).await.unwrap();
    let mut stored = 0;
    while stored < i64::try_from(CASINOS * GUESTS).unwrap() {
        tokio::time::sleep(Duration::from_millis(100)).await;
        stored = sqlx::query_scalar("select count(*) from inbound_messages")
            .fetch_one(&owner)
            .await
            .unwrap();
    }
    let open: Vec<(String, uuid::Uuid)> =
        sqlx::query_as("select distinct casino_id, conversation_id from inbound_messages where disposition = 'open'")
            .fetch_all(&owner)
            .await
            .unwrap();
    assert_eq!(
        open.len(),
        CASINOS * GUESTS,
        "the gate left every text open"
    );
    let mut took = Vec::with_capacity(open.len());
    for (casino, conversation) in open {
        let event = ConversationSignal {
            conversation_id: conversation.as_bytes().to_vec().into(),
        };
        let delivery = Delivery {
            casino: casino.parse().unwrap(),
            event,
            trace: TraceContext::start(),
            key: conversation.to_string(),
            stream_seq: 1,
            deliveries: 1,
            tries: 1,
        };
        let started = Instant::now();
        assert_eq!(swarm.handle(delivery).await, Outcome::Done);
        took.push(started.elapsed());
    }
    let mut took = took.split_off(WARM);
    took.sort_unstable();
    let at = |share: usize| took[took.len() * share / 100];
    println!(
        "a turn beside its model, {} turns one after the other: p50 {:?}, p90 {:?}, p99 {:?}",
        took.len(),
        at(50),
        at(90),
        at(99)
    );
    owner.close().await;
    stack.stop().await.unwrap();
    drop((nats, redis, postgres));
}
