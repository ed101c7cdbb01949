//! `cargo bench -p seven-it --bench fairness` measures how much a burst of 5 000 texts of one
//! casino delays the guests of another. Both casinos share an account of 50 segments a second.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench fails loudly and prints"
)]

use std::time::Duration;

use seven::onboard;
use seven_carrier_sim::Text;
use seven_domain::{CasinoConfig, Channel, MessageClass, PhoneE164};
use seven_lab::stack::{Plan, Stack};
use seven_settings::Worker;
use seven_store::{
    guests::{GuestLaw, NewIds},
    outbound::{NewOutbound, Origin},
};
use seven_testkit::{Nats, Postgres, Redis, Scratch};
use tokio::time::{Instant, sleep};

const BURST: usize = 5_000;
const GUESTS: usize = 1_000;
const ASKED: usize = 40;
const CALM: &str = "+18605550102";

fn main() {
    // `cargo test --all-targets` also runs benches; only `cargo bench` may measure.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    drop(rustls::crypto::ring::default_provider().install_default());
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async { tokio::spawn(measure()).await.unwrap() });
}

async fn measure() {
    let scratch = Scratch::new("bench_fairness").unwrap();
    let nats = Nats::start(&scratch.path().join("nats")).await.unwrap();
    let redis = Redis::start(&scratch.path().join("redis")).await.unwrap();
    let postgres = Postgres::for_tests().await.unwrap();
    let mut config = onboard::read_casino("casino.json", seven_packs::demo::CASINO).unwrap();
    let plan = Plan {
        nats_url: nats.url(),
        redis_url: redis.url(),
        postgres_url: postgres
            .create_database("bench_fairness", None)
            .await
            .unwrap(),
        dir: scratch.path().to_path_buf(),
        scale: 0.0,
        at: None,
        workers: Worker::ALL.to_vec(),
        casino_name: config.prompts.casino_name_display.clone(),
        casino_number: config.operational.telnyx_phone_number.as_str().to_owned(),
        extra: "sending.account_segments_per_second = { telnyx = 50 }\n".to_owned(),
        ledger_file: None,
    };
    let stack = Stack::start(plan).await.unwrap();
    for (id, number) in [("flood", "+18605550101"), ("calm", CALM)] {
        config.casino_id = id.parse().unwrap();
        config.operational.telnyx_phone_number = number.parse().unwrap();
        config.operational.twilio_phone_number = None;
        onboard::add_casino(&stack.fleet, &config, "bench")
            .await
            .unwrap();
        onboard::load_content(
            &stack.fleet,
            &config.casino_id,
            "content.json",
            seven_packs::demo::CONTENT,
            "bench",
        )
        .await
        .unwrap();
    }
    sleep(Duration::from_secs(2)).await;
    ask(&stack, 0).await;
    let quiet = asked(&stack, 100).await;
    told("alone", &quiet);
    config.casino_id = "flood".parse().unwrap();
    config.operational.telnyx_phone_number = "+18605550101".parse().unwrap();
    burst(&stack, &config).await;
    sleep(Duration::from_secs(3)).await;
    let before = sent(&stack);
    let started = Instant::now();
    let beside = asked(&stack, 200).await;
    let flood = sent(&stack) - before;
    told("beside a burst of 5 000", &beside);
    println!(
        "meanwhile {:.1} texts a second left the account",
        flood as f64 / started.elapsed().as_secs_f64()
    );
    println!(
        "the burst adds {:?} at p50, {:?} at p95",
        beside[ASKED / 2].saturating_sub(quiet[ASKED / 2]),
        at(&beside, 95).saturating_sub(at(&quiet, 95))
    );
    stack.stop().await.unwrap();
    drop((nats, redis, postgres));
}

fn sent(stack: &Stack) -> usize {
    stack.sim.ledger().snapshot().outbound.len()
}

/// Measures the time from a guest's text until the carrier simulator receives our answer, for
/// several guests. Returns these times, sorted.
async fn asked(stack: &Stack, from: usize) -> Vec<Duration> {
    let mut took = Vec::new();
    for n in 0..ASKED {
        took.push(ask(stack, from + n).await);
        sleep(Duration::from_millis(300)).await;
    }
    took.sort_unstable();
    took
}

async fn ask(stack: &Stack, n: usize) -> Duration {
    let from = format!("+1475555{n:04}");
    let text = Some("when does the pool open?".to_owned());
    let started = Instant::now();
    stack
        .sim
        .text(Text {
            from: from.clone(),
            to: Some(CALM.to_owned()),
            text,
            ..Text::default()
        })
        .unwrap();
    while !stack
        .sim
        .ledger()
        .snapshot()
        .outbound
        .iter()
        .rev()
        .any(|text| text.to == from)
    {
        sleep(Duration::from_millis(2)).await;
    }
    started.elapsed()
}

/// Queues texts as if a person had written them, so that only the rate limit delays them.
async fn burst(stack: &Stack, config: &CasinoConfig) {
    let fleet = &stack.fleet;
    // Uses separate connections, because the workers in this process use the fleet's.
    let store = fleet.store.apart();
    for guest in 0..GUESTS {
        let phone: PhoneE164 = format!("+1203555{guest:04}").parse().unwrap();
        let hash = fleet.keys.hash(&config.casino_id, &phone);
        let new = NewIds {
            guest: fleet.ids.next(),
            conversation: fleet.ids.next(),
        };
        let mut tx = store.bind(&config.casino_id).await.unwrap();
        let number = &config.operational.telnyx_phone_number;
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
        let mut queued = Vec::new();
        for _ in 0..BURST / GUESTS {
            let text = NewOutbound::new(
                fleet.ids.next(),
                party.recipient(),
                Origin::Person,
                MessageClass::Reply,
                "The pool is open.".into(),
                Duration::from_secs(3_600),
            );
            queued.extend(tx.queue(&text).await.unwrap());
        }
        tx.commit().await.unwrap();
        fleet
            .signal_queued(&config.casino_id, &queued, None, "")
            .await
            .unwrap();
    }
}

fn at(sorted: &[Duration], share: usize) -> Duration {
    sorted[sorted.len() * share / 100]
}

fn told(when: &str, sorted: &[Duration]) {
    println!(
        "a reply {when}: p50 {:?}, p95 {:?}, worst {:?}",
        at(sorted, 50),
        at(sorted, 95),
        sorted[sorted.len() - 1]
    );
}
