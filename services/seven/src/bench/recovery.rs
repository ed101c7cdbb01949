//! How long guests wait when something dies and comes back at once, as its supervisor would bring it; and how long a backup and its
//! restoring take (PROD-42). That nothing is lost or sent twice is the chaos suite's; here it ends the measurement.

use std::{path::Path, time::Duration};

use anyhow::{Context, Result, ensure};
use secrecy::SecretString;
use serde::Serialize;
use seven_testkit::Postgres;
use tokio::time::{Instant, sleep};

use super::{
    Bench,
    ground::{DATABASE, Ground, Lay},
    growth::store_guests,
    load::{Guests, Pace, play},
    measure::Run,
    pipeline::{Running, fleet_processes},
};
use crate::{
    life::{backup::backup, restore::restore},
    out,
    processes::Process,
    wiring::Worker,
};

/// Texts per second, for so many seconds; the death comes after some of them.
const RATE: f64 = 20.0;
const SECONDS: f64 = 12.0;
const BEFORE: Duration = Duration::from_secs(3);
const SERVERS: [&str; 3] = ["nats", "redis", "postgres"];
/// Whoever waits longer was delayed by the death.
const DELAYED: Duration = Duration::from_secs(1);
const STORED: usize = 100_000;

#[derive(Debug, Serialize)]
pub(super) struct Recovery {
    pub(super) deaths: Vec<Death>,
    pub(super) kept: Kept,
}

/// One process killed without notice, and started again at once.
#[derive(Debug, Serialize)]
pub(super) struct Death {
    pub(super) of: &'static str,
    pub(super) texts: usize,
    /// Texts that waited for more than a second, and the longest wait: from when it was written to the provider's request.
    pub(super) delayed: usize,
    pub(super) worst_seconds: f64,
}

/// A backup of so many guests, and the same on an empty server.
#[derive(Debug, Serialize)]
pub(super) struct Kept {
    pub(super) guests: usize,
    pub(super) bytes: u64,
    pub(super) backup_seconds: f64,
    /// With every chain verified.
    pub(super) restore_seconds: f64,
}

pub(super) async fn measure(dir: &Path, bench: &Bench) -> Result<Recovery> {
    let lay = Lay { casinos: 1, as_in_production: false, receipts: false };
    let ground = Ground::lay(&dir.join("recovery"), lay).await?;
    let processes = fleet_processes(&ground)?;
    let mut running = Running { ground, processes };
    running.introduce(&Bench { casinos: 1, ..bench.clone() }).await?;
    let mut deaths = Vec::new();
    for of in Worker::ALL.iter().map(|worker| worker.name()).chain(SERVERS) {
        out!("recovery: {of} dies");
        deaths.push(Box::pin(death(&mut running, of)).await.with_context(|| format!("{of} dies"))?);
    }
    store_guests(&running.ground, STORED).await?;
    let kept = Box::pin(kept(&running.ground)).await.context("backup and restore")?;
    running.end().await?;
    Ok(Recovery { deaths, kept })
}

async fn death(running: &mut Running, of: &'static str) -> Result<Death> {
    let Running { ground, processes } = running;
    let guests = Guests { casinos: 1, first: 0, count: (RATE * SECONDS) as usize };
    let dies = async {
        sleep(BEFORE).await;
        let worker = Worker::ALL.into_iter().find(|worker| worker.name() == of);
        match worker.zip(processes.iter_mut().find(|(name, _)| name == of)) {
            Some((worker, (_, process))) => {
                process.kill().await;
                *process = Process::worker(worker, &ground.config, ground.log(of))?;
                Ok(())
            }
            None => restart(ground, of).await,
        }
    };
    let (run, died) = tokio::join!(play(ground.sim(), guests, Pace::Rate(RATE)), dies);
    died?;
    Death::of(of, &run?)
}

async fn restart(ground: &Ground, of: &str) -> Result<()> {
    let servers = &ground.servers;
    match of {
        "nats" => {
            servers.nats.kill()?;
            servers.nats.restart().await
        }
        "redis" => {
            servers.redis.kill()?;
            servers.redis.restart().await
        }
        _ => {
            servers.postgres.kill()?;
            servers.postgres.restart().await
        }
    }
}

async fn kept(ground: &Ground) -> Result<Kept> {
    let settings = &ground.stack.settings;
    let files = ground.dir.join("backup");
    out!("recovery: a backup of {STORED} guests");
    let began = Instant::now();
    backup(settings, &files).await?;
    let backup_seconds = began.elapsed().as_secs_f64();
    let server = Postgres::start(&ground.dir.join("elsewhere"), false).await?;
    let owner = server.create_database(DATABASE, None).await?;
    let mut elsewhere = settings.clone();
    elsewhere.postgres.url = SecretString::from(owner.replacen("postgres@", "seven_app@", 1));
    elsewhere.postgres.owner_url = Some(SecretString::from(owner));
    let began = Instant::now();
    restore(&elsewhere, &files, true, "seven bench").await?;
    let restore_seconds = began.elapsed().as_secs_f64();
    server.wipe_data().await?;
    Ok(Kept { guests: STORED, bytes: size(&files)?, backup_seconds, restore_seconds })
}

fn size(dir: &Path) -> Result<u64> {
    let files = std::fs::read_dir(dir).with_context(|| format!("reading {}", dir.display()))?;
    files.map(|file| Ok(file?.metadata()?.len())).sum()
}

// === impl Death ===

impl Death {
    fn of(of: &'static str, run: &Run) -> Result<Self> {
        let waits: Vec<Duration> =
            run.samples.iter().filter_map(|s| Some(s.requested?.saturating_duration_since(s.intended))).collect();
        ensure!(run.requests == waits.len(), "{} requests for {} texts", run.requests, waits.len());
        let worst = waits.iter().max().copied().unwrap_or_default();
        let delayed = waits.iter().filter(|wait| **wait > DELAYED).count();
        Ok(Self { of, texts: waits.len(), delayed, worst_seconds: worst.as_secs_f64() })
    }
}

#[cfg(test)]
mod tests {
    use super::super::measure::Sample;
    use super::*;

    #[test] // PROD-42
    fn a_death_is_told_by_who_waited_and_an_answer_too_many_ends_it() {
        let began = Instant::now();
        let text = |waited: u64| Sample {
            intended: began,
            accepted: Some(began),
            requested: Some(began + Duration::from_millis(waited)),
        };
        let run = |requests| Run { began, samples: vec![text(20), text(1_500), text(900)], requests };
        let death = Death::of("nats", &run(3)).unwrap();
        assert_eq!((death.texts, death.delayed, death.worst_seconds), (3, 1, 1.5));
        assert!(Death::of("nats", &run(4)).unwrap_err().to_string().contains("4 requests for 3 texts"));
    }
}
