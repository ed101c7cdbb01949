//! What a person has to know now: counted, and one line at error level. The same alert about the same thing is said once a minute, so
//! that a storm does not bury it; the metric counts each.

use std::{
    collections::HashMap,
    sync::{LazyLock, Mutex, PoisonError},
    time::Duration,
};

use crate::metrics;

const QUIET: Duration = Duration::from_secs(60);
/// Remembered alerts; beyond this they are forgotten and said again.
const REMEMBERED: usize = 1_024;

/// One alert. No field holds a phone, a name or a text.
#[derive(Debug, Clone, Copy)]
pub struct Alert<'a> {
    /// What is wrong, as a label: `provider_stopped`, `providers_down` ...
    pub name: &'static str,
    /// Whose; empty for the whole fleet.
    pub casino: &'a str,
    pub provider: &'a str,
    /// The provider's error code, or empty.
    pub code: &'a str,
    /// What happened and what to do, in a sentence.
    pub text: &'a str,
}

type Key = (&'static str, String, String, String);
static SAID: LazyLock<Mutex<HashMap<Key, std::time::Instant>>> = LazyLock::new(Mutex::default);

impl Alert<'_> {
    pub fn raise(&self) {
        metrics().alerts.with_label_values(&[self.name, self.provider]).inc();
        if self.first_in_a_while() {
            let Self { name, casino, provider, code, text } = *self;
            tracing::error!(alert = name, casino, provider, error_code = code, "{text}");
        }
    }

    fn first_in_a_while(&self) -> bool {
        let key = (self.name, self.casino.to_owned(), self.provider.to_owned(), self.code.to_owned());
        let now = std::time::Instant::now();
        let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
        if said.get(&key).is_some_and(|at| now.duration_since(*at) < QUIET) {
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
        let alert = Alert { name: "test_alert", casino: "a", provider: "p", code: "1", text: "look" };
        let counted = || metrics().alerts.with_label_values(&["test_alert", "p"]).get();
        assert!(alert.first_in_a_while());
        assert!(!alert.first_in_a_while());
        assert!(Alert { code: "2", ..alert }.first_in_a_while(), "another code is another thing");
        alert.raise();
        alert.raise();
        assert_eq!(counted(), 2);
    }
}
