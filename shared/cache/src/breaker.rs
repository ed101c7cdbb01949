//! Circuit breakers by name, shared by the fleet: one for each (provider, model), one for each carrier (AGENT-68, PROD-9).
//!
//! Failures are counted in a rolling window, and a success does not clear it. In half-open, one
//! probe at a time decides, and two successful probes in a row close the breaker. A late outcome
//! changes nothing: a failure of an earlier call does not prolong the cooldown, and in half-open
//! only the probe's outcome counts. Time is the Redis server's. While Redis is away, each process
//! has a breaker of its own, which starts from the last known state of the shared one.

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

/// When a breaker opens, and what closes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BreakerSettings {
    /// Failures within the window that open it.
    pub failures: u32,
    /// How long a failure counts.
    pub window: Duration,
    /// How long it stays open before a probe.
    pub cooldown: Duration,
    /// Good probes in a row that close it.
    pub successes: u32,
}

/// The answer to "may I call?".
#[derive(Debug)]
pub enum Admission {
    /// Call, then hand the permit back with the outcome.
    Go(Permit),
    /// Do not call; asking again earlier than this is of no use.
    Refused { retry_in: Duration },
}

/// The right to one call.
#[derive(Debug)]
pub struct Permit {
    /// Identifies the call, so that a probe whose lease ran out cannot speak for its successor.
    token: String,
    probe: bool,
    /// Given while Redis was away.
    local: bool,
    moved: Option<Transition>,
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The callee is well.
    Success,
    /// The callee is not.
    Failure,
    /// The call says nothing about the callee; a probe only makes room for the next.
    Neutral,
}

/// A change of state, to be made visible (AGENT-70, PROD-11).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transition {
    /// The window is full.
    Opened { failures: u32 },
    /// The rest is over: one probe goes.
    HalfOpened,
    /// The probe failed; a new rest begins.
    Reopened,
    /// Enough probes were good.
    Closed,
}

impl Transition {
    /// The state it leads to, as a metric's label.
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
    /// Nobody calls for this long.
    Open(Duration),
    HalfOpen,
}

/// A breaker with a name; a cheap handle. Clones share the local stand-in.
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
        Self { failures: 5, window: Duration::from_secs(60), cooldown: Duration::from_secs(30), successes: 2 }
    }
}

// === impl Permit ===

impl Permit {
    /// True for the one call that tries whether the callee is back.
    pub fn is_probe(&self) -> bool {
        self.probe
    }

    /// Returns the transition that asking for this permit caused.
    pub fn transition(&self) -> Option<Transition> {
        self.moved
    }
}

// === impl Breaker ===

impl Cache {
    /// The breaker called `name`: the same one in every process. Keep the handle, it holds the local stand-in.
    pub fn breaker(&self, name: &str, settings: BreakerSettings) -> Breaker {
        let breaker = Breaker { cache: self.clone(), name: name.into(), settings, local: Arc::default() };
        self.breaker_names().insert(Arc::clone(&breaker.name));
        breaker
    }

    /// Returns the states, as Redis has them, of the breakers that this process uses; omits a
    /// breaker when Redis does not answer for it.
    pub async fn breaker_states(&self) -> Vec<(Arc<str>, BreakerState)> {
        let names: Vec<Arc<str>> = self.breaker_names().iter().cloned().collect();
        let mut states = Vec::new();
        for name in names {
            let breaker =
                Breaker { cache: self.clone(), name, settings: BreakerSettings::default(), local: Arc::default() };
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

    /// Asks for one call, which will have ended after `lease`: a probe that dies without a word blocks others no longer.
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
        self.told(Admission::Go(Permit { token, probe, local: false, moved }))
    }

    /// Hands a permit back. The transition, if any, happened because of this very outcome.
    pub async fn record(&self, permit: Permit, outcome: Outcome) -> Option<Transition> {
        let shared = if permit.local { None } else { script::record(self, &permit, outcome).await };
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

    /// Looks without changing anything.
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
            Transition::HalfOpened => tracing::info!(breaker, "breaker half open: one probe goes"),
            Transition::Closed => tracing::info!(breaker, "breaker closed"),
        }
    }
}
