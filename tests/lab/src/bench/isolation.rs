//! Measures how much a flood of texts to one casino delays the answers to another casino's guests.
//! Each casino has its own workers (`--casino`). Compares the latency of a small steady load with
//! and without the flood.

use std::{collections::HashSet, path::Path, time::Duration};

use anyhow::{Context, Result};
use serde::Serialize;
use seven::out;
use seven_carrier_sim::{Entry, News, Sim, Text};
use seven_settings::{Settings, Worker};
use tokio::{
    net::TcpStream,
    sync::broadcast::{Receiver, error::RecvError},
    time::{Instant, sleep, timeout},
};

use super::{
    ground::{Ground, Lay, casino_number},
    load::{Guests, Pace, play},
    measure::{Percentiles, Shown},
    options::Bench,
    pipeline::Running,
};
use crate::processes::{Process, seven};

/// Texts per second sent to the measured casino.
const RATE: f64 = 10.0;
/// Number of unanswered texts that the flood keeps open.
const UNDER_WAY: usize = 256;
/// Goal: milliseconds by which the measured casino's p95 may rise.
const GOAL: f64 = 50.0;
/// Indices of the measured and of the flooded casino in [`Ground::casinos`].
const MEASURED: usize = 0;
const FLOODED: usize = 1;
const FLOOD_TIMEOUT: Duration = Duration::from_secs(60);
/// Number of flooding guests; their area code differs from that of all measured guests.
const FLOODING: usize = 10_000;

#[derive(Debug, Clone, Serialize)]
pub(super) struct Isolation {
    /// Texts per second sent to the measured casino.
    pub(super) rate: f64,
    pub(super) quiet: Percentiles,
    pub(super) flooded: Percentiles,
    /// Answers per second of the flooded casino, and the number of its texts that are kept open.
    pub(super) flood_per_second: f64,
    pub(super) flood_under_way: usize,
    /// Rise of the latency from quiet to flooded, in milliseconds.
    pub(super) p50_rise: f64,
    pub(super) p95_rise: f64,
    pub(super) p95_rise_goal: f64,
}

/// Workers that a casino can have to itself; ingress and scheduler serve all casinos.
const OWN: [Worker; 4] = [
    Worker::ComplianceGate,
    Worker::AgentSwarm,
    Worker::PersonaEnvelope,
    Worker::OutboundSender,
];

pub(super) async fn measure(dir: &Path, bench: &Bench) -> Result<Isolation> {
    let ground = Ground::lay(
        &dir.join("isolation"),
        Lay {
            casinos: 2,
            as_in_production: false,
            receipts: false,
        },
    )
    .await?;
    let processes = processes(&ground)?;
    listening(&ground).await?;
    let running = Running { ground, processes };
    let one = Bench {
        casinos: 1,
        ..bench.clone()
    };
    out!("isolation: two casinos, each with stages of its own");
    running.introduce(&one).await?;
    let sim = running.ground.sim();
    // Warms up the flooded casino's processes.
    flood(sim, UNDER_WAY, async {
        sleep(Duration::from_secs(5)).await;
        Ok(())
    })
    .await?;
    running.ground.sql("vacuum analyze").await?;

    let quiet = steady(sim, bench).await.context("quiet")?;
    let (flooded, per_second) = flood(sim, UNDER_WAY, steady(sim, bench))
        .await
        .context("while the other casino is flooded")?;
    running.end().await?;
    Ok(isolation(
        quiet.from_accepted,
        flooded.from_accepted,
        per_second,
    ))
}

fn isolation(quiet: Percentiles, flooded: Percentiles, flood_per_second: f64) -> Isolation {
    Isolation {
        rate: RATE,
        quiet,
        flooded,
        flood_per_second,
        flood_under_way: UNDER_WAY,
        p50_rise: flooded.p50 - quiet.p50,
        p95_rise: flooded.p95 - quiet.p95,
        p95_rise_goal: GOAL,
    }
}

fn processes(ground: &Ground) -> Result<Vec<(String, Process)>> {
    let config = ground.config.to_string_lossy();
    let mut processes = Vec::new();
    for worker in [Worker::IngressWebhook, Worker::Scheduler] {
        processes.push((
            worker.name().to_owned(),
            Process::worker(worker, &ground.config, ground.log(worker.name()))?,
        ));
    }
    for casino in &ground.casinos {
        for worker in OWN {
            let name = format!("{}-{casino}", worker.name());
            let arguments = [
                "run",
                worker.name(),
                "--casino",
                casino.as_str(),
                "--config",
                &*config,
            ];
            let process = Process::start(&seven()?, &arguments, ground.log(&name))?;
            processes.push((name, process));
        }
    }
    Ok(processes)
}

/// Waits until ingress listens, because ten processes take a while to start. The carrier would give
/// up on the first texts after three failed tries of their webhooks.
async fn listening(ground: &Ground) -> Result<()> {
    let listen = Settings::load(Some(&ground.config))?.ingress.listen;
    let up = async {
        while TcpStream::connect(listen).await.is_err() {
            sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(FLOOD_TIMEOUT, up)
        .await
        .context("ingress does not listen")
}

/// Sends texts to the measured casino at the steady rate and returns the figures of the run.
async fn steady(sim: &Sim, bench: &Bench) -> Result<Shown> {
    let count = ((RATE * bench.seconds as f64) as usize).clamp(1, bench.texts);
    let guests = Guests {
        casinos: MEASURED + 1,
        first: 0,
        count,
    };
    Ok(play(sim, guests, Pace::Rate(RATE)).await?.shown())
}

/// Keeps `most` texts of the flooded casino open until `work` is done, then waits for their
/// answers. Returns the result of `work` and the flood's answers per second while `work` ran.
async fn flood<T>(
    sim: &Sim,
    most: usize,
    work: impl Future<Output = Result<T>>,
) -> Result<(T, f64)> {
    let mut flood = Flood {
        heard: sim.ledger().subscribe(),
        waiting: HashSet::new(),
        written: 0,
        answered: 0,
    };
    // The flood reaches its full size before the work begins.
    flood.fill(sim, most)?;
    let (began, mut work) = (Instant::now(), std::pin::pin!(work));
    let done = loop {
        tokio::select! {
            done = &mut work => break done?,
            heard = flood.hear() => heard?,
        }
        flood.fill(sim, most)?;
    };
    let per_second = flood.answered as f64 / began.elapsed().as_secs_f64();
    while !flood.waiting.is_empty() {
        let left = flood.waiting.len();
        timeout(FLOOD_TIMEOUT, flood.hear())
            .await
            .with_context(|| format!("{left} texts of the flood got no answer"))??;
    }
    Ok((done, per_second))
}

#[derive(Debug)]
struct Flood {
    heard: Receiver<News>,
    /// Guests of the flood who wait for an answer.
    waiting: HashSet<String>,
    written: usize,
    answered: usize,
}

impl Flood {
    fn fill(&mut self, sim: &Sim, most: usize) -> Result<()> {
        while self.waiting.len() < most {
            let from = format!("+1305555{:04}", self.written % FLOODING);
            self.waiting.insert(from.clone());
            let (to, text) = (
                Some(casino_number(FLOODED)),
                Some("when does the pool open?".to_owned()),
            );
            sim.text(Text {
                from,
                to,
                text,
                ..Text::default()
            })?;
            self.written += 1;
        }
        Ok(())
    }

    /// Waits until one more guest of the flood has an answer.
    async fn hear(&mut self) -> Result<()> {
        loop {
            match self.heard.recv().await {
                Ok(News {
                    guest,
                    entry: Entry::Accepted(_),
                }) if self.waiting.remove(&guest) => {
                    self.answered += 1;
                    return Ok(());
                }
                Ok(_) => {}
                Err(RecvError::Lagged(missed)) => {
                    anyhow::bail!("the flood missed {missed} entries of the ledger")
                }
                Err(RecvError::Closed) => anyhow::bail!("the carrier is gone"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rise_is_the_difference() {
        let at = |p50, p95| Percentiles {
            p50,
            p95,
            ..Percentiles::default()
        };
        let found = isolation(at(10.0, 20.0), at(12.5, 65.0), 80.0);
        assert_eq!(
            (found.p50_rise, found.p95_rise, found.p95_rise_goal),
            (2.5, 45.0, 50.0)
        );
    }
}
