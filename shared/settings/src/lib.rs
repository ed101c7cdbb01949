//! Settings: commented defaults in the binary, one TOML file, environment on top; cross-field checks refuse to start. And the names of the
//! workers that read them.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};

use figment::{
    Figment,
    providers::{Env, Format, Toml},
};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use seven_domain::{CasinoId, HashKey, TELNYX, TWILIO};
use url::Url;

use self::{model::Provider, secrets::Secrets};

mod address;
mod error;
mod ingress;
pub mod model;
pub mod rotation;
mod secrets;
mod tls;
mod worker;

pub use self::{address::is_here, error::Error, ingress::Ingress, worker::Worker};

const DEFAULTS: &str = include_str!("../settings.default.toml");

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Nobody named a file or a folder of secrets, and no fleet runs beside this clone: these are the defaults.
    #[serde(skip)]
    of_no_fleet: bool,
    pub stores: Stores,
    pub nats: Nats,
    pub postgres: Postgres,
    pub redis: Redis,
    pub telnyx: Telnyx,
    pub twilio: Twilio,
    pub sending: Sending,
    pub limits: Limits,
    pub gate: Gate,
    pub alerts: Alerts,
    pub ingress: Ingress,
    pub ops: Ops,
    pub cost: seven_cost::Prices,
    pub guest_hash: GuestHash,
    pub backup: Backup,
    pub worker: Work,
    pub packs: Packs,
    pub model: model::Settings,
    /// Its fields are documented where the embedding is.
    pub knowledge: seven_llm::embedding::Settings,
    pub telemetry: Telemetry,
    pub time: Time,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Telemetry {
    /// The log level of each component, in the syntax of `RUST_LOG`, which overrides it.
    pub log: String,
    /// A collector's base address; empty: no spans.
    pub otlp_endpoint: String,
    /// The share of ordinary traces that is exported, 0 to 1.
    pub sample: f64,
    /// Of these casinos' traces instead, by id: 0 for one that load tests write to.
    pub sample_of: HashMap<CasinoId, f64>,
    /// Spans that may wait for the collector.
    pub queue: usize,
    pub environment: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stores {
    /// Those that may be reached on other machines without TLS.
    pub plaintext: Vec<tls::Store>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Nats {
    /// One address, or those of a cluster's servers with commas between them.
    pub url: String,
    /// The server's user of this worker; none where the server asks nobody.
    pub user: Option<String>,
    pub password: Option<SecretString>,
    /// Root certificates (PEM) that vouch for the server; with it a connection without TLS is refused.
    pub ca_file: Option<PathBuf>,
    pub replicas: usize,
    pub duplicate_window_seconds: u64,
    pub stream_bytes: u64,
    pub max_deliver: i64,
}

/// Commands that read standard input and write standard output: a program and its arguments. Empty: dumps are plain.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Backup {
    pub encrypt: Vec<String>,
    pub decrypt: Vec<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Postgres {
    pub url: SecretString,
    pub owner_url: Option<SecretString>,
    pub connections: u32,
    pub own_connections: u32,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Redis {
    pub url: String,
    pub prefix: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Telnyx {
    pub base_url: Url,
    pub webhook_url: Url,
    pub api_key: Option<SecretString>,
    pub public_keys: Vec<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Twilio {
    pub base_url: Url,
    /// Our webhook as Twilio reaches it and as its console has it: Twilio signs this address.
    pub webhook_url: Url,
    /// None: the fleet has no account there.
    pub account_sid: Option<String>,
    /// An API key's SID in place of the account's own; `api_key_secret` is its secret.
    pub api_key_sid: Option<String>,
    pub api_key_secret: Option<SecretString>,
    /// The primary token first, the secondary during a rotation. Signs webhooks; the first authenticates sends without an API key.
    pub auth_tokens: Vec<SecretString>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sending {
    /// The fleet's order of providers, for casinos that name none of their own.
    pub providers: Vec<String>,
    /// Segments per second of an account, by provider, where it is not the provider's usual figure.
    #[serde(default)]
    pub account_segments_per_second: std::collections::BTreeMap<String, u32>,
    /// Segments per second of the whole fleet; none: no limit of its own.
    #[serde(default)]
    pub segments_per_second: Option<u32>,
    /// Sender processes that may run at once: while Redis is away each keeps to its part of every limit.
    pub senders: u32,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Texts of all casinos that are answered in a minute: protection against a flood, not a quota.
    pub fleet_texts_per_minute: u32,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gate {
    /// Whether a language model in the gate's own process reads suspicious texts too (D20).
    pub second_reader: bool,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Alerts {
    /// A Slack-compatible incoming webhook; who knows it can post.
    pub slack_webhook_url: Option<SecretString>,
    /// The integration key of a PagerDuty service (Events API v2).
    pub pagerduty_routing_key: Option<SecretString>,
    pub pagerduty_url: Url,
}

/// Health and metrics, for the orchestrator and Prometheus alone.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ops {
    /// Port 0 takes a free one. An address in use costs the listener, not the worker.
    pub listen: std::net::SocketAddr,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GuestHash {
    pub id: i16,
    pub secret: Option<SecretString>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Work {
    pub concurrency: usize,
    pub sender_concurrency: usize,
    pub handler_deadline_seconds: u64,
    pub model_deadline_seconds: u64,
    pub index_megabytes: u64,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Packs {
    /// Empty for the compiled-in packs alone.
    pub directory: PathBuf,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Time {
    pub scale: f64,
    /// Share of quiet window and typing delay.
    pub pauses: f64,
    /// Starts the guests' and casinos' clock here (RFC 3339).
    pub at: Option<chrono::DateTime<chrono::Utc>>,
}

impl Postgres {
    /// Of a casino's own worker, or of one for all.
    pub fn connections_of(&self, own: bool) -> u32 {
        if own { self.own_connections } else { self.connections }
    }
}

impl Settings {
    /// Reads `file`, else `SEVEN_CONFIG`, else the settings that a running `./scripts/dev` left beside this clone, else defaults; then the
    /// secrets of the folder `SEVEN_SECRETS`, then the environment.
    pub fn load(file: Option<&Path>) -> Result<Self, Error> {
        let named = file.map(Path::to_path_buf).or_else(|| std::env::var_os("SEVEN_CONFIG").map(PathBuf::from));
        let secrets = std::env::var_os("SEVEN_SECRETS");
        let nothing = named.is_none() && secrets.is_none() && !dev_file().exists();
        let mut figment = Figment::from(Toml::string(DEFAULTS));
        match named {
            Some(path) if !path.exists() => return Err(Error::NoFile(path)),
            Some(path) => figment = figment.merge(Toml::file(path)),
            None => figment = figment.merge(Toml::file(dev_file())),
        }
        if let Some(folder) = secrets {
            figment = figment.merge(Secrets::read(Path::new(&folder))?);
        }
        let mut settings: Self = figment
            .merge(
                Env::prefixed("SEVEN_").split("__").ignore(&["config", "secrets"]).filter(|k| k.as_str().contains('.')),
            )
            .extract()
            .map_err(Box::new)?;
        settings.of_no_fleet = nothing;
        settings.check()?;
        Ok(settings)
    }

    /// Settings from a TOML text over the defaults; what `./scripts/dev` and the tests write for the fleets they start.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let settings: Self =
            Figment::from(Toml::string(DEFAULTS)).merge(Toml::string(text)).extract().map_err(Box::new)?;
        settings.check()?;
        Ok(settings)
    }

    fn check(&self) -> Result<(), Error> {
        let bad = |key, problem: String, expected| Err(Error::Bad { key, problem, expected });
        if !(0.0..=10.0).contains(&self.time.scale) {
            return bad("time.scale", self.time.scale.to_string(), "0 to 10");
        }
        if !(0.0..=1.0).contains(&self.time.pauses) {
            return bad("time.pauses", self.time.pauses.to_string(), "0 to 1");
        }
        if let Some(found) = tls::unencrypted(self) {
            return bad(found.key, "it is on another machine and asks for no TLS".to_owned(), found.expected);
        }
        if self.model.provider == Provider::Fixed && !self.sends_here() {
            return bad(
                "model.provider",
                "`fixed` says the same to everyone, and the providers' addresses are not on this machine".to_owned(),
                "offline, gemini or openai; fixed only with a simulated carrier",
            );
        }
        if self.worker.model_deadline_seconds >= self.worker.handler_deadline_seconds {
            return bad(
                "worker.model_deadline_seconds",
                self.worker.model_deadline_seconds.to_string(),
                "less than worker.handler_deadline_seconds",
            );
        }
        if !(0.0..=1.0).contains(&self.telemetry.sample) {
            return bad("telemetry.sample", self.telemetry.sample.to_string(), "0 to 1");
        }
        if let Some((casino, share)) = self.telemetry.sample_of.iter().find(|(_, share)| !(0.0..=1.0).contains(*share))
        {
            return bad("telemetry.sample_of", format!("{share} for {casino}"), "0 to 1");
        }
        if self.telemetry.queue == 0 {
            return bad("telemetry.queue", "0".to_owned(), "at least 1");
        }
        let endpoint = &self.telemetry.otlp_endpoint;
        if !endpoint.is_empty() && !Url::parse(endpoint).is_ok_and(|url| matches!(url.scheme(), "http" | "https")) {
            return bad(
                "telemetry.otlp_endpoint",
                format!("`{endpoint}`"),
                "http:// or https:// and the collector's address",
            );
        }
        if let Err(problem) = seven_telemetry::check_filter(&self.telemetry.log) {
            return bad("telemetry.log", problem, "directives such as info,sqlx=warn");
        }
        if !(0.0..=2.0).contains(&self.model.temperature) {
            return bad("model.temperature", self.model.temperature.to_string(), "0 to 2");
        }
        let known = |name: &String| match name.as_str() {
            TELNYX => true,
            TWILIO => self.twilio.account_sid.is_some(),
            _ => false,
        };
        if self.sending.providers.is_empty() || !self.sending.providers.iter().all(known) {
            return bad(
                "sending.providers",
                format!("{:?}", self.sending.providers),
                "telnyx, and twilio where twilio.account_sid is set",
            );
        }
        if self.twilio.account_sid.is_some() && self.twilio.auth_tokens.is_empty() {
            return bad("twilio.auth_tokens", "missing".into(), "the account's auth token: it signs Twilio's webhooks");
        }
        if self.alerts.slack_webhook_url.as_ref().is_some_and(|url| Url::parse(url.expose_secret()).is_err()) {
            return bad(
                "alerts.slack_webhook_url",
                "no URL".into(),
                "the address Slack shows for the incoming webhook",
            );
        }
        if let Some(key) = self.ingress.zero() {
            return bad(key, "a limit of 0 lets no call in".into(), "at least 1");
        }
        if self.nats.user.is_some() != self.nats.password.is_some() {
            return bad("nats.password", "user and password are not both set".into(), "both, or neither");
        }
        let Postgres { connections, own_connections, .. } = self.postgres;
        for (key, connections) in [("postgres.connections", connections), ("postgres.own_connections", own_connections)]
        {
            // The scheduler holds one for each casino's campaigns while it releases their texts through another.
            if connections < 2 {
                return bad(key, connections.to_string(), "at least 2");
            }
        }
        if self.worker.concurrency == 0 || self.worker.sender_concurrency == 0 {
            return bad("worker.concurrency", "0".into(), "at least 1");
        }
        Ok(())
    }

    /// True when whatever is sent stays on this machine.
    fn sends_here(&self) -> bool {
        is_here(&self.telnyx.base_url) && (self.twilio.account_sid.is_none() || is_here(&self.twilio.base_url))
    }

    /// As whom this worker connects to NATS.
    pub fn nats_access(&self) -> seven_bus::Access {
        seven_bus::Access {
            user: self.nats.user.clone().zip(self.nats.password.clone()),
            ca_file: self.nats.ca_file.clone(),
        }
    }

    pub fn hash_key(&self) -> Result<HashKey, Error> {
        if self.of_no_fleet && self.guest_hash.secret.is_none() {
            return Err(Error::NoFleet);
        }
        let secret = self.guest_hash.secret.clone().ok_or(Error::Bad {
            key: "guest_hash.secret",
            problem: "missing".into(),
            expected: "a random text of 32 characters or more, the same for all workers",
        })?;
        Ok(HashKey { id: self.guest_hash.id, secret })
    }
}

/// Where `./scripts/dev` leaves the settings of the fleet it runs, so that operators' commands find it.
pub fn dev_file() -> PathBuf {
    dev_dir().join("seven.toml")
}

pub fn dev_dir() -> PathBuf {
    std::env::var_os("SEVEN_DEV_DIR").map_or_else(|| PathBuf::from("target/dev"), PathBuf::from)
}

#[cfg(test)]
mod tests;
