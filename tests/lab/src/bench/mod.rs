//! `./scripts/bench`: measures the fleet, with one process per worker. Compares the fleet with a
//! bare relay on the same machine, whose processes only pass each text on.

mod consoles;
mod floor;
mod ground;
mod growth;
mod ingress;
mod isolation;
mod load;
mod measure;
mod options;
mod outages;
mod pipeline;
mod recovery;
mod report;
mod results;
mod slow;
mod start;
mod traces;
mod usage;
mod way;
mod web;

pub use options::{Bench, Hop};
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use seven::out;
use seven_settings::{Settings, dev_dir};

use self::{
    options::{Measured, Part},
    results::Results,
};

pub async fn run(config: Option<&std::path::Path>, bench: Bench) -> Result<ExitCode> {
    if let Some(Part::Relay { hop }) = bench.part {
        seven_telemetry::init(
            seven_telemetry::LogTarget::Stderr,
            "info,sqlx=warn,async_nats=warn",
        )?;
        Box::pin(floor::run(hop, &Settings::load(config)?)).await?;
        return Ok(ExitCode::SUCCESS);
    }
    if cfg!(debug_assertions) {
        out!(
            "This is an unoptimised build: its figures say little. ./scripts/bench builds an \
             optimised one."
        );
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
        std::fs::write(file, report::svg(pipeline))
            .with_context(|| format!("writing {}", file.display()))?;
    }
    std::fs::remove_dir_all(&dir).with_context(|| format!("removing {}", dir.display()))?;
    Ok(ExitCode::SUCCESS)
}

async fn parts(dir: &std::path::Path, bench: &Bench) -> Result<Results> {
    std::fs::create_dir_all(dir).with_context(|| format!("creating {}", dir.display()))?;
    let log = dir.join("bench.log");
    seven_telemetry::init(
        seven_telemetry::LogTarget::File(&log),
        "warn,sqlx=warn,async_nats=warn",
    )?;
    let wanted = |what| bench.wants(what);
    let pipeline = match wanted(Measured::Pipeline) {
        true => Some(Box::pin(pipeline::measure(dir, bench)).await?),
        false => None,
    };
    let ingress = match wanted(Measured::Ingress) {
        true => Some(
            Box::pin(ingress::measure(dir, bench.texts * 5))
                .await
                .context("ingress alone")?,
        ),
        false => None,
    };
    let slow = match wanted(Measured::Slow) {
        true => Some(Box::pin(slow::measure(dir)).await.context("slow callers")?),
        false => None,
    };
    let growth = match wanted(Measured::Growth) {
        true => Some(
            Box::pin(growth::measure(dir, bench))
                .await
                .context("growth")?,
        ),
        false => None,
    };
    let isolation = match wanted(Measured::Isolation) {
        true => Some(
            Box::pin(isolation::measure(dir, bench))
                .await
                .context("isolation")?,
        ),
        false => None,
    };
    let start = match wanted(Measured::Start) {
        true => Some(
            Box::pin(start::measure(dir, bench.casinos))
                .await
                .context("cold starts")?,
        ),
        false => None,
    };
    let traces = match wanted(Measured::Traces) {
        true => Some(
            Box::pin(traces::measure(dir, bench))
                .await
                .context("traces")?,
        ),
        false => None,
    };
    let consoles = match wanted(Measured::Consoles) {
        true => Some(
            Box::pin(consoles::measure(dir, bench))
                .await
                .context("consoles")?,
        ),
        false => None,
    };
    let web = match wanted(Measured::Web) {
        true => Some(Box::pin(web::measure(dir, bench)).await.context("web")?),
        false => None,
    };
    let recovery = match wanted(Measured::Recovery) {
        true => Some(
            Box::pin(recovery::measure(dir, bench))
                .await
                .context("recovery")?,
        ),
        false => None,
    };
    let cores = std::thread::available_parallelism()?.get();
    Ok(Results {
        commit: seven::COMMIT,
        cores,
        pipeline,
        ingress,
        slow,
        growth,
        isolation,
        start,
        traces,
        consoles,
        web,
        recovery,
    })
}
