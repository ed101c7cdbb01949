//! Decides whether a worker is ready for work. This depends only on the stores that the worker
//! needs.

use std::{
    sync::{OnceLock, PoisonError, RwLock},
    time::Duration,
};

use serde::Serialize;
use serde_json::{Value, json};
use seven_cache::BreakerState;
use seven_runtime::Fleet;
use seven_settings::Worker;
use seven_telemetry::{Process, metrics};
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};

/// A result older than this is not trusted: the task that checks the stores is then in trouble.
const STALE: Duration = Duration::from_secs(15);
/// Number of failed checks in a row after which a store counts as unreachable; a single failure may
/// only mean that the store is busy.
const LOOKS: u32 = 2;

/// Whether each store answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub(crate) struct Stores {
    pub(crate) nats: bool,
    pub(crate) postgres: bool,
    pub(crate) redis: bool,
}

/// Returns whether a worker can do its work with these stores. Redis and the model are never
/// required, because nothing is lost without them.
fn can_work(worker: Worker, stores: Stores) -> bool {
    match worker {
        // Either store makes an event durable (D2).
        Worker::IngressWebhook => stores.nats || stores.postgres,
        // The web gateway stores messages like ingress, but also shows stored ones, so it needs
        // Postgres.
        Worker::WebGateway => stores.postgres,
        Worker::ComplianceGate
        | Worker::AgentSwarm
        | Worker::PersonaEnvelope
        | Worker::OutboundSender => stores.nats && stores.postgres,
        // The scheduler's due rows, spool and alerts are in Postgres. One of its duties is to
        // restore NATS.
        Worker::Scheduler => stores.postgres,
        // Without Postgres the console still shows a page that says so.
        Worker::Console => true,
    }
}

#[derive(Debug)]
pub(crate) struct Health {
    workers: Vec<Worker>,
    began: Instant,
    state: RwLock<State>,
}

#[derive(Debug, Default)]
struct State {
    serving: bool,
    draining: bool,
    looked: Option<(Stores, Instant)>,
    open_breakers: Vec<String>,
}

impl State {
    /// Returns the reason why `workers` must not get work; `None` if they may get it.
    fn refusal(&self, workers: &[Worker]) -> Option<&'static str> {
        match self.looked {
            _ if self.draining => Some("draining"),
            _ if !self.serving => Some("starting"),
            None => Some("starting"),
            Some((_, at)) if at.elapsed() > STALE => Some("checks_stale"),
            Some((stores, _)) if !workers.iter().all(|worker| can_work(*worker, stores)) => {
                Some("store_away")
            }
            Some(_) => None,
        }
    }
}

// === impl Health ===

impl Health {
    pub(crate) fn new(workers: Vec<Worker>) -> Self {
        Self {
            workers,
            began: Instant::now(),
            state: RwLock::default(),
        }
    }

    pub(crate) fn serve(&self) {
        self.change(|state| state.serving = true);
    }

    /// Returns whether the process is ready, and the facts that show it.
    pub(crate) fn ready(&self) -> (bool, Value) {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        let refusal = state.refusal(&self.workers);
        let status = if refusal.is_none() {
            "ready"
        } else {
            "not_ready"
        };
        (
            refusal.is_none(),
            json!({
                "status": status,
                "why": refusal,
                "checks": state.looked.map(|(stores, _)| stores),
            }),
        )
    }

    /// Returns a report for people: healthy, degraded or unhealthy. Degraded means that the process
    /// can work, but a store is unreachable or a circuit breaker is open.
    pub(crate) fn report(&self) -> (bool, Value) {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        let refusal = state.refusal(&self.workers);
        let stores = state.looked.map(|(stores, _)| stores);
        let all = stores
            == Some(Stores {
                nats: true,
                postgres: true,
                redis: true,
            });
        let status = match refusal {
            Some(_) => "unhealthy",
            None if all && state.open_breakers.is_empty() => "healthy",
            None => "degraded",
        };
        let uptime = (self.began.elapsed().as_secs_f64() * 10.0).round() / 10.0;
        let workers: Vec<String> = self
            .workers
            .iter()
            .map(|worker| worker.name().to_owned())
            .collect();
        let body = json!({
            "status": status, "why": refusal, "version": env!("CARGO_PKG_VERSION"),
            "commit": env!("SEVEN_COMMIT"), "workers": workers,
            "checks": stores, "open_breakers": state.open_breakers, "uptime_seconds": uptime,
            "start_seconds": metrics().process.start.get(),
        });
        (refusal.is_none(), body)
    }

    /// Checks the stores until the fleet's shutdown. Then the process finishes its work and counts
    /// as not ready.
    pub(crate) async fn watch(self: std::sync::Arc<Self>, fleet: Fleet) {
        let mut ticks = interval(fleet.timing.health_check());
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut missed = [0_u32; 3];
        loop {
            tokio::select! {
                biased;
                () = fleet.shutdown.cancelled() => break,
                _ = ticks.tick() => {}
            }
            tokio::select! {
                biased;
                () = fleet.shutdown.cancelled() => break,
                () = self.look(&fleet, &mut missed) => {}
            }
        }
        self.change(|state| state.draining = true);
    }

    async fn look(&self, fleet: &Fleet, missed: &mut [u32; 3]) {
        let answers: [bool; 3] = tokio::join!(
            timed("nats", fleet.bus.ready()),
            timed("postgres", fleet.store.ready()),
            timed("redis", fleet.cache.ready())
        )
        .into();
        let breakers = timeout(STORE_CHECK_TIMEOUT, fleet.cache.breaker_states())
            .await
            .unwrap_or_default();
        let first = self
            .state
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .looked
            .is_none();
        for (missed, answered) in missed.iter_mut().zip(answers) {
            *missed = if answered {
                0
            } else {
                missed.saturating_add(1)
            };
        }
        // In the first check one failure suffices, because no store has answered yet.
        let most = if first { 1 } else { LOOKS };
        let [nats, postgres, redis] = missed.map(|missed| missed < most);
        let stores = Stores {
            nats,
            postgres,
            redis,
        };
        export(fleet, stores);
        let mut open = Vec::new();
        for (name, state) in breakers {
            let value = match state {
                BreakerState::Closed => 0,
                BreakerState::HalfOpen => 1,
                BreakerState::Open(_) => 2,
            };
            metrics()
                .process
                .breakers
                .with_label_values(&[&*name])
                .set(value);
            if value == 2 {
                open.push(name.to_string());
            }
        }
        self.change(|state| {
            state.looked = Some((stores, Instant::now()));
            state.open_breakers = open;
        });
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        change(&mut state);
        let ready = state.refusal(&self.workers).is_none();
        metrics().process.ready.set(i64::from(ready));
        if ready {
            started();
        }
    }
}

/// Time limit for checking one store. A check that hung would leave an outdated result in force.
const STORE_CHECK_TIMEOUT: Duration = Duration::from_secs(3);

async fn timed(store: &str, check: impl Future<Output = bool>) -> bool {
    let began = Instant::now();
    let answered = timeout(STORE_CHECK_TIMEOUT, check).await.unwrap_or(false);
    metrics()
        .process
        .store_seconds
        .with_label_values(&[store])
        .set(began.elapsed().as_secs_f64());
    answered
}

/// Measures and logs, once, the time from the start of this process until it became ready.
fn started() {
    static SAID: OnceLock<()> = OnceLock::new();
    if let (Ok(()), Some(seconds)) = (SAID.set(()), Process::age()) {
        metrics().process.start.set(seconds);
        tracing::info!(start_seconds = seconds, "ready");
    }
}

fn export(fleet: &Fleet, stores: Stores) {
    let process = &metrics().process;
    for (name, up) in [
        ("nats", stores.nats),
        ("postgres", stores.postgres),
        ("redis", stores.redis),
    ] {
        process.stores.with_label_values(&[name]).set(i64::from(up));
    }
    let (idle, busy) = fleet.store.connections();
    for (state, n) in [("idle", idle), ("busy", busy)] {
        process
            .connections
            .with_label_values(&[state])
            .set(i64::try_from(n).unwrap_or(i64::MAX));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Stores = Stores {
        nats: true,
        postgres: true,
        redis: true,
    };

    fn state(stores: Stores) -> State {
        State {
            serving: true,
            looked: Some((stores, Instant::now())),
            ..State::default()
        }
    }

    #[tokio::test] // C-32
    async fn only_the_workers_own_stores_decide() {
        use Worker::{
            AgentSwarm, ComplianceGate, IngressWebhook, OutboundSender, PersonaEnvelope, Scheduler,
        };
        let rest = [ComplianceGate, AgentSwarm, PersonaEnvelope, OutboundSender];
        for (stores, ready, not) in [
            (ALL, Worker::ALL.to_vec(), vec![]),
            (
                Stores {
                    redis: false,
                    ..ALL
                },
                Worker::ALL.to_vec(),
                vec![],
            ),
            (
                Stores { nats: false, ..ALL },
                vec![IngressWebhook, Scheduler],
                rest.to_vec(),
            ),
            (
                Stores {
                    postgres: false,
                    ..ALL
                },
                vec![IngressWebhook],
                [&rest[..], &[Scheduler]].concat(),
            ),
            (
                Stores {
                    redis: true,
                    ..Stores::default()
                },
                vec![],
                Worker::ALL.to_vec(),
            ),
        ] {
            for worker in ready {
                assert_eq!(
                    state(stores).refusal(&[worker]),
                    None,
                    "{worker:?} with {stores:?}"
                );
            }
            for worker in not {
                assert_eq!(
                    state(stores).refusal(&[worker]),
                    Some("store_away"),
                    "{worker:?} with {stores:?}"
                );
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_start_a_drain_and_an_old_answer_are_not_ready() {
        let one = [Worker::IngressWebhook];
        assert_eq!(State::default().refusal(&one), Some("starting"));
        assert_eq!(
            State {
                serving: false,
                ..state(ALL)
            }
            .refusal(&one),
            Some("starting")
        );
        assert_eq!(
            State {
                draining: true,
                ..state(ALL)
            }
            .refusal(&one),
            Some("draining")
        );
        let looked = state(ALL);
        tokio::time::advance(STALE + Duration::from_secs(1)).await;
        assert_eq!(looked.refusal(&one), Some("checks_stale"));
    }

    #[tokio::test]
    async fn an_open_breaker_is_told_and_makes_nobody_unready() {
        let health = Health::new(vec![Worker::AgentSwarm]);
        *health.state.write().unwrap() = State {
            open_breakers: vec!["gemini/flash".to_owned()],
            ..state(ALL)
        };
        assert!(health.ready().0);
        assert_eq!(health.report().1["status"], "degraded");
    }
}
