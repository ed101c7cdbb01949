//! `seven run` and `seven migrate`.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use seven_domain::CasinoId;
use seven_store::Store;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::{
    settings::Settings,
    wiring::{self, Worker},
};

/// Runs one worker; the first SIGTERM or SIGINT drains it, a second one ends it at once.
pub async fn run(config: Option<&Path>, worker: Worker, casinos: Vec<CasinoId>) -> Result<()> {
    seven_telemetry::init(seven_telemetry::LogTarget::Stderr, "info,sqlx=warn,async_nats=warn")?;
    let settings = Settings::load(config)?;
    let only = casinos.clone();
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
        suits(&fleet.store, worker, &only).await?;
        tracing::info!(?worker, "at work");
        let (served, ()) = tokio::join!(
            wiring::run(worker, fleet.clone(), &settings, None),
            fleet.roster.follow(&fleet.bus, shutdown.clone())
        );
        served
    };
    tokio::select! {
        done = work => done,
        () = signals => anyhow::bail!("ended by a second signal before the drain was over"),
    }
}

/// Refuses a start that could only fail later: a database login of one casino serves that casino's stages.
async fn suits(store: &Store, worker: Worker, casinos: &[CasinoId]) -> Result<()> {
    // A database that is away keeps no worker from starting.
    let Ok(login) = store.login().await else { return Ok(()) };
    let Some(pinned) = login.pinned else { return Ok(()) };
    ensure!(
        worker != Worker::Scheduler,
        "the database login {} serves {pinned} only, and the scheduler serves every casino; give it the workers' own login",
        login.name
    );
    ensure!(
        casinos.len() == 1 && casinos[0].as_str() == pinned,
        "the database login {} serves {pinned} only; start it with --casino {pinned}",
        login.name
    );
    Ok(())
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
