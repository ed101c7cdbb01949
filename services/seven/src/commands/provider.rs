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
            let (stops, breakers) = (fleet.store.provider_stops().await?, breakers(&fleet).await);
            if json {
                out!("{}", serde_json::json!({ "stops": stops, "breakers": breakers }));
            } else {
                lines(&stops, &breakers).iter().for_each(|line| out!("{line}"));
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

/// A provider that failed too often, and is left alone for a time.
#[derive(Debug, serde::Serialize)]
pub(super) struct Breaker {
    provider: &'static str,
    state: String,
}

/// The breakers that are not closed; without Redis none is known.
pub(super) async fn breakers(fleet: &Fleet) -> Vec<Breaker> {
    let mut breakers = Vec::new();
    for provider in PROVIDERS {
        let breaker = fleet.cache.breaker(&breaker_name(provider), fleet.timing.provider_breaker());
        let state = match breaker.state().await {
            BreakerState::Closed => continue,
            BreakerState::Open(left) => format!("open for another {} s", left.as_secs().max(1)),
            BreakerState::HalfOpen => "half open: the next text is the probe".to_owned(),
        };
        breakers.push(Breaker { provider, state });
    }
    breakers
}

/// Describes the stops and breakers that keep the fleet from its providers.
pub(super) fn lines(stops: &[Stop], breakers: &[Breaker]) -> Vec<String> {
    if stops.is_empty() && breakers.is_empty() {
        return vec!["Providers: nothing is stopped.".to_owned()];
    }
    let breakers = breakers.iter().map(|Breaker { provider, state }| format!("Breaker of {provider}: {state}"));
    stops.iter().map(line).chain(breakers).collect()
}

fn line(stop: &Stop) -> String {
    let Stop { provider, casino_id, error_code, since, until, actor, .. } = stop;
    let meaning = seven_providers::verdict(provider, error_code, 0);
    let why = if meaning.known { format!("{error_code}: {}", meaning.meaning) } else { error_code.clone() };
    let end = until.map_or_else(String::new, |at| format!(", until {}", at.format("%F %T UTC")));
    let whom = if casino_id.is_empty() { "every casino" } else { casino_id };
    let what = match stop.is_park() {
        true => format!("SENDING PARKED for {whom} at {provider}"),
        false => format!("SENDING STOPPED at {provider} for {whom}"),
    };
    format!("{what} ({why}) since {}{end}, by {actor}", since.format("%F %T UTC"))
}
