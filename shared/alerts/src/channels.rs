//! The channels by which people are alerted. A channel makes one request per notice and does not
//! retry by itself; its error states the reason and whether a retry may help.

mod log;
mod pagerduty;
mod webhook;

use std::{future::Future, pin::Pin, sync::Arc, time::Duration};

use chrono::{DateTime, Utc};
use reqwest::{Client, RequestBuilder, Response, StatusCode, header::RETRY_AFTER};
use secrecy::SecretString;
use seven_domain::Severity;
use url::Url;
use uuid::Uuid;

pub use seven_store::alerts::NoticeAction as Action;

pub use self::{log::Log, pagerduty::PagerDuty, webhook::Webhook};

/// A notice about one alert, to be sent through a channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// The same for all notices of one alert; PagerDuty uses it as deduplication key.
    pub alert_id: Uuid,
    pub action: Action,
    pub name: String,
    /// Empty for an alert about the whole fleet.
    pub casino: String,
    pub provider: String,
    pub code: String,
    pub severity: Severity,
    /// One sentence of ours that states the event and the action to take.
    pub summary: String,
    /// Number of times that the alert was raised again after the first time.
    pub repeats: i64,
    pub since: DateTime<Utc>,
}

/// A notice that the channel did not accept.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct Untold {
    /// The reason. Contains no address, because a webhook's address is a secret.
    pub why: String,
    pub again: Again,
}

/// Whether and when a retry may help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Again {
    /// A retry cannot help: the same request would be refused again.
    Never,
    /// A retry may help. If the channel asked for a wait, the retry must not come before this time
    /// has passed.
    Later(Option<Duration>),
}

/// A future that resolves to the channel's answer in a few words.
pub type TellFuture<'a> = Pin<Box<dyn Future<Output = Result<String, Untold>> + Send + 'a>>;

/// A channel through which people are told of alerts.
pub trait Notifier: Send + Sync + std::fmt::Debug {
    /// The channel's name in routes, rows and labels.
    fn channel(&self) -> &'static str;
    fn tell<'a>(&'a self, notice: &'a Notice) -> TellFuture<'a>;
}

/// The channels of this fleet; the log is always one of them.
#[derive(Debug, Clone)]
pub struct Channels(Vec<Arc<dyn Notifier>>);

/// The settings of a fleet's channels. Addresses and keys are secrets.
#[derive(Debug, Clone)]
pub struct Settings {
    /// A Slack-compatible incoming webhook.
    pub slack_webhook_url: Option<SecretString>,
    pub pagerduty_routing_key: Option<SecretString>,
    pub pagerduty_url: Url,
    /// Timeout of one request.
    pub deadline: Duration,
}

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("alerts.slack_webhook_url is no URL")]
    WebhookUrl,
    #[error("building the HTTP client")]
    Client(#[from] reqwest::Error),
}

/// Maximum number of attempts to send one notice through one channel.
pub const MOST_TRIES: u32 = 8;

/// Returns the wait after `tries` failed attempts: 5 s after the first, then three times as long
/// each time, at most 20 minutes. If the channel asked for a longer wait, returns that one, but at
/// most an hour. `None` means to give up.
pub fn backoff(tries: u32, again: Again) -> Option<Duration> {
    let Again::Later(asked) = again else {
        return None;
    };
    let own = Duration::from_secs(
        5u64.saturating_mul(3u64.saturating_pow(tries.saturating_sub(1)))
            .min(1_200),
    );
    (tries < MOST_TRIES).then(|| own.max(asked.unwrap_or_default().min(Duration::from_secs(3_600))))
}

// === impl Channels ===

impl Channels {
    /// Creates the log channel, and each other channel whose address or key is set.
    ///
    /// # Errors
    /// Fails if an address is not a URL or TLS cannot be set up.
    pub fn new(settings: &Settings) -> Result<Self, Error> {
        let client = Client::builder()
            .timeout(settings.deadline)
            .connect_timeout(settings.deadline.min(Duration::from_secs(3)))
            .redirect(reqwest::redirect::Policy::none())
            .build()?;
        let mut all: Vec<Arc<dyn Notifier>> = vec![Arc::new(Log)];
        if let Some(url) = &settings.slack_webhook_url {
            all.push(Arc::new(Webhook::new(client.clone(), url)?));
        }
        if let Some(key) = &settings.pagerduty_routing_key {
            all.push(Arc::new(PagerDuty::new(
                client,
                settings.pagerduty_url.clone(),
                key.clone(),
            )));
        }
        Ok(Self(all))
    }

    /// Returns the names of the channels.
    pub fn names(&self) -> Vec<&'static str> {
        self.0.iter().map(|notifier| notifier.channel()).collect()
    }

    pub fn iter(&self) -> impl Iterator<Item = &dyn Notifier> {
        self.0.iter().map(AsRef::as_ref)
    }

    pub fn get(&self, channel: &str) -> Option<&dyn Notifier> {
        self.iter().find(|notifier| notifier.channel() == channel)
    }
}

// === shared by the HTTP channels ===

/// Sends one request. A status of 2xx is success; after 408, 429 or 5xx a retry may help.
///
/// # Errors
/// Fails when the channel did not accept the request.
pub async fn post(request: RequestBuilder) -> Result<String, Untold> {
    let response = request.send().await.map_err(|error| Untold {
        why: broken(&error),
        again: Again::Later(None),
    })?;
    let (status, asked) = (response.status(), asked(&response));
    // Keeps at most 160 characters of the response body, on one line.
    let body: String = response
        .text()
        .await
        .unwrap_or_default()
        .chars()
        .filter(|c| !c.is_control())
        .take(160)
        .collect();
    let answer = format!("HTTP {} {body}", status.as_u16());
    if status.is_success() {
        return Ok(answer.trim_end().to_owned());
    }
    let passes = status.is_server_error()
        || [StatusCode::TOO_MANY_REQUESTS, StatusCode::REQUEST_TIMEOUT].contains(&status);
    Err(Untold {
        why: answer.trim_end().to_owned(),
        again: if passes {
            Again::Later(asked)
        } else {
            Again::Never
        },
    })
}

fn asked(response: &Response) -> Option<Duration> {
    response
        .headers()
        .get(RETRY_AFTER)?
        .to_str()
        .ok()?
        .trim()
        .parse()
        .ok()
        .map(Duration::from_secs)
}

/// Describes the kind of the error without its URL, which is a secret.
fn broken(error: &reqwest::Error) -> String {
    let kind = if error.is_timeout() {
        "no answer before the deadline"
    } else if error.is_connect() {
        "connection refused or not established"
    } else {
        "connection broken"
    };
    kind.to_owned()
}

#[cfg(test)]
#[path = "channels_tests.rs"]
mod tests;
