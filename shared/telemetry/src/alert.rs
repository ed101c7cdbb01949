//! Alerts that a person must see now. Each alert is counted and logged at error level; the same
//! alert is logged at most once a minute. Alerts stay in memory until they are taken to the
//! channels. Raising an alert never waits.

use std::{
    collections::HashMap,
    sync::{LazyLock, Mutex, PoisonError},
    time::Duration,
};

use crate::metrics;

const LOG_PERIOD: Duration = Duration::from_secs(60);
/// Maximum number of alerts that wait to be taken; further ones are dropped. The same limit applies
/// to the alerts that are remembered as logged. If that limit is reached, all of them are forgotten
/// and may be logged again within the minute.
const REMEMBERED: usize = 1_024;

/// One alert. No field may hold personal data: no phone number, no guest's name, no words of an
/// SMS.
#[derive(Debug, Clone, Copy)]
pub struct Alert<'a> {
    /// The name of the problem, used as a label, such as `provider_stopped`.
    pub name: &'static str,
    /// The casino that the alert concerns; empty for the whole fleet.
    pub casino: &'a str,
    pub provider: &'a str,
    /// The provider's error code; may be empty.
    pub code: &'a str,
    /// One sentence that says what happened and what to do.
    pub text: &'a str,
}

type Key = (&'static str, String, String, String);
static SAID: LazyLock<Mutex<HashMap<Key, std::time::Instant>>> = LazyLock::new(Mutex::default);

/// All alerts with the same name, casino, provider and code that were raised since the last
/// [`take_raised`], merged into one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Raised {
    pub name: &'static str,
    pub casino: String,
    pub provider: String,
    pub code: String,
    /// The sentence of the first alert.
    pub text: String,
    /// How often the alert was raised; at least 1.
    pub times: u64,
}

/// The raised alerts that were not taken yet; at most [`REMEMBERED`] of them.
static WAITING: LazyLock<Mutex<HashMap<Key, Raised>>> = LazyLock::new(Mutex::default);

/// Takes all raised alerts. The caller gives those that it cannot deliver to [`put_back`].
pub fn take_raised() -> Vec<Raised> {
    std::mem::take(&mut *WAITING.lock().unwrap_or_else(PoisonError::into_inner))
        .into_values()
        .collect()
}

/// Stores undelivered alerts again, so that the next take returns them.
pub fn put_back(raised: Vec<Raised>) {
    raised.into_iter().for_each(wait);
}

fn wait(raised: Raised) {
    let key = (
        raised.name,
        raised.casino.clone(),
        raised.provider.clone(),
        raised.code.clone(),
    );
    let mut waiting = WAITING.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(same) = waiting.get_mut(&key) {
        same.times += raised.times;
    } else if waiting.len() < REMEMBERED {
        waiting.insert(key, raised);
    } else {
        metrics().alerts_dropped.inc();
    }
}

impl Alert<'_> {
    /// Counts and logs the alert, and queues it for the channels.
    pub fn raise(&self) {
        self.say();
        wait(Raised {
            name: self.name,
            casino: self.casino.to_owned(),
            provider: self.provider.to_owned(),
            code: self.code.to_owned(),
            text: self.text.to_owned(),
            times: 1,
        });
    }

    /// Counts and logs the alert, but does not queue it. For callers that file the alert
    /// themselves.
    pub fn say(&self) {
        metrics()
            .alerts
            .with_label_values(&[self.name, self.provider])
            .inc();
        if self.first_in_a_while() {
            let Self {
                name,
                casino,
                provider,
                code,
                text,
            } = *self;
            tracing::error!(alert = name, casino, provider, error_code = code, "{text}");
        }
    }

    fn first_in_a_while(&self) -> bool {
        let key = (
            self.name,
            self.casino.to_owned(),
            self.provider.to_owned(),
            self.code.to_owned(),
        );
        let now = std::time::Instant::now();
        let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
        if said
            .get(&key)
            .is_some_and(|at| now.duration_since(*at) < LOG_PERIOD)
        {
            return false;
        }
        if said.len() >= REMEMBERED {
            said.clear();
        }
        said.insert(key, now);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_alert_is_said_once_a_minute_and_counted_each_time() {
        let alert = Alert {
            name: "test_alert",
            casino: "a",
            provider: "p",
            code: "1",
            text: "look",
        };
        let counted = || {
            metrics()
                .alerts
                .with_label_values(&["test_alert", "p"])
                .get()
        };
        assert!(alert.first_in_a_while());
        assert!(!alert.first_in_a_while());
        assert!(
            Alert { code: "2", ..alert }.first_in_a_while(),
            "another code is another thing"
        );
        alert.raise();
        alert.raise();
        assert_eq!(counted(), 2);
    }

    #[test]
    fn what_is_raised_waits_once_per_key_and_comes_back_when_it_could_not_be_passed_on() {
        let alert = Alert {
            name: "test_waiting",
            casino: "a",
            provider: "p",
            code: "1",
            text: "look",
        };
        let taken = || {
            let (ours, others): (Vec<Raised>, Vec<Raised>) = take_raised()
                .into_iter()
                .partition(|raised| raised.name == "test_waiting");
            put_back(others);
            ours
        };
        (0..1_000).for_each(|_| alert.raise());
        Alert { code: "2", ..alert }.raise();
        let mut waiting = taken();
        waiting.sort_by_key(|raised| raised.times);
        assert_eq!(
            waiting
                .iter()
                .map(|raised| raised.times)
                .collect::<Vec<_>>(),
            [1, 1_000]
        );
        put_back(waiting);
        alert.raise();
        assert_eq!(
            taken().iter().map(|raised| raised.times).sum::<u64>(),
            1_002
        );
        assert!(taken().is_empty());
    }
}
