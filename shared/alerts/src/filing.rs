//! Writes the alerts that this process raised (`seven_telemetry::Alert`) to the table of alerts.
//! Until then a raised alert is held in memory, also while the database is unreachable.

use std::time::Duration;

use seven_runtime::Fleet;
use seven_store::{Result, alerts::NewAlert};
use seven_telemetry::{Raised, put_back, take_raised};
use tokio::time::{MissedTickBehavior, interval};

use crate::{key, policy};

const FILING_PERIOD: Duration = Duration::from_millis(500);

/// Files alerts every half second until the fleet's shutdown, and a last time after that.
pub async fn file(fleet: Fleet) {
    let mut ticks = interval(FILING_PERIOD);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let over = tokio::select! {
            () = fleet.shutdown.cancelled() => true,
            _ = ticks.tick() => false,
        };
        file_all(&fleet).await;
        if over {
            return;
        }
    }
}

/// Files the alerts that this process has raised. Alerts that cannot be written stay in memory for
/// the next call.
pub async fn file_all(fleet: &Fleet) {
    let mut raised = take_raised().into_iter();
    while let Some(each) = raised.next() {
        if let Err(error) = file_one(fleet, &each).await {
            tracing::debug!(
                error = &error as &dyn std::error::Error,
                "alerts could not be filed yet"
            );
            put_back(std::iter::once(each).chain(raised).collect());
            return;
        }
    }
}

/// Files one alert, or counts its repetitions if it is open already.
///
/// # Errors
/// Fails if the database does not accept the alert.
pub async fn file_one(fleet: &Fleet, raised: &Raised) -> Result<()> {
    let Raised {
        name,
        casino,
        provider,
        code,
        text,
        times,
    } = raised;
    // A worker for one casino may not write fleet-wide rows. It files a fleet-wide alert under its
    // casino.
    let casino = match fleet.roster.only() {
        [own] if casino.is_empty() => own.as_str(),
        _ => casino,
    };
    let severity = policy().severity(name);
    let minutes = policy().route(severity).ack_minutes;
    let new = NewAlert {
        alert_id: fleet.ids.uuid(),
        key: &key(name, casino, provider, code),
        name,
        casino,
        provider,
        code,
        severity,
        summary: text,
        standing: false,
        times: *times,
        ack_within: minutes.map(|minutes| Duration::from_secs(60 * u64::from(minutes))),
    };
    fleet.store.raise_alert(&new).await
}
