//! The log level of our own crates, which can be raised while the process runs (PROD-43).

use std::sync::OnceLock;

use seven_domain::LogLevel;
use tracing_subscriber::{EnvFilter, Registry, reload};

/// The prefix of our crates' names.
const OURS: &str = "seven";

/// The handle that changes the current filter, and the configured filter, which a reset restores.
static FILTER: OnceLock<Reloadable> = OnceLock::new();

struct Reloadable {
    configured: String,
    handle: reload::Handle<EnvFilter, Registry>,
}

/// Returns the layer with the configured filter: `RUST_LOG` if it is set and valid, otherwise
/// `configured`.
pub(crate) fn filter(configured: &str) -> reload::Layer<EnvFilter, Registry> {
    let from_env = std::env::var(EnvFilter::DEFAULT_ENV).ok();
    let configured = from_env
        .filter(|filter| EnvFilter::try_new(filter).is_ok())
        .unwrap_or_else(|| configured.to_owned());
    let (layer, handle) = reload::Layer::new(EnvFilter::new(&configured));
    // If this is not the first call, the first call's subscriber stays installed, so its handle
    // stays, too.
    drop(FILTER.set(Reloadable { configured, handle }));
    layer
}

/// Sets the log level of our crates; `None` restores the configured filter. The level of libraries
/// stays, because their DEBUG lines may quote a guest.
pub fn set_level(level: Option<LogLevel>) {
    let Some(Reloadable { configured, handle }) = FILTER.get() else {
        return;
    };
    let raised = level.map(|level| format!("{configured},{OURS}={level}"));
    let filter = EnvFilter::new(raised.as_deref().unwrap_or(configured));
    drop(handle.reload(filter));
}
