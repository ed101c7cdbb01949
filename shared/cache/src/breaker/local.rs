//! The state machine of the breaker in this process, on the monotonic clock: the fallback while
//! Redis is unreachable.

use std::{collections::VecDeque, time::Duration};

use tokio::time::Instant;

use super::{
    Admission, BreakerSettings, BreakerState, Outcome, Permit, Transition, script::Admitted,
};

#[derive(Debug, Default)]
pub(super) struct Local {
    phase: Phase,
    /// Times of the failures in the window, oldest first; never more than the limit that opens the
    /// breaker.
    failures: VecDeque<Instant>,
}

#[derive(Debug, Default)]
enum Phase {
    #[default]
    Closed,
    Open {
        until: Instant,
    },
    Half {
        good: u32,
        probe: Option<(String, Instant)>,
    },
}

const LONGEST_RETRY_IN: Duration = Duration::from_secs(1);

impl Local {
    pub(super) fn admit(&mut self, token: &str, lease: Duration) -> Admission {
        let now = Instant::now();
        let mut moved = None;
        if let Phase::Open { until } = self.phase {
            if until > now {
                return Admission::Refused {
                    retry_in: until - now,
                };
            }
            self.phase = Phase::Half {
                good: 0,
                probe: None,
            };
            moved = Some(Transition::HalfOpened);
        }
        let probe = match &mut self.phase {
            Phase::Half {
                probe: Some((_, until)),
                ..
            } if *until > now => {
                return Admission::Refused {
                    retry_in: (*until - now).min(LONGEST_RETRY_IN),
                };
            }
            Phase::Half { probe, .. } => {
                *probe = Some((token.to_owned(), now + lease));
                true
            }
            Phase::Closed | Phase::Open { .. } => false,
        };
        Admission::Go(Permit {
            token: token.to_owned(),
            probe,
            local: true,
            moved,
        })
    }

    pub(super) fn record(
        &mut self,
        permit: &Permit,
        outcome: Outcome,
        settings: &BreakerSettings,
    ) -> Option<Transition> {
        if let Phase::Half { good, probe } = &mut self.phase {
            // Only the outcome of the probe that this fallback admitted counts. A probe that Redis
            // admitted before it became unreachable is ignored.
            if probe
                .as_ref()
                .is_none_or(|(token, _)| *token != permit.token)
            {
                return None;
            }
            *probe = None;
            return match outcome {
                Outcome::Failure => {
                    self.open(settings.cooldown);
                    Some(Transition::Reopened)
                }
                Outcome::Success => {
                    *good += 1;
                    (*good >= settings.successes).then(|| self.close())
                }
                Outcome::Neutral => None,
            };
        }
        if outcome != Outcome::Failure || matches!(self.phase, Phase::Open { .. }) {
            return None;
        }
        self.fail(settings)
    }

    /// Copies the shared breaker's state from an answer of Redis.
    pub(super) fn follow(&mut self, answer: &Admitted, cooldown: Duration) {
        match answer {
            Admitted::Closed if !matches!(self.phase, Phase::Closed) => drop(self.close()),
            Admitted::Closed => {}
            Admitted::Refused { retry_in } => self.open((*retry_in).min(cooldown)),
            Admitted::Probe { .. } | Admitted::Probing { .. } => {
                self.phase = Phase::Half {
                    good: 0,
                    probe: None,
                }
            }
        }
    }

    /// Applies the transition that Redis reported for an outcome.
    pub(super) fn heard(&mut self, moved: Option<Transition>, cooldown: Duration) {
        match moved {
            Some(Transition::Opened { .. } | Transition::Reopened) => self.open(cooldown),
            Some(Transition::Closed) => drop(self.close()),
            Some(Transition::HalfOpened) | None => {}
        }
    }

    pub(super) fn state(&self) -> BreakerState {
        match self.phase {
            Phase::Closed => BreakerState::Closed,
            Phase::Open { until } => match until.saturating_duration_since(Instant::now()) {
                Duration::ZERO => BreakerState::HalfOpen,
                left => BreakerState::Open(left),
            },
            Phase::Half { .. } => BreakerState::HalfOpen,
        }
    }

    fn fail(&mut self, settings: &BreakerSettings) -> Option<Transition> {
        let now = Instant::now();
        while self
            .failures
            .front()
            .is_some_and(|at| now.duration_since(*at) >= settings.window)
        {
            self.failures.pop_front();
        }
        self.failures.push_back(now);
        let failures = u32::try_from(self.failures.len()).unwrap_or(u32::MAX);
        if failures < settings.failures {
            return None;
        }
        self.open(settings.cooldown);
        Some(Transition::Opened { failures })
    }

    fn open(&mut self, cooldown: Duration) {
        self.failures.clear();
        self.phase = Phase::Open {
            until: Instant::now() + cooldown,
        };
    }

    fn close(&mut self) -> Transition {
        self.failures.clear();
        self.phase = Phase::Closed;
        Transition::Closed
    }
}
