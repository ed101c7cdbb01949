//! Kills each worker with `kill -9` at random moments while 500 guests text. A kill counts only if
//! the stage's messages are delivered again. Each guest gets one answer, or the answer ends as
//! `unknown`.

use std::time::Duration;

use rand::{Rng, SeedableRng, rngs::StdRng};
use seven::onboard;
use seven_carrier_sim::Text;
use seven_domain::{CasinoConfig, Stage};
use seven_settings::Worker;
use tokio::{process::Child, time::sleep};

use crate::harness::{House, Wanted, house};

const CASINOS: usize = 5;
const GUESTS: usize = 500;
const SEED: u64 = 20_261_122;
/// A worker is no longer killed when this many kills have hit work in progress.
const KILLS: u32 = 4;
const MOST_KILLS: u32 = 60;

struct Victim {
    name: &'static str,
    stage: Stage,
    process: Child,
    counted: u32,
}

/// Returns a number 555-01xx in one of five area codes.
fn guest(n: usize) -> String {
    format!(
        "+1{}55501{:02}",
        ["203", "401", "413", "475", "603"][n / 100],
        n % 100
    )
}

fn casino(demo: &CasinoConfig, n: usize) -> CasinoConfig {
    let mut config = demo.clone();
    config.casino_id = format!("storm_{n}").parse().unwrap();
    config.operational.telnyx_phone_number = format!("+1959555010{n}").parse().unwrap();
    config.limits.rate_limit_tier = seven_domain::config::RateLimitTier::Enterprise;
    config
}

#[tokio::test(flavor = "multi_thread")] // SMS-6, SMS-9
async fn every_guest_is_answered_once_while_workers_die() {
    let workers = vec![Worker::IngressWebhook, Worker::Scheduler];
    let house = house(
        "storm",
        Wanted {
            scale: 0.2,
            workers,
            ..Wanted::default()
        },
    )
    .await;
    for n in 0..CASINOS {
        let config = casino(&house.config, n);
        onboard::add_casino(&house.stack.fleet, &config, "test")
            .await
            .unwrap();
        onboard::load_content(
            &house.stack.fleet,
            &config.casino_id,
            "content.json",
            seven_packs::demo::CONTENT,
            "test",
        )
        .await
        .unwrap();
    }
    let mut victims = [
        ("compliance-gate", Stage::Gate),
        ("agent-swarm", Stage::Swarm),
        ("persona-envelope", Stage::Envelope),
        ("outbound-sender", Stage::Sender),
    ]
    .map(|(name, stage)| Victim {
        name,
        stage,
        process: house.process(name, None),
        counted: 0,
    });
    let texting = async {
        for n in 0..GUESTS {
            let to = Some(format!("+1959555010{}", n % CASINOS));
            house
                .stack
                .sim
                .text(Text {
                    from: guest(n),
                    to,
                    text: Some("where is nonna salvia?".into()),
                    ..Text::default()
                })
                .unwrap();
            // Bursts keep every stage busy for a while.
            if n % 8 == 7 {
                sleep(Duration::from_millis(500)).await;
            }
        }
    };
    let (kills, ()) = tokio::join!(kill_at_random(&house, &mut victims), texting);
    let patience = Duration::from_secs(120);
    house
        .settle_within(i64::try_from(GUESTS).unwrap(), patience)
        .await;
    eprintln!(
        "kills {kills}, of which hit work in flight: {:?}",
        victims.each_ref().map(|v| (v.name, v.counted))
    );
    verdict(&house, &victims).await;
    house.stop().await;
}

/// Kills the workers in turn at random moments and restarts them. Ends when [`KILLS`] kills of each
/// worker hit work in progress, or after `MOST_KILLS` kills. Returns the number of kills.
async fn kill_at_random(house: &House, victims: &mut [Victim; 4]) -> u32 {
    let mut rng = StdRng::seed_from_u64(SEED);
    let mut kills = 0;
    while kills < MOST_KILLS && victims.iter().any(|v| v.counted < KILLS) {
        for victim in victims.iter_mut().filter(|v| v.counted < KILLS) {
            sleep(Duration::from_millis(rng.random_range(10..150))).await;
            // Waits until the worker holds work. A worker that is still starting holds none, and
            // starting takes long on a slow machine.
            for _ in 0..100 {
                if in_flight(house, victim.stage).await {
                    break;
                }
                sleep(Duration::from_millis(5)).await;
            }
            victim.process.start_kill().unwrap();
            victim.process.wait().await.unwrap();
            kills += 1;
            // No other worker runs this stage, so the unacknowledged messages are the dead worker's
            // and will be delivered again.
            victim.counted += u32::from(in_flight(house, victim.stage).await);
            victim.process = house.process(victim.name, None);
        }
    }
    kills
}

async fn in_flight(house: &House, stage: Stage) -> bool {
    house
        .stack
        .fleet
        .bus
        .lag(stage)
        .await
        .unwrap()
        .iter()
        .any(|l| l.in_flight > 0)
}

async fn verdict(house: &House, victims: &[Victim; 4]) {
    let (mut answered, mut unanswered) = (0, 0);
    for n in 0..GUESTS {
        let texts = house.texts_to(&guest(n));
        let answers = texts.iter().filter(|t| t.contains("Nonna Salvia")).count();
        assert!(
            answers <= 1,
            "guest {n} was answered {answers} times: {texts:?}"
        );
        if answers == 1 {
            answered += 1;
        } else {
            unanswered += 1;
        }
    }
    let unknown = house.count("outbound", "unknown").await;
    assert_eq!(
        house.count("dead", "open").await,
        0,
        "kills make no dead letters"
    );
    assert!(
        unanswered <= unknown,
        "{unanswered} guests without an answer, but only {unknown} texts listed as unknown"
    );
    eprintln!("answered {answered}, unknown {unknown}");
    for victim in victims {
        assert!(
            victim.counted >= 1,
            "no kill hit {} with work in flight",
            victim.name
        );
    }
}
