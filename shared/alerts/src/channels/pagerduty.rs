//! Sends to PagerDuty's Events API v2, which triggers, acknowledges and resolves an incident by its
//! deduplication key.

use reqwest::Client;
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};
use seven_domain::Severity;
use url::Url;

use super::{Action, Notice, Notifier, TellFuture, post};
use crate::PAGERDUTY;

/// PagerDuty's limit for a summary, in characters.
const MOST_SUMMARY: usize = 1_024;

pub struct PagerDuty {
    client: Client,
    url: Url,
    routing_key: SecretString,
}

impl std::fmt::Debug for PagerDuty {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PagerDuty")
            .field("url", &self.url.as_str())
            .finish_non_exhaustive()
    }
}

impl PagerDuty {
    pub(super) fn new(client: Client, url: Url, routing_key: SecretString) -> Self {
        Self {
            client,
            url,
            routing_key,
        }
    }

    fn event(&self, notice: &Notice) -> Value {
        let mut event = json!({
            "routing_key": self.routing_key.expose_secret(),
            "event_action": notice.action.as_str(),
            "dedup_key": notice.alert_id.to_string(),
        });
        // PagerDuty needs only the key to acknowledge or resolve an incident.
        if notice.action == Action::Trigger {
            event["payload"] = payload(notice);
            event["client"] = json!("Hey Seven");
        }
        event
    }
}

fn payload(notice: &Notice) -> Value {
    let Notice {
        name,
        casino,
        provider,
        code,
        severity,
        summary,
        repeats,
        since,
        ..
    } = notice;
    let whom = if casino.is_empty() { "fleet" } else { casino };
    let summary: String = format!("[{whom}] {name}: {summary}")
        .chars()
        .take(MOST_SUMMARY)
        .collect();
    let severity = match severity {
        Severity::Critical => "critical",
        Severity::Warning => "warning",
        Severity::Info => "info",
    };
    json!({
        "summary": summary,
        "source": format!("seven-{whom}"),
        "severity": severity,
        "timestamp": since.to_rfc3339(),
        "component": if provider.is_empty() { "seven" } else { provider },
        "group": whom,
        "class": name,
        "custom_details": { "provider": provider, "error_code": code, "repeats": repeats },
    })
}

impl Notifier for PagerDuty {
    fn channel(&self) -> &'static str {
        PAGERDUTY
    }

    fn tell<'a>(&'a self, notice: &'a Notice) -> TellFuture<'a> {
        Box::pin(post(
            self.client.post(self.url.clone()).json(&self.event(notice)),
        ))
    }
}
