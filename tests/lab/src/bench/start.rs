//! Measures the time from a process's start until its worker reports that it is ready. The servers
//! are running by then. Also measures the worker's use of memory and CPU when idle.

use std::{collections::BTreeMap, path::Path, time::Duration};

use anyhow::{Context, Result};
use serde::Serialize;
use seven_settings::Worker;
use tokio::time::{Instant, sleep};

use super::{
    ground::{Ground, Lay, clear},
    usage,
};
use crate::processes::Process;

const STARTS: usize = 5;
const READY_TIMEOUT: Duration = Duration::from_secs(30);
const REST: Duration = Duration::from_secs(10);
/// Time after which a started process is idle. The scheduler gets more time for each casino,
/// because its first rounds do the nightly work of all casinos.
const SETTLES: Duration = Duration::from_secs(2);
const SETTLES_PER_CASINO: Duration = Duration::from_millis(100);

#[derive(Debug, Clone, Serialize)]
pub(super) struct Started {
    /// The quickest and the slowest of five starts, in milliseconds.
    pub(super) ready_ms: (f64, f64),
    pub(super) resident_bytes: u64,
    /// Resident memory without the pages of the program's file.
    pub(super) own_bytes: u64,
    /// CPU use when idle, in percent of one core.
    pub(super) idle_percent: f64,
}

pub(super) async fn measure(dir: &Path, casinos: usize) -> Result<BTreeMap<&'static str, Started>> {
    let ground = Ground::lay(
        &dir.join("start"),
        Lay {
            casinos,
            as_in_production: true,
            receipts: false,
        },
    )
    .await?;
    let mut all = BTreeMap::new();
    for worker in Worker::ALL {
        let started = one(&ground, worker)
            .await
            .with_context(|| format!("starting {}", worker.name()))?;
        all.insert(worker.name(), started);
    }
    let Ground {
        stack,
        servers,
        dir,
        ..
    } = ground;
    stack.stop().await?;
    clear(servers, &dir).await?;
    Ok(all)
}

async fn one(ground: &Ground, worker: Worker) -> Result<Started> {
    let mut took = Vec::new();
    for n in 0..STARTS {
        let log = ground.log(&format!("{}-{n}", worker.name()));
        let mut process = Process::worker(worker, &ground.config, log.clone())?;
        took.push(ready(&log).await? * 1_000.0);
        if n + 1 < STARTS {
            process.kill().await;
            continue;
        }
        let pid = process.pid().context("it ended")?;
        let casinos = if worker == Worker::Scheduler {
            u32::try_from(ground.casinos.len())?
        } else {
            0
        };
        sleep(SETTLES + SETTLES_PER_CASINO * casinos).await;
        let before = usage::of(pid);
        sleep(REST).await;
        let after = usage::of(pid);
        process.kill().await;
        let idle = after.cpu.saturating_sub(before.cpu).as_secs_f64() / REST.as_secs_f64();
        took.sort_by(f64::total_cmp);
        let ready_ms = (took[0], took[took.len() - 1]);
        let (resident_bytes, own_bytes) = (after.resident_bytes, after.own_bytes);
        return Ok(Started {
            ready_ms,
            resident_bytes,
            own_bytes,
            idle_percent: idle * 100.0,
        });
    }
    anyhow::bail!("it was never started")
}

/// Waits for the worker's log line `ready`. Returns the seconds that the start took, according to
/// this line.
async fn ready(log: &Path) -> Result<f64> {
    let until = Instant::now() + READY_TIMEOUT;
    loop {
        let text = std::fs::read_to_string(log).unwrap_or_default();
        if let Some(seconds) = text.lines().find_map(seconds_of) {
            return Ok(seconds);
        }
        anyhow::ensure!(
            Instant::now() < until,
            "not ready within {} s",
            READY_TIMEOUT.as_secs()
        );
        sleep(Duration::from_millis(20)).await;
    }
}

fn seconds_of(line: &str) -> Option<f64> {
    let line: serde_json::Value = serde_json::from_str(line).ok()?;
    (line["message"] == "ready")
        .then(|| line["start_seconds"].as_f64())
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_workers_own_line_tells() {
        let line = r#"{"timestamp":"2026-11-23T04:00:00Z","severity":"INFO","message":"ready","start_seconds":0.14}"#;
        assert_eq!(seconds_of(line), Some(0.14));
        assert_eq!(seconds_of(r#"{"message":"warmed up","millis":3}"#), None);
        assert_eq!(seconds_of("not JSON"), None);
    }
}
