//! `seven run` and `seven migrate`.

use std::path::Path;

use anyhow::{Context, Result};
use seven_domain::CasinoId;
use seven_store::Store;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::{
    ops::{self, Ops},
    settings::Settings,
    wiring::{self, Worker},
};

/// Runs one worker; the first SIGTERM or SIGINT drains it, a second one ends it at once.
pub async fn run(config: Option<&Path>, worker: Worker, casinos: Vec<CasinoId>) -> Result<()> {
    seven_telemetry::init(seven_telemetry::LogTarget::Stderr, "info,sqlx=warn,async_nats=warn")?;
    let settings = Settings::load(config)?;
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
        let mut ops = Ops::bind(settings.ops.listen, &[worker]).await;
        let fleet = wiring::fleet(&settings, casinos, std::time::Duration::from_secs(60), shutdown.clone()).await?;
        ops.watch(&fleet);
        ops::warm_up(&fleet, worker).await;
        let listener = wiring::listener(worker, &settings).await?;
        ops.serving();
        let (served, ()) = tokio::join!(
            wiring::run(worker, fleet.clone(), &settings, listener),
            fleet.roster.follow(&fleet.bus, shutdown.clone())
        );
        // Health and metrics until the work is done.
        drop(ops);
        served
    };
    tokio::select! {
        done = work => done,
        () = signals => anyhow::bail!("ended by a second signal before the drain was over"),
    }
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
