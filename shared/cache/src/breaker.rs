//! Circuit breakers by name, shared by the fleet: one for each hosted model and one for each SMS
//! provider.
//!
//! Failures are counted within a rolling window; a success does not remove them. In the half-open
//! state, test calls (probes) run one at a time. Then only the outcomes of probes count.
//!
//! While Redis is unreachable, each process uses a breaker of its own. It starts from the last
//! known state of the shared breaker.

mod local;
mod script;
#[cfg(test)]
mod tests;

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use uuid::Uuid;

use self::local::Local;
use crate::Cache;

/// The limits at which a breaker opens and closes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BreakerSettings {
    /// Number of failures within the window that opens the breaker.
    pub failures: u32,
    /// How long a failure counts towards `failures`.
    pub window: Duration,
    /// How long the breaker stays open before a probe.
    pub cooldown: Duration,
    /// Number of successful probes in a row that closes the breaker.
    pub successes: u32,
}

/// Answer to a request for permission to make a call.
#[derive(Debug)]
pub enum Admission {
    /// The caller may call, and must then give the permit back with the outcome
    /// ([`Breaker::record`]).
    Go(Permit),
    /// The caller must not call; asking again before `retry_in` is useless.
    Refused { retry_in: Duration },
}

/// The right to one call.
#[derive(Debug)]
pub struct Permit {
    /// Identifies the call. If a probe's lease has expired, its outcome must not count as that of a
    /// later probe.
    token: String,
    probe: bool,
    /// Whether the permit was granted locally, while Redis was unreachable.
    local: bool,
    moved: Option<Transition>,
}

/// Outcome of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The callee works.
    Success,
    /// The callee failed.
    Failure,
    /// The outcome says nothing about the callee. After a neutral probe, the next probe may run.
    Neutral,
}

/// A change of state, which callers log and count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transition {
    /// The number of failures in the window reached the limit.
    Opened { failures: u32 },
    /// The cooldown is over and one probe is permitted.
    HalfOpened,
    /// The probe failed; a new cooldown begins.
    Reopened,
    /// Enough probes succeeded.
    Closed,
}

impl Transition {
    /// Returns the new state, as a metric label.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Opened { .. } | Self::Reopened => "open",
            Self::HalfOpened => "half_open",
            Self::Closed => "closed",
        }
    }
}

/// The state of a breaker, for operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BreakerState {
    Closed,
    /// No call is permitted for this long.
    Open(Duration),
    HalfOpen,
}

/// A named breaker; cheap to clone. Clones share the local fallback.
#[derive(Debug, Clone)]
pub struct Breaker {
    cache: Cache,
    name: Arc<str>,
    settings: BreakerSettings,
    local: Arc<Mutex<Local>>,
}

// === impl BreakerSettings ===

impl Default for BreakerSettings {
    fn default() -> Self {
        Self {
            failures: 5,
            window: Duration::from_secs(60),
            cooldown: Duration::from_secs(30),
            successes: 2,
        }
    }
}

// === impl Permit ===

impl Permit {
    /// Returns whether this call is a probe, which tests if the callee works again.
    pub fn is_probe(&self) -> bool {
        self.probe
    }

    /// Returns the transition that the request for this permit caused, if any.
    pub fn transition(&self) -> Option<Transition> {
        self.moved
    }
}

// === impl Breaker ===

impl Cache {
    /// Returns the breaker called `name`; all processes share it. Callers should keep the handle,
    /// because it holds the local fallback.
    pub fn breaker(&self, name: &str, settings: BreakerSettings) -> Breaker {
        let breaker = Breaker {
            cache: self.clone(),
            name: name.into(),
            settings,
            local: Arc::default(),
        };
        self.breaker_names().insert(Arc::clone(&breaker.name));
        breaker
    }

    /// Returns the state in Redis of every breaker that this process uses. Leaves out those for
    /// which Redis does not answer.
    pub async fn breaker_states(&self) -> Vec<(Arc<str>, BreakerState)> {
        let names: Vec<Arc<str>> = self.breaker_names().iter().cloned().collect();
        let mut states = Vec::new();
        for name in names {
            let breaker = Breaker {
                cache: self.clone(),
                name,
                settings: BreakerSettings::default(),
                local: Arc::default(),
            };
            if let Some(state) = script::state(&breaker).await {
                states.push((breaker.name, state));
            }
        }
        states
    }
}

impl Breaker {
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Requests permission for one call, which must end within `lease`. After that time, a probe
    /// without an outcome no longer blocks others.
    pub async fn admit(&self, lease: Duration) -> Admission {
        let token = Uuid::now_v7().simple().to_string();
        let Some(answer) = script::admit(self, &token, lease).await else {
            let admission = self.local().admit(&token, lease);
            return self.told(admission);
        };
        self.local().follow(&answer, self.settings.cooldown);
        let (probe, moved) = match answer {
            script::Admitted::Closed => (false, None),
            script::Admitted::Probe { moved } => (true, moved.then_some(Transition::HalfOpened)),
            script::Admitted::Refused { retry_in } | script::Admitted::Probing { retry_in } => {
                return Admission::Refused { retry_in };
            }
        };
        self.told(Admission::Go(Permit {
            token,
            probe,
            local: false,
            moved,
        }))
    }

    /// Gives a permit back with the call's outcome. Returns the transition that this outcome
    /// caused, if any.
    pub async fn record(&self, permit: Permit, outcome: Outcome) -> Option<Transition> {
        let shared = if permit.local {
            None
        } else {
            script::record(self, &permit, outcome).await
        };
        let moved = match shared {
            Some(moved) => {
                self.local().heard(moved, self.settings.cooldown);
                moved
            }
            None => self.local().record(&permit, outcome, &self.settings),
        };
        self.tell(moved);
        moved
    }

    /// Reads the state without changing anything.
    pub async fn state(&self) -> BreakerState {
        match script::state(self).await {
            Some(state) => state,
            None => self.local().state(),
        }
    }

    fn local(&self) -> MutexGuard<'_, Local> {
        self.local.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn told(&self, admission: Admission) -> Admission {
        if let Admission::Go(permit) = &admission {
            self.tell(permit.moved);
        }
        admission
    }

    fn tell(&self, moved: Option<Transition>) {
        let Some(moved) = moved else { return };
        let (breaker, settings) = (&*self.name, &self.settings);
        match moved {
            Transition::Opened { failures } => {
                tracing::warn!(
                    breaker,
                    failures,
                    window_s = settings.window.as_secs(),
                    cooldown_s = settings.cooldown.as_secs(),
                    "breaker opened"
                );
            }
            Transition::Reopened => {
                tracing::warn!(
                    breaker,
                    cooldown_s = settings.cooldown.as_secs(),
                    "breaker opened again: the probe failed"
                );
            }
            Transition::HalfOpened => {
                tracing::info!(breaker, "breaker half open: one probe is allowed");
            }
            Transition::Closed => tracing::info!(breaker, "breaker closed"),
        }
    }
}
