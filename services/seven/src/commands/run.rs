//! `seven run` and `seven migrate`.

use std::path::Path;

use anyhow::{Context, Result};
use clap::ValueEnum;
use seven_domain::CasinoId;
use seven_store::Store;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::{
    settings::Settings,
    traces,
    wiring::{self, Worker},
};

/// Runs one worker; the first SIGTERM or SIGINT drains it, a second one ends it at once.
pub async fn run(config: Option<&Path>, worker: Worker, casinos: Vec<CasinoId>) -> Result<()> {
    let settings = Settings::load(config)?;
    seven_telemetry::init(seven_telemetry::LogTarget::Stderr, &settings.telemetry.log)?;
    let shutdown = CancellationToken::new();
    let (mut term, mut int) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    let stop = shutdown.clone();
    let signals = async move {
        for first in [true, false] {
            tokio::select! { _ = term.recv() => {}, _ = int.recv() => {} }
            if first {
                tracing::info!("draining");
                stop.cancel();
            }
        }
    };
    let work = async {
        let fleet = wiring::fleet(&settings, casinos, std::time::Duration::from_secs(60), shutdown.clone()).await?;
        let traces = traces::start(&settings, &fleet.bus, &service(worker))?;
        tracing::info!(?worker, "at work");
        let (served, ()) = tokio::join!(
            wiring::run(worker, fleet.clone(), &settings, None),
            fleet.roster.follow(&fleet.bus, shutdown.clone())
        );
        if let Some(traces) = traces {
            traces.flush(traces::FLUSH).await;
        }
        served
    };
    tokio::select! {
        done = work => done,
        () = signals => anyhow::bail!("ended by a second signal before the drain was over"),
    }
}

/// What the spans of this worker's process say they are of.
fn service(worker: Worker) -> String {
    let name = worker.to_possible_value().map(|value| value.get_name().to_owned());
    format!("seven-{}", name.unwrap_or_default())
}

pub async fn migrate(config: Option<&Path>) -> Result<()> {
    let settings = Settings::load(config)?;
    let owner = settings
        .postgres
        .owner_url
        .context("setting postgres.owner_url is missing; migrations need the owner's connection, not the app's")?;
    Store::migrate(&owner).await?;
    crate::out!("The database is up to date.");
    Ok(())
}
