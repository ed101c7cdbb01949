//! `seven run`, `seven migrate` and `seven stand-by`: run a worker, apply migrations, and wait for
//! a signal.

use std::{process::ExitCode, time::Duration};

use anyhow::{Context as _, Result, ensure};
use seven_domain::CasinoId;
use seven_runtime::Fleet;
use seven_settings::Worker;
use seven_store::{
    Store,
    keyed::KeyMatch,
    schema::{self, Standing},
};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use super::context::{Context, Operate};
use crate::{
    ops::{self, Ops},
    traces,
    wiring::{self, Nats},
};

#[derive(Debug, clap::Args)]
pub struct Run {
    /// Name of the worker.
    worker: Worker,
    /// The casino's id, as `seven casino list` shows it; may be given several times. Without it:
    /// all casinos.
    #[arg(long = "casino", value_name = "ID")]
    casinos: Vec<CasinoId>,
}

#[derive(Debug, clap::Args)]
pub struct Migrate {
    /// Print what would be applied, and apply nothing; exit with 1 if there is anything to apply.
    #[arg(long)]
    check: bool,
}

#[derive(Debug, clap::Args)]
pub struct StandBy {}

impl Operate for Run {
    async fn run(self, ctx: &Context) -> Result<ExitCode> {
        serve(ctx, self.worker, self.casinos).await?;
        Ok(ExitCode::SUCCESS)
    }
}

impl Run {
    /// Returns true if the worker serves only the casinos that were named.
    pub(crate) fn has_own_casinos(&self) -> bool {
        !self.casinos.is_empty()
    }
}

/// Runs one worker until a SIGTERM or SIGINT. The first signal lets the worker finish its work, a
/// second one ends the process at once.
async fn serve(ctx: &Context, worker: Worker, casinos: Vec<CasinoId>) -> Result<()> {
    let settings = ctx.settings()?;
    seven_telemetry::init(seven_telemetry::LogTarget::Stderr, &settings.telemetry.log)?;
    let only = casinos.clone();
    let shutdown = CancellationToken::new();
    let (mut term, mut int) = (
        signal(SignalKind::terminate())?,
        signal(SignalKind::interrupt())?,
    );
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
        let settings = wiring::settings_of(worker, settings)?;
        let fleet = wiring::fleet(&settings, casinos, nats_for(worker), shutdown.clone()).await?;
        ops.watch(&fleet);
        new_enough(&fleet.store).await?;
        suits(&fleet.store, worker, &only).await?;
        finds_guests(&fleet).await?;
        ops::warm_up(&fleet, worker).await;
        let listener = wiring::listener(worker, &settings).await?;
        let traces = traces::start(&settings, &fleet.bus, &service(worker))?;
        ops.serving();
        // If the worker ends or refuses to work, the process ends too. Otherwise the process would
        // still look ready.
        let served = async {
            let served = wiring::run(worker, fleet.clone(), &settings, listener).await;
            shutdown.cancel();
            served
        };
        let follow = fleet.roster.follow(&fleet.bus, shutdown.clone());
        let (served, ()) = tokio::join!(served, follow);
        if let Some(traces) = traces {
            traces.flush(traces::FLUSH).await;
        }
        // Health and metrics are served until here, when the work is done.
        drop(ops);
        served
    };
    tokio::select! {
        done = work => done,
        () = signals => anyhow::bail!("ended by a second signal before the drain was over"),
    }
}

impl Operate for StandBy {
    async fn run(self, _: &Context) -> Result<ExitCode> {
        let (mut term, mut int) = (
            signal(SignalKind::terminate())?,
            signal(SignalKind::interrupt())?,
        );
        tokio::select! { _ = term.recv() => {}, _ = int.recv() => {} }
        Ok(ExitCode::SUCCESS)
    }
}

/// Returns whether a worker needs NATS to start. Ingress, scheduler, console and web gateway can
/// work without NATS: ingress, for example, spools texts. The other workers only consume from NATS.
fn nats_for(worker: Worker) -> Nats {
    match worker {
        Worker::IngressWebhook | Worker::Scheduler | Worker::Console | Worker::WebGateway => {
            Nats::Wanted(Duration::from_secs(5))
        }
        Worker::ComplianceGate
        | Worker::AgentSwarm
        | Worker::PersonaEnvelope
        | Worker::OutboundSender => Nats::Needed(Duration::from_secs(60)),
    }
}

/// Returns the service name on the spans of this worker's process.
fn service(worker: Worker) -> String {
    format!("seven-{}", worker.name())
}

/// Refuses an older database, which lacks columns that this build writes. A newer database is
/// accepted, because it only has more columns.
async fn new_enough(store: &Store) -> Result<()> {
    match store.schema().await {
        Ok(Standing::Older(version)) => anyhow::bail!(
            "the database has schema {version}, this build needs {}; run seven migrate with this \
             build first",
            schema::needed()
        ),
        Ok(Standing::Newer(version)) => {
            tracing::warn!(
                database = version,
                ours = schema::needed(),
                "the database is newer than this build; going on"
            );
            Ok(())
        }
        // An unreachable database does not prevent a worker's start.
        Ok(Standing::Same) | Err(_) => Ok(()),
    }
}

/// Fails if the database limits this login to one casino and the worker serves others. Without this
/// check the worker would fail later.
async fn suits(store: &Store, worker: Worker, casinos: &[CasinoId]) -> Result<()> {
    // An unreachable database does not prevent a worker's start.
    let Ok(login) = store.login().await else {
        return Ok(());
    };
    let Some(pinned) = login.pinned else {
        return Ok(());
    };
    ensure!(
        worker != Worker::Scheduler,
        "the database login {} serves {pinned} only, and the scheduler serves every casino; give \
         it the workers' own login",
        login.name
    );
    ensure!(
        casinos.len() == 1 && casinos[0].as_str() == pinned,
        "the database login {} serves {pinned} only; start it with --casino {pinned}",
        login.name
    );
    Ok(())
}

/// A starting worker checks its guest hash key against the guests of at most this many casinos.
const LOOKED_AT: usize = 5;

/// Fails if the guests were hashed with a different guest hash key. With the wrong key no opt-out
/// would be found (docs/rotation.md).
async fn finds_guests(fleet: &Fleet) -> Result<()> {
    for casino in fleet.roster.serving().iter().take(LOOKED_AT) {
        // An unreachable database does not prevent a worker's start.
        let Ok(mut tx) = fleet.store.bind(casino).await else {
            return Ok(());
        };
        let found = tx.found_with(&fleet.keys).await;
        drop(tx.commit().await);
        match found {
            Err(error) => {
                tracing::warn!(
                    %casino,
                    error = &error as &dyn std::error::Error,
                    "the guests' key was not checked"
                );
                return Ok(());
            }
            Ok(KeyMatch::Nobody) => {}
            Ok(KeyMatch::Ours) => return Ok(()),
            Ok(KeyMatch::AnotherSecret) => {
                anyhow::bail!(
                    "guest_hash.secret is not the one that guests of {casino} were hashed with; no \
                     opt-out would be found with it. Set the secret of before (docs/rotation.md)"
                )
            }
            Ok(KeyMatch::AnotherId(id)) => {
                anyhow::bail!(
                    "guest_hash.id is not that of the key that guests of {casino} stand under, \
                     which is {id}; no opt-out would be found with another key. Set id and secret \
                     of before (docs/rotation.md)"
                )
            }
        }
    }
    Ok(())
}

impl Operate for Migrate {
    async fn run(self, ctx: &Context) -> Result<ExitCode> {
        migrate(ctx, &self).await
    }
}

async fn migrate(ctx: &Context, command: &Migrate) -> Result<ExitCode> {
    let settings = ctx.settings()?;
    let owner = settings.postgres.owner_url.context(
        "setting postgres.owner_url is missing; migrations need the owner's connection, not the \
         app's",
    )?;
    let pending = Store::pending(&owner).await?;
    for each in &pending {
        crate::out!(
            "{}  {:04} {}",
            if command.check {
                "would apply"
            } else {
                "applying"
            },
            each.version,
            each.name
        );
    }
    if command.check && !pending.is_empty() {
        crate::out!(
            "{} migration(s) to apply. Running workers go on meanwhile, because migrations only \
             add.",
            pending.len()
        );
        return Ok(ExitCode::FAILURE);
    }
    if !command.check {
        Store::migrate(&owner).await?;
    }
    crate::out!("The database is up to date: schema {}.", schema::needed());
    Ok(ExitCode::SUCCESS)
}
