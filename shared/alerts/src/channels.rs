//! The channels by which people are alerted. A channel makes one request per notice and hides no
//! retries: its answer says what failed, and whether trying again helps.

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

pub use self::{log::Log, pagerduty::PagerDuty, webhook::Webhook};

/// The change of the alert that a notice reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    Trigger,
    Acknowledge,
    Resolve,
}

/// A message about one alert, for a channel to pass on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// The same for all notices of one alert: PagerDuty's deduplication key.
    pub alert_id: Uuid,
    pub action: Action,
    pub name: String,
    /// Empty: the whole fleet.
    pub casino: String,
    pub provider: String,
    pub code: String,
    pub severity: Severity,
    /// Our own sentence: what happened and what to do.
    pub summary: String,
    /// How often it came beyond the first time.
    pub repeats: i64,
    pub since: DateTime<Utc>,
}

/// The channel was not told.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct Untold {
    /// Holds no address: a webhook's is its secret.
    pub why: String,
    pub again: Again,
}

/// Whether to try again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Again {
    /// The same request would be refused again.
    Never,
    /// May pass later; not before this, where the channel named a time.
    Later(Option<Duration>),
}

/// The channel's answer in a few words.
pub type TellFuture<'a> = Pin<Box<dyn Future<Output = Result<String, Untold>> + Send + 'a>>;

/// A way to reach people.
pub trait Notifier: Send + Sync + std::fmt::Debug {
    /// The word in routes, rows and labels.
    fn channel(&self) -> &'static str;
    fn tell<'a>(&'a self, notice: &'a Notice) -> TellFuture<'a>;
}

/// The channels of this fleet; the log is always one.
#[derive(Debug, Clone)]
pub struct Channels(Vec<Arc<dyn Notifier>>);

/// The settings of a fleet's channels. Addresses and keys are secrets.
#[derive(Debug, Clone)]
pub struct Settings {
    /// A Slack-compatible incoming webhook.
    pub slack_webhook_url: Option<SecretString>,
    pub pagerduty_routing_key: Option<SecretString>,
    pub pagerduty_url: Url,
    /// For one request.
    pub deadline: Duration,
}

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("alerts.slack_webhook_url is no URL")]
    WebhookUrl,
    #[error("building the HTTP client")]
    Client(#[from] reqwest::Error),
}

/// Tries of one notice on one channel.
pub const MOST_TRIES: u32 = 8;

/// The wait before another try after `tries` failed ones: 5 s, three times as long each time, 20 minutes at most, and not before the
/// channel asked; none when it is given up.
pub fn backoff(tries: u32, again: Again) -> Option<Duration> {
    let Again::Later(asked) = again else { return None };
    let own = Duration::from_secs(5u64.saturating_mul(3u64.saturating_pow(tries.saturating_sub(1))).min(1_200));
    (tries < MOST_TRIES).then(|| own.max(asked.unwrap_or_default().min(Duration::from_secs(3_600))))
}

// === impl Action ===

impl Action {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Trigger => "trigger",
            Self::Acknowledge => "acknowledge",
            Self::Resolve => "resolve",
        }
    }

    /// Reads the word of a row.
    pub fn read(word: &str) -> Option<Self> {
        [Self::Trigger, Self::Acknowledge, Self::Resolve].into_iter().find(|action| action.as_str() == word)
    }
}

// === impl Channels ===

impl Channels {
    /// The log, and whatever has an address.
    ///
    /// # Errors
    /// When an address is none, or TLS cannot be set up.
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
            all.push(Arc::new(PagerDuty::new(client, settings.pagerduty_url.clone(), key.clone())));
        }
        Ok(Self(all))
    }

    /// The names of those that are there.
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

// === what the HTTP channels share ===

/// One request; a 2xx is the channel's yes, 408, 429 and 5xx may pass later.
async fn post(request: RequestBuilder) -> Result<String, Untold> {
    let response = request.send().await.map_err(|error| Untold { why: broken(&error), again: Again::Later(None) })?;
    let (status, asked) = (response.status(), asked(&response));
    // Never more of an answer than a line.
    let body: String =
        response.text().await.unwrap_or_default().chars().filter(|c| !c.is_control()).take(160).collect();
    let answer = format!("HTTP {} {body}", status.as_u16());
    if status.is_success() {
        return Ok(answer.trim_end().to_owned());
    }
    let passes =
        status.is_server_error() || [StatusCode::TOO_MANY_REQUESTS, StatusCode::REQUEST_TIMEOUT].contains(&status);
    Err(Untold { why: answer.trim_end().to_owned(), again: if passes { Again::Later(asked) } else { Again::Never } })
}

fn asked(response: &Response) -> Option<Duration> {
    response.headers().get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok().map(Duration::from_secs)
}

/// The error's kind without its URL, which is a secret.
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
