//! `seven provider list|stop|release`: which providers may be called, and the operator's hand on that.

use std::path::Path;

use anyhow::{Result, ensure};
use clap::Subcommand;
use seven_cache::BreakerState;
use seven_domain::{CasinoId, PROVIDERS};
use seven_outbound_sender::{breaker_name, stops};
use seven_runtime::Fleet;
use seven_store::providers::Stop;

use super::{fleet, given::Who};
use crate::out;

#[derive(Debug, Subcommand)]
pub enum Provider {
    /// Stops, parks and breakers of every provider.
    List {
        /// One JSON document instead of lines.
        #[arg(long)]
        json: bool,
    },
    /// Call this provider no more, for every casino or for one, until `release`; texts wait.
    Stop {
        #[arg(value_parser = clap::builder::PossibleValuesParser::new(PROVIDERS))]
        provider: String,
        /// Only this casino's sending.
        #[arg(long, value_name = "ID")]
        casino: Option<CasinoId>,
        #[command(flatten)]
        who: Who,
    },
    /// Lift what stands between the fleet, or a casino, and a provider; texts that waited go out at once, in each guest's order.
    Release {
        /// All providers when left out.
        #[arg(value_parser = clap::builder::PossibleValuesParser::new(PROVIDERS))]
        provider: Option<String>,
        /// The casino's park instead of the fleet's stop.
        #[arg(long, value_name = "ID")]
        casino: Option<CasinoId>,
        #[command(flatten)]
        who: Who,
    },
}

pub async fn run(config: Option<&Path>, command: Provider) -> Result<()> {
    let fleet = fleet(config).await?;
    match command {
        Provider::List { json } => {
            let standing = Standing::of(&fleet).await?;
            if json {
                out!("{}", serde_json::to_string(&standing)?);
            } else {
                standing.print();
            }
        }
        Provider::Stop { provider, casino, who } => {
            if let Some(casino) = &casino {
                super::known(&fleet.store, casino).await?;
            }
            let new = stops::halt(&fleet, &provider, casino.as_ref(), &who.by, &who.reason).await?;
            out!("{provider}: {}", if new { "stopped" } else { "was stopped already" });
        }
        Provider::Release { provider, casino, who } => {
            let lifted = stops::release(&fleet, provider.as_deref(), casino.as_ref(), &who.by, &who.reason).await?;
            ensure!(!lifted.is_empty(), "nothing to lift; `seven provider list` shows what stands");
            lifted.iter().for_each(|stop| out!("Lifted: {}", line(stop)));
        }
    }
    Ok(())
}

/// What stands between the fleet and its providers.
#[derive(Debug, serde::Serialize)]
pub(super) struct Standing {
    stops: Vec<Stop>,
    breakers: Vec<(&'static str, String)>,
}

impl Standing {
    pub(super) async fn of(fleet: &Fleet) -> Result<Self> {
        let mut breakers = Vec::new();
        for provider in PROVIDERS {
            let breaker = fleet.cache.breaker(&breaker_name(provider), fleet.timing.provider_breaker());
            let state = match breaker.state().await {
                BreakerState::Closed => continue,
                BreakerState::Open(left) => format!("open for another {} s", left.as_secs().max(1)),
                BreakerState::HalfOpen => "half open: the next text is the probe".to_owned(),
            };
            breakers.push((provider, state));
        }
        Ok(Self { stops: fleet.store.provider_stops().await?, breakers })
    }

    pub(super) fn print(&self) {
        if self.stops.is_empty() && self.breakers.is_empty() {
            out!("Providers: nothing is stopped.");
        }
        for stop in &self.stops {
            out!("{}", line(stop));
        }
        for (provider, state) in &self.breakers {
            out!("Breaker of {provider}: {state}");
        }
    }
}

fn line(stop: &Stop) -> String {
    let Stop { provider, casino_id, error_code, since, until, actor } = stop;
    let meaning = seven_providers::verdict(provider, error_code, 0);
    let why = if meaning.known { format!("{error_code}: {}", meaning.meaning) } else { error_code.clone() };
    let end = until.map_or_else(String::new, |at| format!(", until {}", at.format("%F %T UTC")));
    let what = if casino_id.is_empty() {
        format!("SENDING STOPPED at {provider} for every casino")
    } else {
        format!("SENDING PARKED for {casino_id} at {provider}")
    };
    format!("{what} ({why}) since {}{end}, by {actor}", since.format("%F %T UTC"))
}
