//! Runs each duty at its interval, and a duty's work for one casino after the other.

use std::{future::Future, panic::resume_unwind, time::Duration};

use seven_domain::CasinoId;
use seven_runtime::{Error, Fleet};
use seven_telemetry::metrics;
use tokio::{
    task::JoinSet,
    time::{Instant, MissedTickBehavior, interval, timeout},
};
use tracing::Instrument as _;

/// Returns the time limit for a round of a duty. A round that takes longer is ended; any round may
/// be cut off and run again.
pub(crate) fn longest(duty: &str) -> Duration {
    match duty {
        // The work of these duties grows with the fleet.
        "nightly" | "reconcile" | "delete" | "cost" | "read_again" | "sheets" => {
            Duration::from_secs(6 * 3_600)
        }
        // These duties claim rows and then signal them one by one. If a slow bus made a round end
        // early, rows would stay claimed without a signal.
        "sweep" | "due" | "campaigns" => Duration::from_secs(1_800),
        _ => Duration::from_secs(120),
    }
}

/// The duties of a scheduler, each in its own task, so that a waiting duty does not delay the
/// others. Long computations run on a blocking thread. In a task, they would delay other tasks on
/// the same thread.
pub(crate) struct Duties {
    fleet: Fleet,
    tasks: JoinSet<()>,
}

// === impl Duties ===

impl Duties {
    pub(crate) fn of(fleet: Fleet) -> Self {
        Self {
            fleet,
            tasks: JoinSet::new(),
        }
    }

    /// Starts a duty, which runs its round at this interval.
    pub(crate) fn add<F>(
        &mut self,
        duty: &'static str,
        period: Duration,
        round: impl Fn(Fleet) -> F + Send + Sync + 'static,
    ) where
        F: Future<Output = Result<(), Error>> + Send + 'static,
    {
        let rounds = every(self.fleet.clone(), duty, period, round);
        self.tasks.spawn(rounds.in_current_span());
    }

    /// Waits until the fleet shuts down and every round has ended. A panic in a duty is passed on
    /// and ends the worker.
    pub(crate) async fn finish(mut self) {
        while let Some(ended) = self.tasks.join_next().await {
            if let Err(error) = ended
                && let Ok(panic) = error.try_into_panic()
            {
                resume_unwind(panic);
            }
        }
    }
}

/// Runs one duty at its interval. A failed round is repeated at the next interval. If several
/// rounds in a row fail, only the first failure is logged.
async fn every<F>(fleet: Fleet, duty: &'static str, period: Duration, round: impl Fn(Fleet) -> F)
where
    F: Future<Output = Result<(), Error>>,
{
    let mut ticks = interval(period);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut failing = false;
    loop {
        tokio::select! {
            () = fleet.shutdown.cancelled() => return,
            _ = ticks.tick() => {}
        }
        let began = Instant::now();
        let outcome = match timeout(longest(duty), round(fleet.clone())).await {
            Ok(outcome) => outcome,
            Err(_) => Err(Error::Other("given up: it took too long".into())),
        };
        let ended = if outcome.is_ok() { "done" } else { "failed" };
        metrics()
            .rounds
            .with_label_values(&[duty, ended])
            .observe(began.elapsed().as_secs_f64());
        if let Err(error) = &outcome
            && !failing
        {
            tracing::warn!(
                duty,
                error = error as &dyn std::error::Error,
                "a round failed; the next round tries again"
            );
        }
        failing = outcome.is_err();
    }
}

/// Runs the work for one casino after the other. A failure at one casino does not stop the others.
pub(crate) async fn each<F>(
    casinos: Vec<CasinoId>,
    one: impl Fn(CasinoId) -> F,
) -> Result<(), Error>
where
    F: Future<Output = Result<(), Error>>,
{
    each_of(casinos, |casino| casino, one).await
}

/// Runs the work for each item; `whose` returns the item's casino. Failures are reported after all
/// items were tried; an unreachable store ends the round at once.
pub(crate) async fn each_of<T, F>(
    all: Vec<T>,
    whose: impl Fn(&T) -> &CasinoId,
    one: impl Fn(T) -> F,
) -> Result<(), Error>
where
    F: Future<Output = Result<(), Error>>,
{
    let mut failures = Vec::new();
    for each in all {
        let casino = whose(&each).clone();
        match one(each).await {
            Ok(()) => {}
            Err(error) if error.is_away() => return Err(error),
            Err(error) => failures.push((casino, error)),
        }
    }
    casinos_failed(failures)
}

pub(crate) fn casinos_failed(failures: Vec<(CasinoId, Error)>) -> Result<(), Error> {
    let failed = failures.len();
    match failures.into_iter().next() {
        Some((first, error)) => Err(Error::Casinos {
            failed,
            first,
            source: Box::new(error),
        }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::{error::Error as _, future::ready, sync::Mutex};

    use super::*;

    async fn round(trouble: impl Fn(&str) -> Option<Error>) -> (Vec<String>, Result<(), Error>) {
        let seen = Mutex::new(Vec::new());
        let casinos = ["one", "two", "three"].map(|casino| CasinoId::trusted(casino).unwrap());
        let ended = each(casinos.into(), |casino| {
            seen.lock().unwrap().push(casino.to_string());
            ready(trouble(casino.as_str()).map_or(Ok(()), Err))
        })
        .await;
        (seen.into_inner().unwrap(), ended)
    }

    #[tokio::test] // D16
    async fn one_casinos_trouble_is_not_the_next_ones() {
        let (seen, ended) = round(|_| None).await;
        assert!(seen.len() == 3 && ended.is_ok());
        let (seen, ended) = round(|casino| {
            (casino != "three").then(|| Error::Other(format!("{casino} is broken")))
        })
        .await;
        let error = ended.unwrap_err();
        assert_eq!(
            (seen.len(), error.to_string().as_str()),
            (3, "2 casino(s), one the first of them")
        );
        assert_eq!(error.source().unwrap().to_string(), "one is broken");
    }

    #[tokio::test] // D16
    async fn a_store_that_is_away_is_nobodys_trouble() {
        let away = || {
            Error::Bus(seven_bus::Error::AckTimeout {
                subject: "gate.one".into(),
            })
        };
        let (seen, ended) = round(|casino| (casino == "two").then(away)).await;
        assert_eq!(seen, ["one", "two"]);
        assert!(ended.unwrap_err().is_away());
    }
}
