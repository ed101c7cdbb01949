//! `[web]`: the gateway for guests of the casinos' websites (D33).

use std::net::SocketAddr;

use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use url::Url;

use crate::{error::Faults, is_here};

/// Minimum length, in bytes, of a key that signs sessions (RFC 7518, section 3.2).
const LEAST_KEY_BYTES: usize = 32;

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Web {
    pub listen: SocketAddr,
    /// The gateway's base URL as browsers see it.
    pub public_url: Url,
    /// The id of the key that signs sessions (`token_key`), as tokens name it.
    pub token_key_id: String,
    pub token_key: Option<SecretString>,
    /// The id of the previous signing key, whose tokens are still accepted.
    pub former_token_key_id: Option<String>,
    pub former_token_key: Option<SecretString>,
    /// The key that programs must send with `POST /chat`; `None` lets everybody call it.
    pub api_key: Option<SecretString>,
    /// The casino for calls that name none.
    pub casino: Option<String>,
    /// Maximum number of messages and new sessions per minute from one address, counted together
    /// and over all gateways.
    pub requests_per_minute: u32,
    /// Longest time for which the stream of an answer stays open.
    pub answer_seconds: u64,
    /// Longest time that the body of a call may take to arrive.
    pub request_seconds: u64,
    pub head_seconds: u64,
    pub connections: usize,
    pub connections_per_address: usize,
    /// Time after which a stream is closed if its reader accepts no data.
    pub unread_seconds: u64,
}

impl Web {
    pub(crate) fn check(&self, faults: &mut Faults) {
        faults.need(
            is_here(&self.public_url) || self.public_url.scheme() == "https",
            "web.public_url",
            "guests' words would travel in plain text",
            "https://... (http:// only on this machine)",
        );
        let long = |key: &Option<SecretString>| {
            key.as_ref()
                .is_none_or(|key| key.expose_secret().len() >= LEAST_KEY_BYTES)
        };
        faults.need(
            long(&self.token_key) && long(&self.former_token_key),
            "web.token_key",
            "a shorter key can be guessed",
            "a random text of 32 characters or more",
        );
        faults.need(
            self.former_token_key.is_some() == self.former_token_key_id.is_some()
                && self.former_token_key_id.as_ref() != Some(&self.token_key_id),
            "web.former_token_key_id",
            "names no former key, or the present one",
            "the id and the key of the key before, or neither",
        );
        let limits = [
            (
                "web.requests_per_minute",
                u64::from(self.requests_per_minute),
            ),
            ("web.answer_seconds", self.answer_seconds),
            ("web.request_seconds", self.request_seconds),
            ("web.head_seconds", self.head_seconds),
            ("web.unread_seconds", self.unread_seconds),
            ("web.connections", self.connections as u64),
            (
                "web.connections_per_address",
                self.connections_per_address as u64,
            ),
        ];
        for (name, limit) in limits {
            faults.need(limit > 0, name, "nobody could be served", "1 or more");
        }
    }
}
