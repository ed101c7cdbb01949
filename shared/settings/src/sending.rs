//! `[telnyx]`, `[twilio]`, `[sending]`, `[limits]`: providers, and how fast texts go through them.

use secrecy::SecretString;
use serde::Deserialize;
use seven_domain::{TELNYX, TWILIO};
use url::Url;

use crate::error::Faults;

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

impl Sending {
    pub(crate) fn check(&self, twilio: &Twilio, faults: &mut Faults) {
        let known = |name: &String| match name.as_str() {
            TELNYX => true,
            TWILIO => twilio.account_sid.is_some(),
            _ => false,
        };
        faults.need(
            !self.providers.is_empty() && self.providers.iter().all(known),
            "sending.providers",
            format!("{:?}", self.providers),
            "telnyx, and twilio where twilio.account_sid is set",
        );
    }
}

impl Twilio {
    pub(crate) fn check(&self, faults: &mut Faults) {
        faults.need(
            self.account_sid.is_none() || !self.auth_tokens.is_empty(),
            "twilio.auth_tokens",
            "missing",
            "the account's auth token: it signs Twilio's webhooks",
        );
    }
}
