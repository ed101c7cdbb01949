//! `./scripts/bench`: what the fleet takes as separate processes, beside what a bare relay takes on the same machine (issue E).

mod floor;
mod ground;
mod growth;
mod ingress;
mod isolation;
mod load;
mod measure;
mod outages;
mod pipeline;
mod recovery;
mod report;
mod slow;
mod start;
mod traces;
mod usage;
mod way;

use std::{collections::BTreeMap, path::PathBuf, process::ExitCode};

use anyhow::{Context, Result, ensure};
use clap::builder::RangedU64ValueParser;
use serde::Serialize;
use seven::out;
use seven_settings::{Settings, dev_dir};

pub use floor::Hop;

#[derive(Debug, Clone, clap::Args)]
pub struct Bench {
    #[command(subcommand)]
    part: Option<Part>,
    /// Texts of each measurement of throughput, each of another guest; ingress alone takes five times as many webhooks.
    #[arg(long, value_name = "N", default_value_t = 2_000, value_parser = RangedU64ValueParser::<usize>::new().range(1..=50_000))]
    texts: usize,
    /// How long each rate of the latency measurements is held; --texts ends it earlier at high rates.
    #[arg(long, value_name = "SECONDS", default_value_t = 20, value_parser = RangedU64ValueParser::<u64>::new().range(1..))]
    seconds: u64,
    /// Casinos there are and guests write to, in pipeline, start and recovery; growth and isolation have figures of their own, ingress one.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = RangedU64ValueParser::<usize>::new().range(1..=10_000))]
    casinos: usize,
    /// Texts a second of the part `traces`; half of what the fleet takes by default.
    #[arg(long, value_name = "N")]
    rate: Option<f64>,
    /// Measure only these parts; all of them by default.
    #[arg(long, value_name = "WHAT", value_delimiter = ',')]
    only: Vec<Measured>,
    /// Pipeline: leave out the bare relay, and with it the ratio.
    #[arg(long)]
    no_floor: bool,
    /// Pipeline: once more with receipts, quiet window and typing delay as in production.
    #[arg(long)]
    as_in_production: bool,
    /// Pipeline: print the statements that took most of Postgres, counted in a run of their own.
    #[arg(long)]
    statements: bool,
    /// Write the results here as JSON too.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Pipeline: write a plot of the latencies over the rates.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

/// What can be measured alone; all of them by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Measured {
    /// The whole way of a text, beside the bare relay.
    Pipeline,
    /// Webhooks a second, beside a server that only verifies and publishes.
    Ingress,
    /// How long ingress takes to accept STOPs while 1 800 strangers send their calls slowly.
    Slow,
    /// From the start of a process to ready, and what it takes at rest.
    Start,
    /// 1 to 500 casinos, 1 000 to 1 000 000 guests.
    Growth,
    /// What the flood of one casino costs the guests of another, each with workers of its own.
    Isolation,
    /// Texts with one unbroken trace, and a collector that is away.
    Traces,
    /// How long guests wait when a worker or a server dies, and how long a backup and its restoring take.
    Recovery,
}

/// Everything measured, as JSON writes it.
#[derive(Debug, Serialize)]
struct Results {
    commit: &'static str,
    cores: usize,
    #[serde(flatten)]
    pipeline: Option<pipeline::Pipeline>,
    ingress: Option<ingress::Ingress>,
    slow: Option<slow::Slow>,
    growth: Option<growth::Growth>,
    isolation: Option<isolation::Isolation>,
    start: Option<BTreeMap<&'static str, start::Started>>,
    traces: Option<traces::Traces>,
    recovery: Option<recovery::Recovery>,
}

#[derive(Debug, Clone, clap::Subcommand)]
enum Part {
    /// One hop of the bare relay, as `./scripts/bench` starts it.
    #[command(hide = true)]
    Relay { hop: Hop },
}

impl Bench {
    fn wants(&self, part: Measured) -> bool {
        self.only.is_empty() || self.only.contains(&part)
    }
}

pub async fn run(config: Option<&std::path::Path>, bench: Bench) -> Result<ExitCode> {
    if let Some(Part::Relay { hop }) = bench.part {
        seven_telemetry::init(seven_telemetry::LogTarget::Stderr, "info,sqlx=warn,async_nats=warn")?;
        Box::pin(floor::run(hop, &Settings::load(config)?)).await?;
        return Ok(ExitCode::SUCCESS);
    }
    if cfg!(debug_assertions) {
        out!("This is an unoptimised build: its figures say little. ./scripts/bench builds an optimised one.");
    }
    ensure!(
        bench.svg.is_none() || bench.wants(Measured::Pipeline),
        "--svg is a plot of the pipeline, which --only leaves out; add pipeline there"
    );
    let dir = dev_dir().join(format!("bench-{}", std::process::id()));
    let results = Box::pin(parts(&dir, &bench)).await;
    let results = results.with_context(|| format!("measuring (logs: {})", dir.display()))?;
    report::print(&results);
    if let Some(file) = &bench.json {
        let text = serde_json::to_string_pretty(&results)? + "\n";
        std::fs::write(file, text).with_context(|| format!("writing {}", file.display()))?;
    }
    if let (Some(file), Some(pipeline)) = (&bench.svg, &results.pipeline) {
        std::fs::write(file, report::svg(pipeline)).with_context(|| format!("writing {}", file.display()))?;
    }
    std::fs::remove_dir_all(&dir).with_context(|| format!("removing {}", dir.display()))?;
    Ok(ExitCode::SUCCESS)
}

async fn parts(dir: &std::path::Path, bench: &Bench) -> Result<Results> {
    std::fs::create_dir_all(dir).with_context(|| format!("creating {}", dir.display()))?;
    let log = dir.join("bench.log");
    seven_telemetry::init(seven_telemetry::LogTarget::File(&log), "warn,sqlx=warn,async_nats=warn")?;
    let wanted = |what| bench.wants(what);
    let pipeline = match wanted(Measured::Pipeline) {
        true => Some(Box::pin(pipeline::measure(dir, bench)).await?),
        false => None,
    };
    let ingress = match wanted(Measured::Ingress) {
        true => Some(Box::pin(ingress::measure(dir, bench.texts * 5)).await.context("ingress alone")?),
        false => None,
    };
    let slow = match wanted(Measured::Slow) {
        true => Some(Box::pin(slow::measure(dir)).await.context("slow callers")?),
        false => None,
    };
    let growth = match wanted(Measured::Growth) {
        true => Some(Box::pin(growth::measure(dir, bench)).await.context("growth")?),
        false => None,
    };
    let isolation = match wanted(Measured::Isolation) {
        true => Some(Box::pin(isolation::measure(dir, bench)).await.context("isolation")?),
        false => None,
    };
    let start = match wanted(Measured::Start) {
        true => Some(Box::pin(start::measure(dir, bench.casinos)).await.context("cold starts")?),
        false => None,
    };
    let traces = match wanted(Measured::Traces) {
        true => Some(Box::pin(traces::measure(dir, bench)).await.context("traces")?),
        false => None,
    };
    let recovery = match wanted(Measured::Recovery) {
        true => Some(Box::pin(recovery::measure(dir, bench)).await.context("recovery")?),
        false => None,
    };
    let cores = std::thread::available_parallelism()?.get();
    Ok(Results { commit: seven::COMMIT, cores, pipeline, ingress, slow, growth, isolation, start, traces, recovery })
}
