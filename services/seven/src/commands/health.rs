//! `seven health`: asks the worker on this machine whether it is ready. It is for health checks of
//! containers, which have no HTTP client.

use std::{net::SocketAddr, process::ExitCode, time::Duration};

use anyhow::{Context as _, Result, ensure};
use clap::Args;

use super::context::{Context, Operate};
use crate::out;

/// The longest wait for the worker's answer.
const PATIENCE: Duration = Duration::from_secs(3);

#[derive(Debug, Args)]
pub struct Health {
    /// Ask only whether the process is alive, not whether it can work.
    #[arg(long)]
    live: bool,
    /// Address of the worker's operations listener; `ops.listen` of the settings if absent.
    #[arg(long, value_name = "ADDRESS")]
    at: Option<SocketAddr>,
}

impl Operate for Health {
    async fn run(self, ctx: &Context) -> Result<ExitCode> {
        let at = match self.at {
            Some(at) => at,
            None => reachable(ctx.settings()?.ops.listen),
        };
        let what = if self.live { "live" } else { "ready" };
        let client = reqwest::Client::builder().timeout(PATIENCE).build()?;
        let asked = client.get(format!("http://{at}/health/{what}")).send();
        let answer = asked
            .await
            .with_context(|| format!("no worker answers at {at}"))?;
        let status = answer.status();
        let said = answer.text().await.unwrap_or_default();
        ensure!(
            status.is_success(),
            "the worker at {at} is not {what} ({status}): {}",
            said.trim()
        );
        out!("The worker at {at} is {what}.");
        Ok(ExitCode::SUCCESS)
    }
}

/// Returns the address at which this machine reaches the listener. If it listens on all addresses,
/// that is the loopback address.
fn reachable(listen: SocketAddr) -> SocketAddr {
    let mut at = listen;
    if listen.ip().is_unspecified() {
        at.set_ip(match listen {
            SocketAddr::V4(_) => std::net::Ipv4Addr::LOCALHOST.into(),
            SocketAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
        });
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // WEB-66
    fn a_listener_on_every_address_is_asked_on_this_machine() {
        for (listen, asked) in [
            ("0.0.0.0:9464", "127.0.0.1:9464"),
            ("[::]:9464", "[::1]:9464"),
            ("10.0.0.7:9464", "10.0.0.7:9464"),
        ] {
            assert_eq!(reachable(listen.parse().unwrap()).to_string(), asked);
        }
    }
}
