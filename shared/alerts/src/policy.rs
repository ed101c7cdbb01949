//! Severities, routes and thresholds, read from `data/alerts.toml`.

use std::{collections::BTreeMap, sync::LazyLock};

use serde::Deserialize;
use seven_domain::{CaseSeverity, Severity};

use crate::{
    LOG, PAGERDUTY, WEBHOOK,
    delivery::{Block, Threshold},
};

/// The channels and the deadline for alerts of one severity.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Route {
    pub channels: Vec<String>,
    /// Minutes within which a person must acknowledge; `None` if no acknowledgement is needed.
    pub ack_minutes: Option<u32>,
}

/// The contents of `data/alerts.toml`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    routes: BTreeMap<Severity, Route>,
    alerts: BTreeMap<String, Severity>,
    cases: BTreeMap<CaseSeverity, Severity>,
    /// The delivery figures that are checked for each hour.
    #[serde(rename = "figure")]
    pub figures: Vec<Threshold>,
    pub block: Block,
}

#[derive(Debug, thiserror::Error)]
enum Bad {
    #[error("alerts.toml cannot be read")]
    Toml(#[from] toml::de::Error),
    #[error("alerts.toml: {0}")]
    Value(String),
}

/// Returns the policy that is compiled into this build.
pub fn policy() -> &'static Policy {
    static POLICY: LazyLock<Policy> = LazyLock::new(|| {
        Policy::read(include_str!("../data/alerts.toml")).expect("the file holds, says a test")
    });
    &POLICY
}

impl Policy {
    fn read(text: &str) -> Result<Self, Bad> {
        let policy: Self = toml::from_str(text)?;
        for severity in Severity::ALL {
            let route = policy
                .routes
                .get(severity)
                .ok_or_else(|| Bad::Value(format!("severity {severity} has no route")))?;
            if let Some(odd) = route
                .channels
                .iter()
                .find(|name| ![LOG, WEBHOOK, PAGERDUTY].contains(&name.as_str()))
            {
                return Err(Bad::Value(format!(
                    "route {severity}: no channel is called {odd}"
                )));
            }
        }
        for figure in &policy.figures {
            if figure.below != (figure.critical < figure.warning) {
                return Err(Bad::Value(format!(
                    "{}: critical must lie beyond warning",
                    figure.alert
                )));
            }
        }
        Ok(policy)
    }

    /// Returns the severity of an alert. An alert whose name is not listed is a warning.
    pub fn severity(&self, alert: &str) -> Severity {
        self.alerts.get(alert).copied().unwrap_or(Severity::Warning)
    }

    /// Returns the severity of the alert about a case; `None` if cases of this severity raise no
    /// alert.
    pub fn case(&self, severity: CaseSeverity) -> Option<Severity> {
        self.cases.get(&severity).copied()
    }

    /// Returns the severities of cases that raise an alert.
    pub fn told_cases(&self) -> Vec<CaseSeverity> {
        self.cases.keys().copied().collect()
    }

    /// Returns the route of alerts of this severity; every severity has one.
    pub fn route(&self, severity: Severity) -> &Route {
        &self.routes[&severity]
    }

    /// Returns the routes as pairs of severity and channel. Leaves out channels that are not in
    /// `there`.
    pub fn pairs(&self, there: &[&str]) -> Vec<(Severity, String)> {
        let pairs = self
            .routes
            .iter()
            .flat_map(|(severity, route)| route.channels.iter().map(|c| (*severity, c.clone())));
        pairs
            .filter(|(_, channel)| there.contains(&channel.as_str()))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // SMS-55, C-47
    fn severities_go_where_the_specification_sends_them() {
        let policy = policy();
        let route = |name| policy.route(policy.severity(name));
        for (alert, channels, minutes) in [
            ("webhooks_lost", &[LOG, WEBHOOK][..], 30),
            ("a name of next year", &[LOG, WEBHOOK], 30),
            ("text_after_stop", &[LOG, WEBHOOK, PAGERDUTY], 5),
            ("provider_stopped", &[LOG, WEBHOOK, PAGERDUTY], 5),
            ("provider_breaker_open", &[LOG, WEBHOOK, PAGERDUTY], 5),
            ("carrier_block", &[LOG, WEBHOOK, PAGERDUTY], 5),
        ] {
            assert_eq!(route(alert).channels, channels, "{alert}");
            assert_eq!(route(alert).ack_minutes, Some(minutes), "{alert}");
        }
        assert_eq!(policy.case(CaseSeverity::Sev0), Some(Severity::Critical));
        assert_eq!(policy.case(CaseSeverity::Sev2), Some(Severity::Warning));
        assert_eq!(policy.case(CaseSeverity::Sev3), None, "the digest's");
        assert_eq!(
            policy.pairs(&[PAGERDUTY]),
            [(Severity::Critical, PAGERDUTY.to_owned())]
        );
    }

    #[test]
    fn a_file_that_does_not_hold_is_refused() {
        let good = include_str!("../data/alerts.toml");
        assert!(Policy::read(good).is_ok());
        for (from, to) in [
            ("[routes.info]\nchannels = [\"log\"]\n", ""),
            ("\"pagerduty\"]", "\"fax\"]"),
            ("critical = 0.90", "critical = 0.99"),
            ("[block]", "[blocks]"),
        ] {
            assert!(good.contains(from), "{from}");
            assert!(
                Policy::read(&good.replacen(from, to, 1)).is_err(),
                "{from} -> {to}"
            );
        }
    }
}
