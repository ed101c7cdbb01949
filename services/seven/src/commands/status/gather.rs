//! Queries all stores at once for their part of the status. A store that does not answer is named
//! and does not delay the others.

use std::{collections::BTreeMap, time::Duration};

use anyhow::{Context, Result};
use seven_bus::topology::{CONSUMING, consumer_name, queues_of};
use seven_domain::CasinoId;
use seven_runtime::Fleet;
use seven_store::{fleet::RosterEntry, workers::LastError};

use super::{ALERTS, Away, Lag, Limits, Mirrored, NATS, POSTGRES, REDIS, Snapshot, Stored};
use crate::{
    commands::{alert, in_time, pause, provider},
    one_line,
};

/// Longest wait for a connection to Postgres. It is shorter than the timeout of `in_time`, which
/// would hide why the connection failed.
const FIRST_ANSWER: Duration = Duration::from_secs(1);
/// Timeout of all further queries to Postgres together, after it has answered the first one.
const ALL_ANSWERS: Duration = Duration::from_secs(10);
/// Listening time on NATS: long enough for one heartbeat of each worker.
const HEARING: Duration = Duration::from_millis(1_300);
/// Workers that have been silent for longer are not shown.
const WORKERS_SINCE: Duration = Duration::from_secs(600);

/// The status counts the turns that began within this time before now.
const HOSTED_TURNS_PAST: Duration = Duration::from_secs(24 * 3600);

pub(super) async fn snapshot(fleet: &Fleet) -> Snapshot {
    // Heartbeats are needed only if Postgres does not answer. Listening for them takes 1.3 s, so it
    // begins now, beside the queries.
    let hearing = tokio::spawn({
        let bus = fleet.bus.clone();
        async move { bus.beats(HEARING).await }
    });
    let (stored, bus, breakers) = tokio::join!(
        Box::pin(stored(fleet)),
        Box::pin(in_time(bus(fleet))),
        in_time(breakers(fleet))
    );
    let mut away = Vec::new();
    let mut or_away = |store, error: anyhow::Error| {
        away.push(Away {
            store,
            error: one_line(&error),
        });
    };
    let (roster, stored) = stored
        .map_err(|error| or_away(POSTGRES, error))
        .ok()
        .unzip();
    let (mut bus, mirrored) = bus.unwrap_or_else(|error| {
        or_away(NATS, error);
        Default::default()
    });
    let breakers = breakers.unwrap_or_else(|error| {
        or_away(REDIS, error);
        Vec::new()
    });
    let known: Vec<CasinoId> = match &roster {
        Some(roster) => roster
            .iter()
            .map(|entry: &RosterEntry| entry.casino.clone())
            .collect(),
        None => mirrored
            .iter()
            .filter_map(|casino| casino.casino.parse().ok())
            .collect(),
    };
    name_casinos(&mut bus, &known);
    // If Postgres answered, the switches and heartbeats from NATS are dropped: Postgres has newer
    // data.
    let (mirrored, heard) = match &stored {
        Some(_) => Default::default(),
        None => (
            mirrored,
            hearing.await.ok().and_then(Result::ok).unwrap_or_default(),
        ),
    };
    let mut workers = BTreeMap::new();
    heard
        .into_iter()
        .for_each(|beat| *workers.entry(beat.worker).or_default() += 1);
    Snapshot {
        stored: stored.unwrap_or_default(),
        mirrored,
        heard: workers,
        bus,
        breakers,
        away,
    }
}

async fn stored(fleet: &Fleet) -> Result<(Vec<RosterEntry>, Stored)> {
    // Once the database has answered, the other queries may take longer.
    let store = fleet.store.within(FIRST_ANSWER);
    let roster = in_time(async { Ok(store.roster().await?) }).await?;
    let details = tokio::time::timeout(ALL_ANSWERS, details(fleet, &roster)).await;
    let stored = details.context("answers, and not all questions within 10 s")??;
    Ok((roster, stored))
}

async fn details(fleet: &Fleet, roster: &[RosterEntry]) -> Result<Stored> {
    let (mut limits, mut last_errors) = (Vec::new(), Vec::new());
    for entry in roster {
        let mut tx = fleet.store.bind(&entry.casino).await?;
        last_errors.extend(tx.last_errors(5).await?);
        limits.extend(tx.casino_row().await?.map(|row| Limits {
            casino: entry.casino.to_string(),
            segments_per_second: row.config.operational.segments_per_second(),
            texts_in_per_minute: row.config.limits.texts_per_minute(),
            guest_texts_per_minute: row.config.limits.guest_texts_per_minute,
            texts_out_per_guest_and_day: row.config.operational.max_messages_per_guest_per_day,
        }));
        tx.commit().await?;
    }
    last_errors.sort_by_key(|error: &LastError| std::cmp::Reverse(error.last_at));
    last_errors.truncate(5);
    Ok(Stored {
        workers: fleet.store.workers(WORKERS_SINCE).await?,
        switches: pause::standing(fleet).await?,
        rows: fleet.store.counts().await?,
        hosted: fleet.store.hosted_turns(HOSTED_TURNS_PAST).await?,
        limits,
        provider_stops: fleet.store.provider_stops().await?,
        alerts: alert::by_urgency(fleet.store.alerts(false, ALERTS).await?),
        last_errors,
    })
}

/// Returns the backlog of each stage, and the switches as the workers last got them.
async fn bus(fleet: &Fleet) -> Result<(Vec<Lag>, Vec<Mirrored>)> {
    let mut all = Vec::new();
    for stage in CONSUMING {
        all.extend(fleet.bus.lag(stage).await?.into_iter().map(|lag| Lag {
            stage: stage.as_str(),
            casino: String::new(),
            consumer: lag.consumer,
            pending: lag.pending,
            in_flight: lag.in_flight,
            redelivered: lag.redelivered,
        }));
    }
    let mirrored = fleet.bus.mirrored().await?;
    Ok((
        all,
        mirrored
            .into_iter()
            .map(|told| Mirrored {
                casino: told.casino,
                paused: told.paused,
            })
            .collect(),
    ))
}

async fn breakers(fleet: &Fleet) -> Result<Vec<provider::Breaker>> {
    anyhow::ensure!(fleet.cache.ready().await, "no answer");
    Ok(provider::breakers(fleet).await)
}

fn name_casinos(bus: &mut [Lag], casinos: &[CasinoId]) {
    for stage in CONSUMING {
        for lag in bus.iter_mut().filter(|lag| lag.stage == stage.as_str()) {
            let of = |casino: &&CasinoId| {
                queues_of(stage)
                    .iter()
                    .any(|queue| consumer_name(stage, casino, *queue) == lag.consumer)
            };
            lag.casino = casinos
                .iter()
                .find(of)
                .map_or_else(String::new, CasinoId::to_string);
        }
    }
}
