//! `[ingress]`: the address for webhooks, and the limits on calls that one process accepts.

use ipnet::IpNet;
use serde::Deserialize;

use crate::error::Faults;

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ingress {
    pub listen: std::net::SocketAddr,
    /// Maximum number of calls in progress; further calls wait.
    pub concurrency: usize,
    /// Time limit of one call, including the wait for other calls to end.
    pub request_seconds: u64,
    /// Time limit for the headers of a call; when it expires, the connection is closed.
    pub head_seconds: u64,
    pub connections: usize,
    /// Maximum number of connections from one client address that have not begun a call.
    pub connections_per_address: usize,
    /// Maximum number of calls whose body has not arrived yet.
    pub bodies: usize,
    pub bodies_per_address: usize,
    /// Networks of our own reverse proxies, which report the caller's address in X-Forwarded-For.
    pub trusted_proxies: Vec<IpNet>,
}

impl Ingress {
    pub(crate) fn check(&self, faults: &mut Faults) {
        for (key, is_zero) in [
            ("ingress.concurrency", self.concurrency == 0),
            ("ingress.request_seconds", self.request_seconds == 0),
            ("ingress.head_seconds", self.head_seconds == 0),
            ("ingress.connections", self.connections == 0),
            (
                "ingress.connections_per_address",
                self.connections_per_address == 0,
            ),
            ("ingress.bodies", self.bodies == 0),
            ("ingress.bodies_per_address", self.bodies_per_address == 0),
        ] {
            faults.need(!is_zero, key, "a limit of 0 lets no call in", "at least 1");
        }
    }
}
