//! `[telemetry]`, `[ops]`, `[alerts]`, `[notices]`: logs, metrics, alerts and notices, and where
//! they are sent.

use std::collections::HashMap;

use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use seven_domain::CasinoId;
use url::Url;

use crate::error::Faults;

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Telemetry {
    /// The log level of each component, in the syntax of `RUST_LOG`; that variable overrides this
    /// setting.
    pub log: String,
    /// The collector's base URL; if empty, no spans are exported.
    pub otlp_endpoint: String,
    /// The share of traces that is exported, 0 to 1; traces of failures, consent, guardrails and
    /// safety are always exported.
    pub sample: f64,
    /// Shares for single casinos, by id, which override `sample`; for example 0 for a casino that
    /// only serves load tests.
    pub sample_of: HashMap<CasinoId, f64>,
    /// Maximum number of spans that wait for the collector.
    pub queue: usize,
    pub environment: String,
}

/// The listener for health and metrics, meant only for the orchestrator and Prometheus.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ops {
    /// Port 0 picks a free port. If the address is in use, the worker runs without this listener.
    pub listen: std::net::SocketAddr,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Alerts {
    /// A Slack-compatible incoming webhook; secret, because anyone who knows it can post.
    pub slack_webhook_url: Option<SecretString>,
    /// The integration key of a PagerDuty service (Events API v2).
    pub pagerduty_routing_key: Option<SecretString>,
    pub pagerduty_url: Url,
}

/// How notices reach a casino's own people. The recipients are the casino's contacts.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Notices {
    /// The mail server, with its password: `smtps://user:password@host`.
    pub smtp_url: Option<SecretString>,
    /// The sender of mails, such as `Hey Seven <notices@example.com>`.
    pub mail_from: Option<String>,
    /// Whether the webhooks of contacts may be on this machine and without TLS; for development
    /// only.
    pub local: bool,
}

impl Telemetry {
    pub(crate) fn check(&self, faults: &mut Faults) {
        let is_share = |share: f64| (0.0..=1.0).contains(&share);
        faults.need(
            is_share(self.sample),
            "telemetry.sample",
            self.sample.to_string(),
            "0 to 1",
        );
        for (casino, share) in &self.sample_of {
            faults.need(
                is_share(*share),
                "telemetry.sample_of",
                format!("{share} for {casino}"),
                "0 to 1",
            );
        }
        faults.need(self.queue > 0, "telemetry.queue", "0", "at least 1");
        let endpoint = &self.otlp_endpoint;
        let is_http =
            || Url::parse(endpoint).is_ok_and(|url| matches!(url.scheme(), "http" | "https"));
        faults.need(
            endpoint.is_empty() || is_http(),
            "telemetry.otlp_endpoint",
            format!("`{endpoint}`"),
            "http:// or https:// and the collector's address",
        );
        if let Err(problem) = seven_telemetry::check_filter(&self.log) {
            faults.need(
                false,
                "telemetry.log",
                problem,
                "directives such as info,sqlx=warn",
            );
        }
    }
}

impl Notices {
    pub(crate) fn check(&self, is_here: bool, faults: &mut Faults) {
        faults.need(
            self.smtp_url.is_none() || self.mail_from.is_some(),
            "notices.mail_from",
            "missing, and there is a mail server",
            "the sender of mails, such as Hey Seven <notices@example.com>",
        );
        let here = |url: &SecretString| {
            Url::parse(url.expose_secret()).is_ok_and(|url| crate::is_here(&url))
        };
        let has_tls = self.smtp_url.as_ref().is_none_or(|url| {
            let text = url.expose_secret();
            text.starts_with("smtps://") || text.contains("tls=required") || here(url)
        });
        faults.need(
            has_tls,
            "notices.smtp_url",
            "the password would go in plain text",
            "smtps://user:password@host, or smtp://...?tls=required",
        );
        faults.need(
            !self.local || is_here,
            "notices.local",
            "true, and the providers' addresses are not on this machine",
            "false; true only with a simulated carrier",
        );
    }
}

impl Alerts {
    pub(crate) fn check(&self, faults: &mut Faults) {
        let url = self.slack_webhook_url.as_ref();
        faults.need(
            url.is_none_or(|url| Url::parse(url.expose_secret()).is_ok()),
            "alerts.slack_webhook_url",
            "no URL",
            "the address Slack shows for the incoming webhook",
        );
    }
}
