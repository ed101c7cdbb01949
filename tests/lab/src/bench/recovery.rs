//! Measures how long guests wait when a process dies and restarts, and how long backup and restore
//! take. Fails when a text is lost or answered twice. A text whose answer is in doubt (D5) may stay
//! unanswered and is not counted as lost.

use std::{path::Path, time::Duration};

use anyhow::{Context, Result, ensure};
use secrecy::SecretString;
use serde::Serialize;
use seven::{
    life::{backup::backup, restore::restore},
    out,
};
use seven_settings::Worker;
use seven_testkit::Postgres;
use tokio::time::{Instant, sleep};

use super::{
    ground::{DATABASE, Ground, Lay},
    growth::store_guests,
    load::{Guests, Pace, play},
    measure::Run,
    options::Bench,
    pipeline::{Running, fleet_processes},
};
use crate::processes::Process;

/// Texts per second: enough that a worker has a text in progress when it dies.
const RATE: f64 = 60.0;
const KILLS: u32 = 4;
/// Time between kills. It is not a multiple of the time between texts, so that the kills hit texts
/// at different points of their path.
const BETWEEN: Duration = Duration::from_millis(2_137);
/// Number of texts that guests send during the kills of one process.
const TEXTS: usize = 720;
/// Wait after the last text, long enough for a wrong second answer to be sent. A dead worker's
/// message is redelivered only after `ack_wait` (D13).
const LATE: Duration = Duration::from_secs(12);
const SERVERS: [&str; 3] = ["nats", "redis", "postgres"];
/// Guests who wait longer than this count as delayed by a death.
const DELAYED: Duration = Duration::from_secs(1);
const STORED: usize = 100_000;

#[derive(Debug, Serialize)]
pub(super) struct Recovery {
    pub(super) deaths: Vec<Death>,
    pub(super) kept: Kept,
}

/// Effect of killing one process several times. The process gets no warning, and is restarted at
/// once each time.
#[derive(Debug, Serialize)]
pub(super) struct Death {
    pub(super) of: &'static str,
    pub(super) texts: usize,
    /// Longest time from a server's kill until the restarted server answers. A guest who needs the
    /// server waits at least this long. `None` for workers.
    pub(super) away_seconds: Option<f64>,
    /// Number of texts without an answer. Their answers are in doubt: the provider may have taken
    /// them, so the fleet does not send them again (D5).
    pub(super) in_doubt: usize,
    /// Number of texts that waited for more than a second.
    pub(super) delayed: usize,
    /// Longest wait of a text, from the time at which it was due until the carrier got the first
    /// part of our answer.
    pub(super) worst_seconds: f64,
}

/// Size of a backup of `guests` guests, and durations of the backup and of its restore on an empty
/// server.
#[derive(Debug, Serialize)]
pub(super) struct Kept {
    pub(super) guests: usize,
    pub(super) bytes: u64,
    pub(super) backup_seconds: f64,
    /// Duration of the restore, including the verification of the restored consent chains. Only
    /// guests who wrote have chains; guests that [`store_guests`] stored have none.
    pub(super) restore_seconds: f64,
    pub(super) chains: usize,
}

pub(super) async fn measure(dir: &Path, bench: &Bench) -> Result<Recovery> {
    let lay = Lay {
        casinos: bench.casinos,
        as_in_production: false,
        receipts: false,
    };
    let ground = Ground::lay(&dir.join("recovery"), lay).await?;
    let processes = fleet_processes(&ground)?;
    let mut running = Running { ground, processes };
    let mortal: Vec<_> = Worker::ALL
        .iter()
        .map(|worker| worker.name())
        .chain(SERVERS)
        .collect();
    running
        .introduce(&Bench {
            texts: mortal.len() * TEXTS,
            ..bench.clone()
        })
        .await?;
    let mut deaths = Vec::new();
    for (n, of) in mortal.into_iter().enumerate() {
        out!("recovery: {of} dies {KILLS} times");
        let guests = Guests {
            casinos: bench.casinos,
            first: n * TEXTS,
            count: TEXTS,
        };
        deaths.push(
            Box::pin(death(&mut running, of, guests))
                .await
                .with_context(|| format!("{of} dies"))?,
        );
    }
    store_guests(&running.ground, STORED).await?;
    let kept = Box::pin(kept(&running.ground))
        .await
        .context("backup and restore")?;
    running.end().await?;
    Ok(Recovery { deaths, kept })
}

async fn death(running: &mut Running, of: &'static str, guests: Guests) -> Result<Death> {
    let Running { ground, processes } = running;
    let (before, known) = (sent(ground, guests), doubtful(ground).await?);
    let dies = async {
        let mut away = None;
        for _ in 0..KILLS {
            sleep(BETWEEN).await;
            let killed = Instant::now();
            let worker = Worker::ALL.into_iter().find(|worker| worker.name() == of);
            match worker.zip(processes.iter_mut().find(|(name, _)| name == of)) {
                Some((worker, (_, process))) => {
                    process.kill().await;
                    *process = Process::worker(worker, &ground.config, ground.log(of))?;
                }
                None => {
                    restart(ground, of).await?;
                    away = away.max(Some(killed.elapsed()));
                }
            }
        }
        anyhow::Ok(away)
    };
    let (run, away) = tokio::join!(play(ground.sim(), guests, Pace::Rate(RATE)), dies);
    let away = away?;
    sleep(LATE).await;
    let (none, again) = answered(&before, &sent(ground, guests));
    let doubtful = doubtful(ground).await? - known;
    ensure!(
        again == 0,
        "{again} of {} guests were answered more than once",
        guests.count
    );
    let lost = i64::try_from(none)? - doubtful;
    ensure!(
        lost <= 0,
        "{none} of {} guests were not answered, {doubtful} texts are in doubt",
        guests.count
    );
    Ok(Death::of(of, &run?, none, away))
}

/// Compares two counts of each guest's texts. Returns the number of guests who got no text in
/// between, and the number of guests who got more than one.
fn answered(before: &[usize], after: &[usize]) -> (usize, usize) {
    let texts: Vec<usize> = before
        .iter()
        .zip(after)
        .map(|(before, after)| after - before)
        .collect();
    (
        texts.iter().filter(|texts| **texts == 0).count(),
        texts.iter().filter(|texts| **texts > 1).count(),
    )
}

/// Counts our texts in doubt: the provider did not answer the call that sent them. Their state is
/// `sending` until the doubt is settled, then `unknown`.
async fn doubtful(ground: &Ground) -> Result<i64> {
    let counts = ground.stack.fleet.store.counts().await?;
    let doubtful = counts
        .iter()
        .filter(|c| c.what == "outbound" && ["sending", "unknown"].contains(&c.state.as_str()));
    Ok(doubtful.map(|count| count.n).sum())
}

/// Returns the number of texts that each guest got.
fn sent(ground: &Ground, guests: Guests) -> Vec<usize> {
    (0..guests.count)
        .map(|n| {
            ground
                .sim()
                .ledger()
                .of_guest(&guests.phone(n))
                .outbound
                .len()
        })
        .collect()
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
    let restored = restore(&elsewhere, &files, true, "seven bench").await?;
    let restore_seconds = began.elapsed().as_secs_f64();
    server.wipe_data().await?;
    let chains = restored.chains.map_or(0, |(walked, _)| walked);
    Ok(Kept {
        guests: STORED,
        bytes: size(&files)?,
        backup_seconds,
        restore_seconds,
        chains,
    })
}

fn size(dir: &Path) -> Result<u64> {
    let files = std::fs::read_dir(dir).with_context(|| format!("reading {}", dir.display()))?;
    files.map(|file| Ok(file?.metadata()?.len())).sum()
}

// === impl Death ===

impl Death {
    fn of(of: &'static str, run: &Run, in_doubt: usize, away: Option<Duration>) -> Self {
        let waits: Vec<Duration> = run
            .samples
            .iter()
            .filter_map(|s| Some(s.requested?.saturating_duration_since(s.intended)))
            .collect();
        let worst = waits.iter().max().copied().unwrap_or_default();
        let delayed = waits.iter().filter(|wait| **wait > DELAYED).count();
        Self {
            of,
            texts: waits.len(),
            away_seconds: away.map(|away| away.as_secs_f64()),
            in_doubt,
            delayed,
            worst_seconds: worst.as_secs_f64(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::measure::Sample;
    use super::*;

    #[test] // PROD-42
    fn guests_without_an_answer_and_with_two_are_told_apart() {
        assert_eq!(answered(&[1, 1, 1, 1], &[2, 2, 2, 2]), (0, 0));
        assert_eq!(answered(&[1, 1, 1, 1], &[1, 2, 3, 4]), (1, 2));
    }

    #[test] // PROD-42
    fn a_death_is_told_by_who_waited() {
        let began = Instant::now();
        let text = |waited: u64| Sample {
            intended: began,
            accepted: Some(began),
            requested: Some(began + Duration::from_millis(waited)),
        };
        let run = Run {
            began,
            samples: vec![text(20), text(1_500), text(900)],
            requests: 3,
        };
        let death = Death::of("nats", &run, 0, Some(Duration::from_millis(700)));
        assert_eq!(
            (
                death.texts,
                death.delayed,
                death.worst_seconds,
                death.away_seconds
            ),
            (3, 1, 1.5, Some(0.7))
        );
    }
}
