//! `[telnyx]`, `[twilio]`, `[sending]`, `[limits]`: the providers, and the rates at which texts are
//! sent.

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
    /// Our webhook's URL exactly as configured in Twilio's console, because Twilio's signature
    /// covers it.
    pub webhook_url: Url,
    /// `None` if the fleet has no account at Twilio.
    pub account_sid: Option<String>,
    /// An API key's SID, used instead of the account's; `api_key_secret` is its secret.
    pub api_key_sid: Option<String>,
    pub api_key_secret: Option<SecretString>,
    /// The primary token, then the secondary during a rotation. They verify webhooks; if there is
    /// no API key, the first also authenticates requests to Twilio.
    pub auth_tokens: Vec<SecretString>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sending {
    /// The order of providers for casinos that do not set one.
    pub providers: Vec<String>,
    /// Segments per second that an account may send, by provider. Needed only if the account's
    /// limit differs from the provider's usual one.
    #[serde(default)]
    pub account_segments_per_second: std::collections::BTreeMap<String, u32>,
    /// Segments per second of the whole fleet; `None` means no limit.
    #[serde(default)]
    pub segments_per_second: Option<u32>,
    /// Maximum number of sender processes. While Redis is unreachable, each process divides every
    /// rate limit by this number.
    pub senders: u32,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Maximum number of texts per minute, over all casinos, that are answered. It protects against
    /// a flood and is not a quota.
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
