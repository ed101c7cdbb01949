//! `[ingress]`: where webhooks come in, and how much one process takes on.

use ipnet::IpNet;
use serde::Deserialize;

use crate::error::Faults;

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ingress {
    pub listen: std::net::SocketAddr,
    /// Calls in progress at once; further ones wait.
    pub concurrency: usize,
    /// The time of one call, its wait included.
    pub request_seconds: u64,
    /// The time for a call's head; a connection without a call closes then.
    pub head_seconds: u64,
    pub connections: usize,
    /// Of these, connections of one address that wait for a call.
    pub connections_per_address: usize,
    /// Calls whose body is waited for.
    pub bodies: usize,
    pub bodies_per_address: usize,
    /// Networks of our own reverse proxies: they name the caller in X-Forwarded-For.
    pub trusted_proxies: Vec<IpNet>,
}

impl Ingress {
    pub(crate) fn check(&self, faults: &mut Faults) {
        for (key, is_zero) in [
            ("ingress.concurrency", self.concurrency == 0),
            ("ingress.request_seconds", self.request_seconds == 0),
            ("ingress.head_seconds", self.head_seconds == 0),
            ("ingress.connections", self.connections == 0),
            ("ingress.connections_per_address", self.connections_per_address == 0),
            ("ingress.bodies", self.bodies == 0),
            ("ingress.bodies_per_address", self.bodies_per_address == 0),
        ] {
            faults.need(!is_zero, key, "a limit of 0 lets no call in", "at least 1");
        }
    }
}
