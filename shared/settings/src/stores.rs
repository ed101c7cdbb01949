//! `[stores]`, `[nats]`, `[postgres]`, `[redis]`, `[backup]`: the fleet's stores and how to connect
//! to them.

use std::path::PathBuf;

use secrecy::SecretString;
use serde::Deserialize;

use crate::{error::Faults, tls};

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stores {
    /// Stores on other machines that may be used without TLS.
    pub plaintext: Vec<tls::Store>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Nats {
    /// One address, or the addresses of a cluster's servers separated by commas.
    pub url: String,
    /// This worker's user name at the server; `None` if the server requires none.
    pub user: Option<String>,
    pub password: Option<SecretString>,
    /// File with root certificates (PEM) for the server; if set, a connection without TLS is
    /// refused.
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

/// Commands that encrypt and decrypt a dump: each is a program with its arguments. The program
/// reads standard input and writes standard output. If `encrypt` is empty, dumps are not encrypted.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Backup {
    pub encrypt: Vec<String>,
    pub decrypt: Vec<String>,
}

impl Postgres {
    /// Returns the size of a worker's connection pool; `own` is true for a worker that serves one
    /// casino.
    pub fn connections_of(&self, own: bool) -> u32 {
        if own {
            self.own_connections
        } else {
            self.connections
        }
    }
}

impl Nats {
    pub(crate) fn check(&self, faults: &mut Faults) {
        let both = self.user.is_some() == self.password.is_some();
        faults.need(
            both,
            "nats.password",
            "user and password are not both set",
            "both, or neither",
        );
    }
}

impl Postgres {
    pub(crate) fn check(&self, faults: &mut Faults) {
        let limits = [
            ("postgres.connections", self.connections),
            ("postgres.own_connections", self.own_connections),
        ];
        for (key, connections) in limits {
            // While the scheduler releases a casino's campaigns, it holds one connection and queues
            // texts over a second one.
            faults.need(connections >= 2, key, connections.to_string(), "at least 2");
        }
    }
}
