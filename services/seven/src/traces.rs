//! Exports the spans of this process to the collector that the settings name.

use std::time::Duration;

use anyhow::{Context, Result};
use seven_bus::Bus;
use seven_otlp::Exporting;
use seven_settings::Settings;
use seven_telemetry::trace::Sample;
use url::Url;

/// Time limit for exporting the last spans at the end of a drain.
pub const FLUSH: Duration = Duration::from_secs(2);

/// Starts the export; None if the settings name no collector. `service` is the worker's service
/// name.
pub fn start(settings: &Settings, bus: &Bus, service: &str) -> Result<Option<Exporting>> {
    let ours = &settings.telemetry;
    if ours.otlp_endpoint.is_empty() {
        return Ok(None);
    }
    let settings = seven_otlp::Settings {
        endpoint: Url::parse(&ours.otlp_endpoint).context("reading telemetry.otlp_endpoint")?,
        sample: Sample {
            share: ours.sample,
            of: ours.sample_of.clone(),
        },
        room: ours.queue,
        service: service.to_owned(),
        version: concat!(env!("CARGO_PKG_VERSION"), "+", env!("SEVEN_COMMIT")).to_owned(),
        environment: ours.environment.clone(),
        instance: uuid::Uuid::new_v4().to_string(),
    };
    let (exporting, kept) = seven_otlp::start(&settings).context("setting up [telemetry]")?;
    let bus = bus.clone();
    tokio::spawn(async move {
        if let Err(error) = bus.share_kept(kept).await {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "traces to keep are not shared with other processes"
            );
        }
    });
    Ok(Some(exporting))
}
