//! Logs, metrics and spans. None of them contains a phone number, a name or a text. Each label of a
//! metric has a bounded set of values.

mod alert;
mod level;
mod log;
mod metrics;
pub mod trace;

use std::{fs::File, path::Path, sync::Arc};

use tracing_subscriber::{EnvFilter, fmt, prelude::*};

pub use alert::{Alert, Raised, put_back, take_raised};
pub use level::set_level;
pub use metrics::{
    Content, Definition, Figures, Guests, LABELS, Metrics, Process, Texts, Timed, TimedVec, Web,
    code, definitions, metrics, render, render_open,
};

/// Where the log goes.
#[derive(Debug, Clone, Copy)]
pub enum LogTarget<'a> {
    /// JSON lines on standard error, for workers.
    Stderr,
    /// A file, for `./scripts/dev`, which uses the terminal to show a simulated phone.
    File(&'a Path),
    /// No log, for commands whose output is meant for a person.
    Off,
}

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("opening the log file")]
    LogFile(#[source] std::io::Error),
}

/// The log filter that applies if no settings are read: our crates from INFO up, libraries from
/// WARN up.
pub const FILTER: &str = "info,sqlx=warn,async_nats=warn,hyper=warn,hyper_util=warn,h2=warn,reqwest=warn,opentelemetry=warn";

/// Checks that a filter is valid; the error says why it is not.
pub fn check_filter(filter: &str) -> Result<(), String> {
    EnvFilter::try_new(filter)
        .map(drop)
        .map_err(|error| error.to_string())
}

/// Installs the log subscriber. `filter` applies unless `RUST_LOG` is set. A second call has no
/// effect.
pub fn init(target: LogTarget<'_>, filter: &str) -> Result<(), Error> {
    let registry = tracing_subscriber::registry().with(level::filter(filter));
    let installed = match target {
        LogTarget::Off => return Ok(()),
        LogTarget::Stderr => registry
            .with(
                fmt::layer()
                    .event_format(log::Json)
                    .with_writer(std::io::stderr),
            )
            .try_init(),
        LogTarget::File(path) => {
            let file = File::options()
                .create(true)
                .append(true)
                .open(path)
                .map_err(Error::LogFile)?;
            registry
                .with(
                    fmt::layer()
                        .event_format(log::Json)
                        .with_writer(Arc::new(file)),
                )
                .try_init()
        }
    };
    if installed.is_err() {
        tracing::debug!("a subscriber was installed before");
    }
    Ok(())
}
