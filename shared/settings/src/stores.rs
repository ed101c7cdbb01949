//! `[stores]`, `[nats]`, `[postgres]`, `[redis]`, `[backup]`: where the fleet keeps things, and how it gets there.

use std::path::PathBuf;

use secrecy::SecretString;
use serde::Deserialize;

use crate::{error::Faults, tls};

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

/// Commands that read standard input and write standard output: a program and its arguments. Empty: dumps are plain.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Backup {
    pub encrypt: Vec<String>,
    pub decrypt: Vec<String>,
}

impl Postgres {
    /// Of a casino's own worker, or of one for all.
    pub fn connections_of(&self, own: bool) -> u32 {
        if own { self.own_connections } else { self.connections }
    }
}

impl Nats {
    pub(crate) fn check(&self, faults: &mut Faults) {
        let both = self.user.is_some() == self.password.is_some();
        faults.need(both, "nats.password", "user and password are not both set", "both, or neither");
    }
}

impl Postgres {
    pub(crate) fn check(&self, faults: &mut Faults) {
        let limits = [("postgres.connections", self.connections), ("postgres.own_connections", self.own_connections)];
        for (key, connections) in limits {
            // The scheduler holds one for each casino's campaigns while it releases their texts through another.
            faults.need(connections >= 2, key, connections.to_string(), "at least 2");
        }
    }
}
