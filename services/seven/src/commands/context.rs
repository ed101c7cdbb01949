//! The context that every operator's command gets, and the trait that every command implements.

use std::{path::PathBuf, process::ExitCode};

use anyhow::{Context as _, Result};
use seven_runtime::Fleet;
use seven_settings::{Settings, dev_file};
use seven_store::Store;
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;

use super::output::{Table, View};
use crate::wiring;

/// Log filter for the libraries of a command, which log to stderr. Warnings of sqlx are left out,
/// because a slow database does not concern the operator.
const LOG: &str = "warn,sqlx=error";
/// A command makes one short attempt to reach NATS; if that fails, it goes on without NATS.
const NATS_WANTED: wiring::Nats = wiring::Nats::Wanted(std::time::Duration::ZERO);

/// A command of `seven` with its arguments.
pub(crate) trait Operate {
    /// Runs the command. Results go to stdout.
    ///
    /// # Errors
    /// The program prints the error and exits with 1.
    async fn run(self, ctx: &Context) -> Result<ExitCode>;
}

/// The settings and the fleet that a command works with, and how it shows results.
#[derive(Debug)]
pub(crate) struct Context {
    config: Option<PathBuf>,
    pub(crate) view: View,
    /// Builds the command line, for `completion` and `man`.
    pub(crate) grammar: fn() -> clap::Command,
    fleet: OnceCell<Fleet>,
}

impl Context {
    pub(crate) fn new(config: Option<PathBuf>, view: View, grammar: fn() -> clap::Command) -> Self {
        Self {
            config,
            view,
            grammar,
            fleet: OnceCell::new(),
        }
    }

    /// Loads the settings: those of `--config`, of SEVEN_CONFIG, or of the fleet that
    /// ./scripts/dev runs.
    pub(crate) fn settings(&self) -> Result<Settings> {
        Ok(Settings::load(self.config.as_deref())?)
    }

    /// Returns a name by which people recognise the fleet: the source of its settings, and its
    /// database's host and name.
    pub(crate) fn fleet_name(&self) -> Result<String> {
        let named = self
            .config
            .clone()
            .or_else(|| std::env::var_os("SEVEN_CONFIG").map(PathBuf::from));
        let dev = dev_file();
        let source = match named.or_else(|| dev.exists().then_some(dev)) {
            Some(file) => file.display().to_string(),
            None => "the environment".to_owned(),
        };
        Ok(format!(
            "{source}, {}",
            crate::life::clients::place(&self.settings()?.postgres.url)
        ))
    }

    /// Returns the fleet; the first call connects it. Fails without Postgres. Without NATS, only
    /// warns: most commands need only the database, and operators need commands most during an
    /// outage.
    pub(crate) async fn fleet(&self) -> Result<&Fleet> {
        self.fleet.get_or_try_init(|| self.connect()).await
    }

    async fn connect(&self) -> Result<Fleet> {
        let fleet = self.handles().await?;
        let roster = fleet.store.roster().await;
        let roster = roster.context("Postgres does not answer; `seven status` shows what does")?;
        roster
            .into_iter()
            .for_each(|entry| fleet.roster.put(seven_scheduler::control(entry)));
        log()?;
        if !fleet.bus.ready().await {
            tracing::warn!("NATS does not answer; going on without it");
        }
        Ok(fleet)
    }

    /// Connects without any query, for commands that report which stores do not answer.
    pub(crate) async fn handles(&self) -> Result<Fleet> {
        wiring::handles(
            &self.settings()?,
            Vec::new(),
            NATS_WANTED,
            CancellationToken::new(),
        )
        .await
    }

    /// Connects to Postgres alone, as the workers' login.
    pub(crate) fn store(&self) -> Result<Store> {
        log()?;
        let settings = self.settings()?;
        super::casino::verify::store(&settings, &settings.postgres.url)
    }

    /// Returns an empty table with these columns.
    pub(crate) fn table<const N: usize>(&self, columns: [&str; N]) -> Table {
        Table::new(columns, self.view)
    }
}

/// Sends the logs of the command's libraries to stderr.
pub(crate) fn log() -> Result<()> {
    Ok(seven_telemetry::init(
        seven_telemetry::LogTarget::Stderr,
        LOG,
    )?)
}
