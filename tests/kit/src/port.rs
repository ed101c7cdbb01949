//! Free ports on the loopback address.

use std::net::{Ipv4Addr, TcpListener};

use anyhow::{Context, Result, bail};

/// Below the range from which Linux (32768..) and macOS (49152..) take the ports of outgoing connections: a client that
/// tries to reach a stopped server on a port of that range can end up connected to itself and keep the server from
/// coming back. Tests here stop and restart servers all the time.
const FIRST: u16 = 10_240;
const COUNT: u16 = 20_000;

/// A port that nobody listens on right now. Another process may take it before our server does; [`crate::Server`] then
/// tries the next one.
pub(crate) fn free() -> Result<u16> {
    for _ in 0..200 {
        // The kernel's choice for port 0 is the die: it differs between processes that start at the same moment.
        let thrown = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("binding a port on 127.0.0.1")?;
        let thrown = u32::from(thrown.local_addr().context("reading the bound port")?.port());
        let port = FIRST + (thrown.wrapping_mul(7_919) % u32::from(COUNT)) as u16;
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return Ok(port);
        }
    }
    bail!("found no free port on 127.0.0.1 between {FIRST} and {}", FIRST + COUNT)
}
