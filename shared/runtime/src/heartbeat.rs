//! Writes a worker's heartbeat to Postgres and to NATS every second. `seven status` reads the
//! heartbeats from Postgres, or from NATS while Postgres is unreachable.

use std::time::Duration;

use seven_bus::events::WorkerBeat;
use seven_domain::LogLevel;
use seven_store::workers::Raised;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval};

use crate::Fleet;

const HEARTBEAT_PERIOD: Duration = Duration::from_secs(1);

/// Writes heartbeats until the fleet's shutdown, then removes the worker's row. While a store is
/// unreachable, only the heartbeats to that store are lost.
pub async fn beat(fleet: Fleet, name: &str) {
    let instance = format!(
        "{}-{}",
        std::process::id(),
        &fleet.ids.uuid().simple().to_string()[20..]
    );
    let stored = async {
        let (mut ticks, mut logs) = (seconds(), Logs::default());
        loop {
            ticks.tick().await;
            match fleet
                .store
                .beat(&instance, name, env!("CARGO_PKG_VERSION"))
                .await
            {
                Ok(raised) => logs.set(raised, Instant::now()),
                Err(error) => tracing::debug!(
                    error = &error as &dyn std::error::Error,
                    "the heartbeat could not be written"
                ),
            }
            logs.fall_back(Instant::now());
        }
    };
    let told = async {
        let (mut ticks, beat) = (
            seconds(),
            WorkerBeat {
                worker: name.to_owned(),
                instance: instance.clone(),
            },
        );
        loop {
            ticks.tick().await;
            fleet.bus.beat(&beat).await;
        }
    };
    // The two loops run concurrently, because a call to an unreachable database takes seconds to
    // fail.
    let beating = async { tokio::select!(() = stored => {}, () = told => {}) };
    fleet.shutdown.run_until_cancelled(beating).await;
    drop(fleet.store.sign_off(&instance, name).await);
}

/// The log level that an operator set for this process, and its expiry; `None` if there is none.
#[derive(Debug, Default)]
struct Logs(Option<(LogLevel, Instant)>);

impl Logs {
    /// Applies the log level read from the database; `None` restores the configured level.
    fn set(&mut self, raised: Option<Raised>, now: Instant) {
        let until =
            |raised: &Raised| now + Duration::try_from_secs_f64(raised.seconds).unwrap_or_default();
        let new = raised.map(|raised| (raised.level, until(&raised)));
        let level = |raised: Option<(LogLevel, Instant)>| raised.map(|(level, _)| level);
        let changed = level(new) != level(self.0);
        self.0 = new;
        match level(new) {
            Some(level) if changed => {
                seven_telemetry::set_level(Some(level));
                tracing::warn!(%level, "the log level was raised; it falls back by itself");
            }
            None if changed => told_back(),
            _ => {}
        }
    }

    /// Restores the configured level when the raised one expires, even if the database is
    /// unreachable.
    fn fall_back(&mut self, now: Instant) {
        if self.0.is_some_and(|(_, until)| until <= now) {
            self.0 = None;
            told_back();
        }
    }
}

fn told_back() {
    seven_telemetry::set_level(None);
    tracing::warn!("the log level is the configured one again");
}

fn seconds() -> Interval {
    let mut ticks = interval(HEARTBEAT_PERIOD);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raised(level: LogLevel, seconds: f64) -> Raised {
        Raised {
            worker: String::new(),
            level,
            until_at: chrono::DateTime::UNIX_EPOCH,
            actor: "ana".into(),
            seconds,
        }
    }

    #[tokio::test] // PROD-43
    async fn a_raised_level_falls_back_though_no_database_says_so() {
        let (mut logs, start) = (Logs::default(), Instant::now());
        logs.set(Some(raised(LogLevel::Debug, 60.0)), start);
        logs.fall_back(start + Duration::from_secs(59));
        assert_eq!(logs.0.map(|(level, _)| level), Some(LogLevel::Debug));
        logs.set(Some(raised(LogLevel::Trace, 10.0)), start);
        logs.fall_back(start + Duration::from_secs(10));
        assert_eq!(logs.0, None);
        logs.set(Some(raised(LogLevel::Debug, 60.0)), start);
        logs.set(None, start);
        assert_eq!(logs.0, None);
    }
}
