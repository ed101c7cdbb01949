//! `seven provider list|stop|release`: shows which providers may be called, and lets an operator
//! stop one.

use std::process::ExitCode;

use anyhow::{Result, ensure};
use clap::{Args, Subcommand, builder::PossibleValuesParser};
use seven_cache::BreakerState;
use seven_domain::{CasinoId, PROVIDERS};
use seven_outbound_sender::{breaker_name, stops};
use seven_runtime::Fleet;
use seven_store::providers::Stop as Standing;

use super::{
    args::{Json, Who},
    context::{Context, Operate},
    utc,
};
use crate::out;

#[derive(Debug, Subcommand)]
pub enum Provider {
    /// List each provider's stops, its parks (stops at a casino's spend limit) and its open circuit
    /// breaker.
    List(Json),
    /// Stop calling a provider, for all casinos or one, until `release`; texts wait.
    Stop(Stop),
    /// End the stop of a provider; waiting texts are sent at once, in each guest's order.
    Release(Release),
}

#[derive(Debug, Args)]
pub struct Stop {
    /// Name of the provider.
    #[arg(value_parser = PossibleValuesParser::new(PROVIDERS))]
    provider: String,
    /// The casino's id, as `seven casino list` shows it. Without it: all casinos.
    #[arg(long, value_name = "ID")]
    casino: Option<CasinoId>,
    #[command(flatten)]
    who: Who,
}

#[derive(Debug, Args)]
pub struct Release {
    /// Name of the provider. Without it: all providers.
    #[arg(value_parser = PossibleValuesParser::new(PROVIDERS))]
    provider: Option<String>,
    /// The casino's id, as `seven casino list` shows it; only the stop for this casino is ended.
    /// Without it: the stop for all casinos is ended.
    #[arg(long, value_name = "ID")]
    casino: Option<CasinoId>,
    #[command(flatten)]
    who: Who,
}

impl Operate for Provider {
    async fn run(self, ctx: &Context) -> Result<ExitCode> {
        let fleet = ctx.fleet().await?;
        match self {
            Self::List(Json { json }) => {
                let (stops, breakers) =
                    (fleet.store.provider_stops().await?, breakers(fleet).await);
                if json {
                    out!(
                        "{}",
                        serde_json::json!({ "stops": stops, "breakers": breakers })
                    );
                } else {
                    lines(&stops, &breakers)
                        .iter()
                        .for_each(|line| out!("{line}"));
                }
            }
            Self::Stop(Stop {
                provider,
                casino,
                who,
            }) => {
                if let Some(casino) = &casino {
                    super::known(&fleet.store, casino).await?;
                }
                let new =
                    stops::halt(fleet, &provider, casino.as_ref(), &who.by, &who.reason).await?;
                out!(
                    "{provider}: {}",
                    if new {
                        "stopped"
                    } else {
                        "was stopped already"
                    }
                );
            }
            Self::Release(Release {
                provider,
                casino,
                who,
            }) => {
                let lifted = stops::release(
                    fleet,
                    provider.as_deref(),
                    casino.as_ref(),
                    &who.by,
                    &who.reason,
                )
                .await?;
                ensure!(
                    !lifted.is_empty(),
                    "nothing is stopped there; `seven provider list` shows the stops"
                );
                lifted
                    .iter()
                    .for_each(|stop| out!("Lifted: {}", line(stop)));
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// The circuit breaker of a provider that failed too often and is not called for a time.
#[derive(Debug, serde::Serialize)]
pub(super) struct Breaker {
    provider: &'static str,
    state: String,
}

/// Returns the breakers that are not closed; none while Redis is unreachable.
pub(super) async fn breakers(fleet: &Fleet) -> Vec<Breaker> {
    let mut breakers = Vec::new();
    for provider in PROVIDERS {
        let breaker = fleet
            .cache
            .breaker(&breaker_name(provider), fleet.timing.provider_breaker());
        let state = match breaker.state().await {
            BreakerState::Closed => continue,
            BreakerState::Open(left) => format!("open for another {} s", left.as_secs().max(1)),
            BreakerState::HalfOpen => "half open: the next text is the probe".to_owned(),
        };
        breakers.push(Breaker { provider, state });
    }
    breakers
}

/// Describes the stops and breakers that keep providers from being called.
pub(super) fn lines(stops: &[Standing], breakers: &[Breaker]) -> Vec<String> {
    if stops.is_empty() && breakers.is_empty() {
        return vec!["Providers: nothing is stopped.".to_owned()];
    }
    let breakers = breakers
        .iter()
        .map(|Breaker { provider, state }| format!("Breaker of {provider}: {state}"));
    stops.iter().map(line).chain(breakers).collect()
}

fn line(stop: &Standing) -> String {
    let Standing {
        provider,
        casino_id,
        error_code,
        since,
        until,
        actor,
        ..
    } = stop;
    let meaning = seven_providers::verdict(provider, error_code, 0);
    let why = if meaning.known {
        format!("{error_code}: {}", meaning.meaning)
    } else {
        error_code.clone()
    };
    let end = until.map_or_else(String::new, |at| format!(", until {}", utc(at)));
    let whom = if casino_id.is_empty() {
        "every casino"
    } else {
        casino_id
    };
    let what = match stop.is_park() {
        true => format!("SENDING PARKED for {whom} at {provider}"),
        false => format!("SENDING STOPPED at {provider} for {whom}"),
    };
    format!("{what} ({why}) since {}{end}, by {actor}", utc(*since))
}
