//! Sends to a Slack-compatible incoming webhook: one POST of JSON, answered with `ok`. Mattermost
//! and Discord (`/slack`) accept the same format.

use reqwest::Client;
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};
use seven_domain::Severity;
use url::Url;

use super::{Action, Error, Notice, Notifier, TellFuture, post};
use crate::WEBHOOK;

pub struct Webhook {
    client: Client,
    /// The webhook's URL; secret, because anyone who knows it can post.
    url: Url,
}

impl std::fmt::Debug for Webhook {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Webhook").finish_non_exhaustive()
    }
}

impl Webhook {
    pub(super) fn new(client: Client, url: &SecretString) -> Result<Self, Error> {
        let url = Url::parse(url.expose_secret()).map_err(|_| Error::WebhookUrl)?;
        Ok(Self { client, url })
    }
}

impl Notifier for Webhook {
    fn channel(&self) -> &'static str {
        WEBHOOK
    }

    fn tell<'a>(&'a self, notice: &'a Notice) -> TellFuture<'a> {
        Box::pin(post(
            self.client.post(self.url.clone()).json(&message(notice)),
        ))
    }
}

/// Returns the message: `text` for notifications and simple servers, `blocks` for display in the
/// channel.
fn message(notice: &Notice) -> Value {
    let Notice {
        alert_id,
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
    let (icon, word) = match (notice.action, severity) {
        (Action::Resolve, _) => (":white_check_mark:", "RESOLVED"),
        (Action::Acknowledge, _) => (":eyes:", "IN HAND"),
        (Action::Trigger, Severity::Critical) => (":rotating_light:", "CRITICAL"),
        (Action::Trigger, Severity::Warning) => (":warning:", "WARNING"),
        (Action::Trigger, Severity::Info) => (":information_source:", "INFO"),
    };
    let whom = if casino.is_empty() {
        "the whole fleet"
    } else {
        casino
    };
    let head = format!("{icon} *{word}* {} ({})", escaped(name), escaped(whom));
    let mut small = format!("since {} | alert {alert_id}", since.format("%F %T UTC"));
    for (label, value) in [("provider", provider), ("code", code)] {
        if !value.is_empty() {
            small = format!("{small} | {label} {}", escaped(value));
        }
    }
    if *repeats > 0 {
        small = format!("{small} | came {repeats} more times");
    }
    // Slack accepts 3000 characters in a section, heading included.
    let body: String = escaped(summary).chars().take(2_500).collect();
    json!({
        "text": format!("{word} {} ({}): {body}", escaped(name), escaped(whom)),
        "blocks": [
            { "type": "section", "text": { "type": "mrkdwn", "text": format!("{head}\n{body}") } },
            { "type": "context", "elements": [{ "type": "mrkdwn", "text": small }] },
        ],
    })
}

/// Escapes the three characters that Slack reads as markup.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
