//! Measures the whole path of a text, first in the fleet, then in the bare relay (the floor). Each
//! of the two gets its own servers.

use std::{collections::BTreeMap, path::Path, time::Duration};

use anyhow::{Context, Result};
use serde::Serialize;
use seven::out;
use seven_settings::Worker;
use tokio::time::{Instant, sleep};

use super::{
    floor::{self, RECIPE},
    ground::{Ground, Lay, clear},
    load::{Guests, Pace, play},
    measure::Shown,
    options::{Bench, Hop},
    usage::{self, Asked, Taken},
};
use crate::processes::Process;

/// Number of texts that are unanswered at any time while the fleet is saturated.
const UNDER_WAY: usize = 256;
/// Shares of the throughput at saturation at which latency is measured.
const SHARES: [f64; 3] = [0.25, 0.5, 0.75];
/// Index of a guest who is not measured.
const LAST_GUEST: usize = 59_999;
const IDLE: Duration = Duration::from_secs(10);
const COUNTED_AT_REST: Duration = Duration::from_secs(5);

#[derive(Debug, Clone, Serialize)]
pub(super) struct Pipeline {
    pub(super) fleet: Side,
    pub(super) as_in_production: Option<Side>,
    pub(super) floor: Option<Side>,
    /// Throughput of the fleet at saturation, divided by that of the floor.
    pub(super) ratio_to_floor: Option<f64>,
    /// Requests to the servers per text: `per_text` of the fleet, `recipe` of the bare relay.
    pub(super) per_text: Asked,
    pub(super) recipe: Asked,
}

#[derive(Debug, Clone, Serialize)]
pub(super) struct Side {
    pub(super) saturation: Shown,
    pub(super) rates: Vec<AtRate>,
    /// Use of resources by process, including the servers and the load itself.
    pub(super) processes: BTreeMap<String, Usage>,
    /// Messages that each process of the relay handles at the same time; `None` for the fleet.
    pub(super) concurrency: Option<usize>,
    /// The relay's texts per second at each concurrency that was tried; empty for the fleet.
    pub(super) others: BTreeMap<usize, f64>,
}

#[derive(Debug, Clone, Serialize)]
pub(super) struct AtRate {
    /// Share of the throughput at saturation.
    pub(super) share: f64,
    /// Texts per second.
    pub(super) rate: f64,
    pub(super) shown: Shown,
}

#[derive(Debug, Clone, Copy, Default, Serialize)]
pub(super) struct Usage {
    /// Resident memory when idle, after the first texts, in bytes.
    pub(super) resident_idle: u64,
    pub(super) resident_busy: u64,
    /// CPU use when idle, in percent of one core.
    pub(super) idle_percent: f64,
    /// CPU time per text at saturation, in milliseconds.
    pub(super) cpu_ms_per_text: f64,
}

/// The environment of a measurement and the processes that run in it.
pub(super) struct Running {
    pub(super) ground: Ground,
    pub(super) processes: Vec<(String, Process)>,
}

pub(super) async fn measure(dir: &Path, bench: &Bench) -> Result<Pipeline> {
    let bare = Lay {
        casinos: bench.casinos,
        as_in_production: false,
        receipts: false,
    };
    let (fleet, per_text) = Box::pin(fleet(&dir.join("fleet"), bench, bare))
        .await
        .context("the fleet")?;
    let as_in_production = match bench.as_in_production {
        true => {
            let lay = Lay {
                as_in_production: true,
                receipts: true,
                ..bare
            };
            Some(
                Box::pin(self::fleet(&dir.join("production"), bench, lay))
                    .await
                    .context("as in production")?
                    .0,
            )
        }
        false => None,
    };
    let floor = match bench.no_floor {
        true => None,
        false => Some(
            Box::pin(self::floor(&dir.join("floor"), bench, bare))
                .await
                .context("the floor")?,
        ),
    };
    let recipe = Asked {
        publishes: RECIPE.publishes.len() as f64,
        commits: RECIPE.commits.len() as f64,
        statements: RECIPE.commits.len() as f64,
        redis: RECIPE.redis.len() as f64,
    };
    let ratio = |floor: &Side| fleet.saturation.per_second / floor.saturation.per_second;
    Ok(Pipeline {
        ratio_to_floor: floor.as_ref().map(ratio),
        fleet,
        as_in_production,
        floor,
        per_text,
        recipe,
    })
}

async fn fleet(dir: &Path, bench: &Bench, lay: Lay) -> Result<(Side, Asked)> {
    let ground = Ground::lay(dir, lay).await?;
    let processes = fleet_processes(&ground)?;
    let running = Running { ground, processes };
    out!("fleet: {} guests write for the first time", bench.texts);
    running.introduce(bench).await?;
    let per_text = running.asked(bench).await?;
    let rest = running.taken();
    sleep(IDLE).await;
    let rested = running.taken();
    let (saturation, busy) = running.saturate(bench).await?;
    let processes = usage_of(&rest, &rested, &busy, saturation.texts);
    let rates = running.rates(bench, saturation.per_second).await?;
    running.end().await?;
    Ok((
        Side {
            saturation,
            rates,
            processes,
            concurrency: None,
            others: BTreeMap::new(),
        },
        per_text,
    ))
}

/// Starts one process of each worker.
pub(super) fn fleet_processes(ground: &Ground) -> Result<Vec<(String, Process)>> {
    let start = |worker: Worker| {
        let process = Process::worker(worker, &ground.config, ground.log(worker.name()))?;
        Ok((worker.name().to_owned(), process))
    };
    Worker::ALL.map(start).into_iter().collect()
}

async fn floor(dir: &Path, bench: &Bench, lay: Lay) -> Result<Side> {
    let mut best: Option<(usize, Shown)> = None;
    let mut others = BTreeMap::new();
    for concurrency in &RECIPE.concurrency {
        let running = relay(&dir.join(concurrency.to_string()), lay, *concurrency).await?;
        running.introduce(bench).await?;
        let (shown, _) = running.saturate(bench).await?;
        out!(
            "floor: {:.0} texts a second with {concurrency} in work",
            shown.per_second
        );
        others.insert(*concurrency, shown.per_second);
        if best
            .as_ref()
            .is_none_or(|(_, best)| shown.per_second > best.per_second)
        {
            best = Some((*concurrency, shown));
        }
        running.end().await?;
    }
    let (concurrency, _) = best.context("the recipe names no concurrency")?;
    let running = relay(&dir.join("best"), lay, concurrency).await?;
    running.introduce(bench).await?;
    let rest = running.taken();
    let (saturation, busy) = running.saturate(bench).await?;
    let processes = usage_of(&rest, &rest, &busy, saturation.texts);
    let rates = running.rates(bench, saturation.per_second).await?;
    running.end().await?;
    Ok(Side {
        saturation,
        rates,
        processes,
        concurrency: Some(concurrency),
        others,
    })
}

async fn relay(dir: &Path, lay: Lay, concurrency: usize) -> Result<Running> {
    let ground = Ground::lay(dir, lay).await?;
    ground.sql(floor::TABLE).await?;
    let config = ground.config.to_string_lossy().into_owned();
    let text = std::fs::read_to_string(&ground.config).context("reading the settings")?;
    let text = format!(
        "worker.concurrency = {concurrency}\nworker.sender_concurrency = {concurrency}\n{text}"
    );
    std::fs::write(&ground.config, text).context("writing the settings")?;
    let mut processes = Vec::new();
    for hop in Hop::ALL {
        let arguments = ["bench", "relay", hop.name(), "--config", &config];
        processes.push((
            hop.name().to_owned(),
            Process::tool(&arguments, ground.log(hop.name()))?,
        ));
    }
    Ok(Running { ground, processes })
}

// === impl Running ===

impl Running {
    /// Waits until the processes are up: sends the text of an otherwise unused guest and waits for
    /// its answer.
    pub(super) async fn first_answer(&self) -> Result<()> {
        let one = Guests {
            casinos: 1,
            first: LAST_GUEST,
            count: 1,
        };
        play(self.ground.sim(), one, Pace::UnderWay(1))
            .await
            .context("the first text")?;
        Ok(())
    }

    /// Lets every guest write once. A first contact takes longer and must not be measured.
    pub(super) async fn introduce(&self, bench: &Bench) -> Result<()> {
        self.first_answer().await?;
        // Runs `vacuum analyze`, as autovacuum would within a minute. Without it, query plans would
        // be made for empty tables.
        for count in [bench.texts.min(100), bench.texts] {
            let guests = guests(bench, count);
            play(self.ground.sim(), guests, Pace::UnderWay(UNDER_WAY / 4))
                .await
                .context("the first contacts")?;
            self.ground.sql("vacuum analyze").await?;
        }
        Ok(())
    }

    /// Counts the requests to the servers per text. This takes a separate run, because counting
    /// costs time in Postgres.
    async fn asked(&self, bench: &Bench) -> Result<Asked> {
        let ground = &self.ground;
        for step in [
            "alter system set pg_stat_statements.track = 'top'",
            "select pg_reload_conf()",
        ] {
            ground.sql(step).await?;
        }
        sleep(Duration::from_secs(1)).await;
        let before = Asked::so_far(ground).await?;
        sleep(COUNTED_AT_REST).await;
        let idle = Asked::so_far(ground).await?.since(before);
        ground.sql("select pg_stat_statements_reset()").await?;
        let before = Asked {
            commits: 0.0,
            statements: 0.0,
            ..Asked::so_far(ground).await?
        };
        let began = Instant::now();
        let texts = play(
            self.ground.sim(),
            guests(bench, bench.texts.min(500)),
            Pace::UnderWay(UNDER_WAY / 4),
        )
        .await?;
        let texts = texts.shown().texts;
        let idle = idle.times(began.elapsed().as_secs_f64() / COUNTED_AT_REST.as_secs_f64());
        let asked = Asked::so_far(ground).await?.per_text(before, idle, texts);
        if bench.statements {
            usage::statements(ground, texts).await?;
        }
        for step in [
            "alter system set pg_stat_statements.track = 'none'",
            "select pg_reload_conf()",
        ] {
            ground.sql(step).await?;
        }
        Ok(asked)
    }

    pub(super) async fn saturate(&self, bench: &Bench) -> Result<(Shown, Busy)> {
        let before = self.taken();
        let run = play(
            self.ground.sim(),
            guests(bench, bench.texts),
            Pace::UnderWay(UNDER_WAY),
        )
        .await?;
        let after = self.taken();
        tracing::info!(took = ?run.took(), "saturated");
        Ok((run.shown(), Busy { before, after }))
    }

    async fn rates(&self, bench: &Bench, most: f64) -> Result<Vec<AtRate>> {
        let mut shown = Vec::new();
        for share in SHARES {
            let rate = most * share;
            shown.push(AtRate {
                share,
                rate,
                shown: self.at(bench, rate).await?,
            });
        }
        Ok(shown)
    }

    pub(super) async fn at(&self, bench: &Bench, rate: f64) -> Result<Shown> {
        let count = ((rate * bench.seconds as f64) as usize).clamp(1, bench.texts);
        sleep(Duration::from_secs(1)).await;
        let run = play(self.ground.sim(), guests(bench, count), Pace::Rate(rate)).await?;
        Ok(run.shown())
    }

    /// Returns the memory and CPU time of every process up to now, servers and load included.
    pub(super) fn taken(&self) -> BTreeMap<String, Taken> {
        let servers = &self.ground.servers;
        let server = [
            ("nats", servers.nats.pid()),
            ("redis", servers.redis.pid()),
            ("postgres", servers.postgres.pid()),
        ];
        let ours = self
            .processes
            .iter()
            .map(|(name, process)| (name.as_str(), process.pid()));
        let all = ours
            .chain(server)
            .chain([("load and carrier", Some(std::process::id()))]);
        all.filter_map(|(name, pid)| Some((name.to_owned(), taken(name, pid?))))
            .collect()
    }

    pub(super) async fn end(mut self) -> Result<()> {
        for (_, process) in &mut self.processes {
            process.kill().await;
        }
        let Ground {
            stack,
            servers,
            dir,
            ..
        } = self.ground;
        stack.stop().await?;
        clear(servers, &dir).await?;
        Ok(())
    }
}

fn taken(name: &str, pid: u32) -> Taken {
    if name == "postgres" {
        usage::of_tree(pid)
    } else {
        usage::of(pid)
    }
}

fn guests(bench: &Bench, count: usize) -> Guests {
    Guests {
        casinos: bench.casinos,
        first: 0,
        count,
    }
}

pub(super) struct Busy {
    before: BTreeMap<String, Taken>,
    after: BTreeMap<String, Taken>,
}

fn usage_of(
    rest: &BTreeMap<String, Taken>,
    rested: &BTreeMap<String, Taken>,
    busy: &Busy,
    texts: usize,
) -> BTreeMap<String, Usage> {
    let of =
        |map: &BTreeMap<String, Taken>, name: &String| map.get(name).copied().unwrap_or_default();
    let usage = |(name, after): (&String, &Taken)| {
        let idle = of(rested, name).cpu.saturating_sub(of(rest, name).cpu);
        let work = after.cpu.saturating_sub(of(&busy.before, name).cpu);
        let usage = Usage {
            resident_idle: of(rested, name).resident_bytes,
            resident_busy: after.resident_bytes,
            idle_percent: idle.as_secs_f64() / IDLE.as_secs_f64() * 100.0,
            cpu_ms_per_text: work.as_secs_f64() * 1_000.0 / texts.max(1) as f64,
        };
        (name.clone(), usage)
    };
    busy.after.iter().map(usage).collect()
}
