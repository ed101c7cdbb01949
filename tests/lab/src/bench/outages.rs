//! Measures the cost of an unreachable trace collector. One fleet runs at a constant rate, while
//! the collector is in turn up and away. Any other load on the machine then affects both states
//! alike. Also calculates from the spans how long a text spends in each step.

use std::{collections::BTreeSet, time::Duration};

use anyhow::{Context, Result};
use serde::Serialize;
use seven::out;
use seven_testkit::collector::{Collector, Mood};
use tokio::time::sleep;

use super::{
    load::{Guests, Pace, play},
    measure::Run,
    options::Bench,
    pipeline::Running,
    way::{self, Step},
};

/// Number of rounds; each round runs all of `STATES`.
const ROUNDS: usize = 6;
const STATES: [State; 4] = [State::Up, State::Gone, State::Up, State::Hangs];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Up,
    /// Nobody listens at the collector's address.
    Gone,
    /// The collector accepts connections and never answers.
    Hangs,
}

#[derive(Debug, Serialize)]
pub(super) struct Outages {
    /// Texts per second: half of the rate at which traces are checked. At higher rates queues would
    /// hide the cost of exporting spans.
    pub(super) rate: f64,
    pub(super) seen: Vec<Seen>,
    /// The time that a text spends in each step.
    pub(super) way: Vec<Step>,
}

/// Figures of the fleet while the collector is in one state.
#[derive(Debug, Serialize)]
pub(super) struct Seen {
    pub(super) collector: &'static str,
    pub(super) texts: usize,
    /// Latency from ingress's 2xx answer to the webhook until the carrier gets the first part of
    /// our answer, in milliseconds.
    pub(super) p50: f64,
    pub(super) p95: f64,
    /// Resident memory of all workers together after a round's texts, as the mean over the rounds.
    pub(super) resident_bytes: u64,
    pub(super) dropped: u64,
}

#[derive(Debug, Default)]
struct So {
    runs: Vec<Run>,
    resident: Vec<u64>,
    dropped: u64,
}

pub(super) async fn measure(
    running: &Running,
    bench: &Bench,
    rate: f64,
    collector: &Collector,
) -> Result<Outages> {
    let rate = rate / 2.0;
    let before = collector.spans().len();
    // Warms the fleet up, because a fleet that has just started is slower.
    let warm = Guests {
        casinos: bench.casinos,
        first: 0,
        count: bench.texts.min(200),
    };
    play(running.ground.sim(), warm, Pace::UnderWay(8)).await?;
    let count = ((rate * bench.seconds as f64) as usize / ROUNDS).clamp(1, bench.texts);
    out!(
        "traces: {ROUNDS} rounds of {count} texts at {rate:.0} a second, with the collector up, \
         gone, up and hanging"
    );
    let mut found: [So; 3] = Default::default();
    for state in (0..ROUNDS).flat_map(|_| STATES) {
        state.enter(collector);
        sleep(Duration::from_secs(1)).await;
        let dropped = dropped(running).await?;
        let guests = Guests {
            casinos: bench.casinos,
            first: 0,
            count,
        };
        let run = play(running.ground.sim(), guests, Pace::Rate(rate)).await?;
        let so = &mut found[state as usize];
        so.runs.push(run);
        so.resident.push(resident(running));
        so.dropped += self::dropped(running).await?.saturating_sub(dropped);
        if state == State::Gone {
            collector.come_back().await?;
        }
    }
    let seen = [State::Up, State::Gone, State::Hangs]
        .into_iter()
        .zip(found)
        .filter_map(|(s, so)| so.seen(s.name()));
    Ok(Outages {
        rate,
        seen: seen.collect(),
        way: way::of(&collector.spans()[before..]),
    })
}

/// Returns the resident memory of all workers together.
fn resident(running: &Running) -> u64 {
    let names: BTreeSet<&str> = running
        .processes
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    let taken = running.taken();
    taken
        .iter()
        .filter(|(name, _)| names.contains(name.as_str()))
        .map(|(_, taken)| taken.resident_bytes)
        .sum()
}

async fn dropped(running: &Running) -> Result<u64> {
    let mut dropped = 0.0;
    for (name, process) in &running.processes {
        let metrics = process
            .metrics()
            .await
            .with_context(|| format!("metrics of {name}"))?;
        let lines = metrics
            .lines()
            .filter(|line| line.starts_with("seven_spans_dropped_total{"));
        dropped += lines
            .filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok())
            .sum::<f64>();
    }
    Ok(dropped as u64)
}

// === impl State ===

impl State {
    fn name(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Gone => "gone",
            Self::Hangs => "hangs",
        }
    }

    fn enter(self, collector: &Collector) {
        match self {
            Self::Up => collector.be(Mood::Takes),
            Self::Gone => collector.leave(),
            Self::Hangs => collector.be(Mood::Silent),
        }
    }
}

// === impl So ===

impl So {
    fn seen(self, collector: &'static str) -> Option<Seen> {
        let shown = Run::together(self.runs)?.shown();
        Some(Seen {
            collector,
            texts: shown.texts,
            p50: shown.from_accepted.p50,
            p95: shown.from_accepted.p95,
            resident_bytes: self.resident.iter().sum::<u64>() / self.resident.len().max(1) as u64,
            dropped: self.dropped,
        })
    }
}
