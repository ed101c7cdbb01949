//! `seven log raise|list|reset`: raises the log level of running workers for a while.

use std::{process::ExitCode, time::Duration};

use anyhow::{Result, bail};
use clap::{Args, Subcommand};
use seven_domain::LogLevel;
use seven_settings::Worker;

use super::{
    args::{By, Json},
    capital,
    context::{Context, Operate},
    json_rows, minute,
};
use crate::out;

#[derive(Debug, Subcommand)]
pub enum Log {
    /// Raise the log level of running workers; it falls back by itself.
    ///
    /// Only log lines of the fleet's own code are affected; libraries keep their level. No line
    /// names or quotes a guest, at any level.
    Raise(Raise),
    /// List the levels that are raised now.
    List(Json),
    /// Put a level back before its time is over.
    Reset(Reset),
}

#[derive(Debug, Args)]
pub struct Raise {
    /// The level: debug or trace.
    #[arg(long, default_value = "debug")]
    level: LogLevel,
    /// The worker, such as compliance-gate. Without it: every worker.
    #[arg(long, value_name = "NAME")]
    worker: Option<Worker>,
    /// Number of minutes after which the level falls back: 1 to 30.
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=30))]
    minutes: u64,
    #[command(flatten)]
    by: By,
}

#[derive(Debug, Args)]
pub struct Reset {
    /// The worker. Without it: the level that was raised for every worker.
    #[arg(long, value_name = "NAME")]
    worker: Option<Worker>,
    #[command(flatten)]
    by: By,
}

impl Operate for Log {
    async fn run(self, ctx: &Context) -> Result<ExitCode> {
        let store = ctx.store()?;
        match self {
            Self::Raise(command) => {
                let Raise {
                    level,
                    worker,
                    minutes,
                    by,
                } = command;
                let span = Duration::from_secs(60 * minutes);
                let to = Some((level, span));
                let before = store.raise(name(worker), to, &by.by).await?;
                let before = before.map_or("the configured level", LogLevel::as_str);
                out!(
                    "{} write {level} within a second, for {minutes} minutes; before: {before}.",
                    capital(&told(worker))
                );
            }
            Self::List(Json { json }) => {
                let rows = store.raised().await?;
                if json {
                    json_rows(&rows)?;
                    return Ok(ExitCode::SUCCESS);
                }
                let mut table = ctx.table(["worker", "level", "until", "by"]);
                for row in rows {
                    let worker = Some(row.worker).filter(|worker| !worker.is_empty());
                    table.add_row([
                        worker.unwrap_or_else(|| "all".to_owned()),
                        row.level.to_string(),
                        minute(row.until_at),
                        row.actor,
                    ]);
                }
                out!("{table}");
            }
            Self::Reset(Reset { worker, by }) => {
                let before = store.raise(name(worker), None, &by.by).await?;
                if before.is_none() {
                    bail!(
                        "no level is raised for {}; `seven log list` shows those that are",
                        told(worker)
                    );
                }
                out!(
                    "{} write the configured level again.",
                    capital(&told(worker))
                );
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Returns the worker's name in the database; an empty name stands for every worker.
fn name(worker: Option<Worker>) -> &'static str {
    worker.map_or("", Worker::name)
}

fn told(worker: Option<Worker>) -> String {
    worker.map_or_else(
        || "all workers".to_owned(),
        |worker| format!("workers called {}", worker.name()),
    )
}
