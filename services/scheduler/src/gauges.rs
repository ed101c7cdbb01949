//! Exports the fleet's state as metrics. This stays cheap for hundreds of casinos: consumers are
//! listed in pages, and one query over partial indexes covers all casinos.

use std::{collections::BTreeMap, time::Duration};

use seven_bus::topology::{CONSUMING, consumer_name, queues_of};
use seven_domain::{CasinoId, Queue, Stage};
use seven_runtime::{Error, Fleet};
use seven_store::fleet::RosterEntry;
use seven_telemetry::metrics;

use crate::floors::Noted;

/// A worker without a heartbeat for this long does not count as alive.
const HEARTBEAT_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum number of alerts that are read; far fewer alerts are expected to be open at once.
const MOST_ALERTS: i64 = 5_000;

/// Sets the gauges whose figures come from Postgres.
pub(crate) async fn rows(fleet: Fleet) -> Result<(), Error> {
    let figures = &metrics().fleet;
    let roster = fleet.store.roster().await?;
    switches(&roster);
    let waiting = fleet.store.waiting().await?;
    // Removes the gauges of casinos that no longer exist.
    figures.oldest.reset();
    for entry in &roster {
        let casino = entry.casino.as_str();
        let here = waiting.iter().find(|waiting| waiting.casino_id == casino);
        let [swarm, envelope, sender] =
            here.map_or([0.0; 3], |here| [here.swarm, here.envelope, here.sender]);
        for (stage, seconds) in [
            (Stage::Swarm, swarm),
            (Stage::Envelope, envelope),
            (Stage::Sender, sender),
        ] {
            figures
                .oldest
                .with_label_values(&[stage.as_str(), casino])
                .set(seconds);
        }
    }
    tickets(&fleet).await?;
    case_times(&fleet).await?;
    workers(&fleet).await?;
    alerts(&fleet).await
}

async fn tickets(fleet: &Fleet) -> Result<(), Error> {
    let figure = &metrics().fleet.tickets;
    let counts = fleet.store.tickets().await?;
    figure.reset();
    for (casino, state, n) in counts {
        figure.with_label_values(&[&*casino, &*state]).set(n);
    }
    Ok(())
}

async fn case_times(fleet: &Fleet) -> Result<(), Error> {
    let figures = &metrics().fleet;
    let times = fleet.store.case_times().await?;
    figures.cases.reset();
    figures.case_seconds.reset();
    for time in times {
        let labels = [&*time.casino_id, &*time.severity, &*time.step];
        figures.cases.with_label_values(&labels).set(time.n);
        figures
            .case_seconds
            .with_label_values(&labels)
            .set(time.p95_seconds);
    }
    Ok(())
}

fn switches(roster: &[RosterEntry]) {
    let figure = &metrics().fleet.switches;
    figure.reset();
    for entry in roster {
        for switch in &entry.paused {
            figure
                .with_label_values(&[entry.casino.as_str(), switch])
                .set(1);
        }
    }
}

async fn workers(fleet: &Fleet) -> Result<(), Error> {
    let figure = &metrics().fleet.workers;
    let alive = fleet.store.workers(HEARTBEAT_TIMEOUT).await?;
    figure.reset();
    for beat in alive {
        figure.with_label_values(&[beat.worker.as_str()]).inc();
    }
    Ok(())
}

async fn alerts(fleet: &Fleet) -> Result<(), Error> {
    let figures = &metrics().fleet;
    let open = fleet.store.alerts(false, MOST_ALERTS).await?;
    figures.alerts.reset();
    figures.overdue.reset();
    for alert in open {
        let labels = [
            alert.name.as_str(),
            alert.severity.as_str(),
            alert.casino_id.as_str(),
        ];
        figures.alerts.with_label_values(&labels).inc();
        if alert.overdue {
            figures.overdue.with_label_values(&labels).inc();
        }
    }
    Ok(())
}

/// Sets the gauges of the queues on the bus, and stores the acknowledgement floors of their
/// consumers.
pub(crate) async fn consumers(fleet: Fleet, noted: Noted) -> Result<(), Error> {
    let figures = &metrics().fleet;
    let casinos: Vec<CasinoId> = fleet
        .store
        .roster()
        .await?
        .into_iter()
        .map(|entry| entry.casino)
        .collect();
    let mut lags = Vec::new();
    for stage in CONSUMING {
        let named = named(stage, &casinos);
        let listed = fleet.bus.lag(stage).await?;
        // Leaves out the consumers of casinos that no longer exist.
        let ours = listed.into_iter().filter_map(|lag| {
            let (casino, queue) = *named.get(&lag.consumer)?;
            Some((stage, casino, queue, lag))
        });
        let from = lags.len();
        lags.extend(ours);
        let floors = lags[from..]
            .iter()
            .filter_map(|(stage, casino, _, lag)| Some((*stage, *casino, lag.floor?)));
        noted.note(&fleet.store, floors).await?;
    }
    figures.pending.reset();
    figures.in_flight.reset();
    figures.redelivered.reset();
    for (stage, casino, queue, lag) in lags {
        let labels = [
            stage.as_str(),
            casino.as_str(),
            queue.map_or("", Queue::as_str),
        ];
        figures
            .pending
            .with_label_values(&labels)
            .set(i64::try_from(lag.pending).unwrap_or(i64::MAX));
        figures
            .in_flight
            .with_label_values(&labels)
            .set(i64::try_from(lag.in_flight).unwrap_or(i64::MAX));
        figures
            .redelivered
            .with_label_values(&labels)
            .set(i64::try_from(lag.redelivered).unwrap_or(i64::MAX));
    }
    // This comes last, because an error about a missing stream must not prevent the export of the
    // backlog.
    for room in fleet.bus.storage().await? {
        let gauge = |bytes: u64| i64::try_from(bytes).unwrap_or(i64::MAX);
        figures
            .stream_bytes
            .with_label_values(&[&room.stream])
            .set(gauge(room.held_bytes));
        figures
            .stream_limit
            .with_label_values(&[&room.stream])
            .set(room.limit_bytes.map_or(0, gauge));
    }
    Ok(())
}

pub(crate) fn named(
    stage: Stage,
    casinos: &[CasinoId],
) -> BTreeMap<String, (&CasinoId, Option<Queue>)> {
    let of = |casino| {
        queues_of(stage)
            .iter()
            .map(move |queue| (consumer_name(stage, casino, *queue), (casino, *queue)))
    };
    casinos.iter().flat_map(of).collect()
}
