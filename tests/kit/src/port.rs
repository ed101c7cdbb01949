//! Free ports on the loopback address.

use std::net::{Ipv4Addr, TcpListener};

use anyhow::{Context, Result, bail};

/// The lowest port, and the number of ports, to choose from. They lie below the ports of outgoing
/// connections on Linux (32768..) and macOS (49152..). On a port in those ranges, a client that
/// retries a stopped server can connect to itself and block the server's restart.
const FIRST: u16 = 10_240;
const COUNT: u16 = 20_000;

/// Returns a port on which nobody listens. Another process may take it before our server does;
/// [`crate::Server`] then tries another port.
pub(crate) fn free() -> Result<u16> {
    for _ in 0..200 {
        // Lets the kernel choose a port and takes its number as a random number, because the
        // kernel's choice differs between processes.
        let thrown =
            TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("binding a port on 127.0.0.1")?;
        let thrown = u32::from(
            thrown
                .local_addr()
                .context("reading the bound port")?
                .port(),
        );
        let port = FIRST + (thrown.wrapping_mul(7_919) % u32::from(COUNT)) as u16;
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return Ok(port);
        }
    }
    bail!(
        "found no free port on 127.0.0.1 between {FIRST} and {}",
        FIRST + COUNT
    )
}
