//! `seven status`: the state of the fleet. Rows, switches and workers come from Postgres, waiting
//! messages from NATS, breakers from Redis; they may disagree for a moment. An unreachable store is
//! named within two seconds, and the rest is shown: without Postgres, the switches as last mirrored
//! to the workers, and the workers whose heartbeats arrive over NATS.

mod gather;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    time::Duration,
};

use anyhow::{Result, ensure};
use serde::Serialize;
use seven_runtime::Fleet;
use seven_settings::Worker;
use seven_store::{
    alerts::Alert,
    controls::Standing,
    fleet::Count,
    workers::{Beat, LastError},
};

use super::{handles, pause, provider};
use crate::out;

#[derive(Debug, clap::Args)]
pub struct Status {
    /// Keep running and refresh every second until Ctrl-C; with --json, print one document per
    /// line.
    #[arg(long)]
    watch: bool,
    /// One JSON document instead of tables.
    #[arg(long)]
    json: bool,
}

/// Seconds without a heartbeat after which a worker is shown as silent.
const SILENT_SECONDS: f64 = 5.0;
const PERIOD: Duration = Duration::from_secs(1);
/// Most open alerts that are read.
const ALERTS: i64 = 500;
const POSTGRES: &str = "Postgres";
const NATS: &str = "NATS";
const REDIS: &str = "Redis";
const STORES: usize = 3;

#[derive(Debug, Serialize)]
struct Lag {
    stage: &'static str,
    casino: String,
    consumer: String,
    pending: u64,
    in_flight: usize,
    redelivered: usize,
}

/// A casino's switches as last mirrored to the workers.
#[derive(Debug, Serialize)]
struct Mirrored {
    casino: String,
    paused: Vec<String>,
}

/// Rate limits of a casino.
#[derive(Debug, Serialize)]
struct Limits {
    casino: String,
    segments_per_second: u32,
    texts_in_per_minute: u32,
    guest_texts_per_minute: u32,
    texts_out_per_guest_and_day: u32,
}

#[derive(Debug, Serialize)]
struct Snapshot {
    #[serde(flatten)]
    stored: Stored,
    /// Filled only while Postgres is unreachable.
    mirrored: Vec<Mirrored>,
    /// Number of processes of each worker whose heartbeats arrived over NATS; filled only while
    /// Postgres is unreachable.
    heard: BTreeMap<String, usize>,
    bus: Vec<Lag>,
    breakers: Vec<provider::Breaker>,
    /// Stores that did not answer.
    away: Vec<Away>,
}

/// The part of the status that comes from Postgres.
#[derive(Debug, Default, Serialize)]
struct Stored {
    workers: Vec<Beat>,
    switches: Vec<Standing>,
    rows: Vec<Count>,
    limits: Vec<Limits>,
    provider_stops: Vec<seven_store::providers::Stop>,
    /// Open alerts, the most severe first.
    alerts: Vec<Alert>,
    /// The newest open dead letters.
    last_errors: Vec<LastError>,
}

#[derive(Debug, Serialize)]
struct Away {
    store: &'static str,
    error: String,
}

pub async fn run(config: Option<&Path>, command: &Status) -> Result<()> {
    let fleet = handles(config).await?;
    if !command.watch {
        return show(&fleet, command.json, "").await;
    }
    loop {
        // Moves the cursor home and clears the rest of the screen.
        let before = if command.json { "" } else { "\u{1b}[H\u{1b}[J" };
        if let Err(error) = show(&fleet, command.json, before).await {
            out!("{before}{error:#}");
        }
        tokio::select! {
            _ = tokio::signal::ctrl_c() => return Ok(()),
            () = tokio::time::sleep(PERIOD) => {}
        }
    }
}

/// Returns the status as one document, without error texts: they may quote a provider's answer that
/// contains a phone number.
pub(super) async fn redacted(fleet: &Fleet) -> Result<serde_json::Value> {
    let mut snapshot = gather::snapshot(fleet).await;
    snapshot.stored.last_errors.iter_mut().for_each(|error| error.last_error.clear());
    // Text that a person typed must not leave our systems.
    snapshot.stored.switches.iter_mut().for_each(|switch| switch.reason.clear());
    Ok(serde_json::to_value(&snapshot)?)
}

async fn show(fleet: &Fleet, json: bool, before: &str) -> Result<()> {
    let snapshot = gather::snapshot(fleet).await;
    ensure!(
        snapshot.away.len() < STORES,
        "nothing answers here, neither Postgres nor NATS nor Redis; is the fleet running? ./scripts/dev starts one"
    );
    if json {
        out!("{}", serde_json::to_string(&snapshot)?);
    } else {
        out!("{before}{}", snapshot.told());
    }
    Ok(())
}

// === impl Snapshot ===

impl Snapshot {
    fn told(&self) -> String {
        let postgres = !self.is_away(POSTGRES);
        let mut lines: Vec<String> =
            self.away.iter().map(|Away { store, error }| format!("AWAY {store}: {error}")).collect();
        if postgres {
            lines.push(self.stored.rows());
            lines.extend(self.stored.workers());
            lines.extend(self.stored.switches.iter().map(pause::line));
            if self.stored.switches.is_empty() {
                lines.push("Switches: nothing is paused.".to_owned());
            }
        } else {
            lines.extend(self.without_postgres());
        }
        let busy: Vec<&Lag> = self.bus.iter().filter(|lag| lag.pending > 0 || lag.in_flight > 0).collect();
        if busy.is_empty() && !self.is_away(NATS) {
            lines.push("Bus: nothing waits.".to_owned());
        }
        for Lag { consumer, pending, in_flight, redelivered, .. } in busy {
            lines.push(format!("Bus: {consumer} has {pending} waiting, {in_flight} in work, {redelivered} come again"));
        }
        lines.extend(self.stored.limits.iter().map(Limits::told));
        lines.extend(alerts(&self.stored.alerts));
        for LastError { casino_id, stage, reason, last_error, last_at } in &self.stored.last_errors {
            lines.push(format!(
                "Dead letter {} {casino_id} {stage} {reason}: {last_error}",
                last_at.format("%F %T UTC")
            ));
        }
        if postgres {
            lines.extend(provider::lines(&self.stored.provider_stops, &self.breakers));
        }
        lines.join("\n")
    }

    fn is_away(&self, store: &str) -> bool {
        self.away.iter().any(|away| away.store == store)
    }

    /// Returns the lines that need no data from Postgres. While Postgres is unreachable only safety
    /// texts are sent, because the pre-send check reads it.
    fn without_postgres(&self) -> Vec<String> {
        let mut lines =
            vec!["No text is sent and no turn is made until Postgres answers; texts of guests are kept.".into()];
        if self.is_away(NATS) {
            return lines;
        }
        for worker in Worker::ALL {
            let number = self.heard.get(worker.name()).map_or_else(|| "NONE".to_owned(), usize::to_string);
            lines.push(format!("Workers: {worker} {number} alive, heard over NATS", worker = worker.name()));
        }
        let paused = self.mirrored.iter().filter(|casino| !casino.paused.is_empty());
        let paused: Vec<String> = paused
            .map(|Mirrored { casino, paused }| {
                format!("ON: {} for {casino}, as the workers were told last", paused.join(", "))
            })
            .collect();
        if paused.is_empty() {
            lines.push("Switches: nothing is paused, as the workers were told last.".into());
        }
        lines.extend(paused);
        lines
    }
}

impl Limits {
    fn told(&self) -> String {
        format!(
            "Limits of {}: {} segments/s out; {} texts/min in, {} of one guest; {} texts a day to one guest",
            self.casino,
            self.segments_per_second,
            self.texts_in_per_minute,
            self.guest_texts_per_minute,
            self.texts_out_per_guest_and_day
        )
    }
}

impl Stored {
    fn rows(&self) -> String {
        let mut table = super::table(["casino", "what", "state", "rows"]);
        for count in &self.rows {
            table.add_row([&count.casino, &count.what, &count.state, &count.n.to_string()]);
        }
        if self.rows.is_empty() { "No text has come yet.".to_owned() } else { table.to_string() }
    }

    /// Returns one line per kind of worker: the number that are alive, and the ones that fell
    /// silent.
    fn workers(&self) -> Vec<String> {
        let mut kinds: Vec<&str> = self.workers.iter().map(|beat| beat.worker.as_str()).collect();
        kinds.dedup();
        let told = kinds.into_iter().map(|kind| {
            let of_kind = || self.workers.iter().filter(|beat| beat.worker == kind);
            let silent: Vec<String> = of_kind()
                .filter(|beat| beat.silent > SILENT_SECONDS)
                .map(|beat| format!(", {} SILENT for {:.0} s", beat.instance, beat.silent))
                .collect();
            let living = of_kind().count() - silent.len();
            format!("Workers: {kind} {living} at work{}", silent.concat())
        });
        let told: Vec<String> = told.collect();
        if told.is_empty() { vec!["Workers: NONE at work.".to_owned()] } else { told }
    }
}

/// Returns one line per alert name, severity and casino, because each open case of a casino is its
/// own alert.
fn alerts(open: &[Alert]) -> Vec<String> {
    let kind = |alert: &Alert| (alert.severity.clone(), alert.name.clone(), alert.casino_id.clone());
    let mut kinds: Vec<_> = open.iter().map(kind).collect();
    let mut seen = BTreeSet::new();
    kinds.retain(|kind| seen.insert(kind.clone()));
    let told = kinds.into_iter().map(|of| {
        let same: Vec<&Alert> = open.iter().filter(|alert| kind(alert) == of).collect();
        let (severity, name, casino) = of;
        let whom = if casino.is_empty() { "the whole fleet" } else { &casino };
        let since = same.iter().map(|alert| alert.first_at).min().unwrap_or_default().format("%F %T UTC");
        let number = if same.len() > 1 { format!(": {}, the first", same.len()) } else { String::new() };
        let mut hands: Vec<&str> = same.iter().filter_map(|alert| alert.acknowledged_by.as_deref()).collect();
        let in_hand = hands.len();
        hands.sort_unstable();
        hands.dedup();
        let hand = match (in_hand, same.len()) {
            (0, _) => String::new(),
            (_, 1) => format!(", in hand: {}", hands.concat()),
            _ => format!(", {in_hand} in hand: {}", hands.join(", ")),
        };
        let overdue = same.iter().filter(|alert| alert.overdue).count();
        let late = match (overdue, same.len()) {
            (0, _) => String::new(),
            (_, 1) => ", OVERDUE".to_owned(),
            _ => format!(", {overdue} OVERDUE"),
        };
        format!("ALERT {severity} {name} of {whom}{number} since {since}{hand}{late}")
    });
    told.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alert(name: &str, severity: &str, minute: u32, by: Option<&str>) -> Alert {
        let at = chrono::NaiveDate::from_ymd_opt(2026, 11, 23).and_then(|day| day.and_hms_opt(8, minute, 0)).unwrap();
        Alert {
            alert_id: uuid::Uuid::nil(),
            key: String::new(),
            name: name.to_owned(),
            casino_id: if name == "case" { "silver_birch".to_owned() } else { String::new() },
            provider: String::new(),
            code: String::new(),
            severity: severity.to_owned(),
            summary: String::new(),
            repeats: 0,
            first_at: at.and_utc(),
            last_at: at.and_utc(),
            ack_due_at: None,
            acknowledged_at: None,
            acknowledged_by: by.map(str::to_owned),
            resolved_at: None,
            overdue: by.is_none() && minute < 10,
        }
    }

    #[test]
    fn a_casinos_cases_are_one_line() {
        let open = [
            alert("case", "critical", 30, None),
            alert("case", "critical", 5, None),
            alert("case", "critical", 20, Some("ana")),
            alert("case", "warning", 21, Some("ana")),
            alert("provider_stopped", "critical", 40, None),
        ];
        assert_eq!(
            alerts(&open),
            [
                "ALERT critical case of silver_birch: 3, the first since 2026-11-23 08:05:00 UTC, 1 in hand: ana, 1 OVERDUE",
                "ALERT warning case of silver_birch since 2026-11-23 08:21:00 UTC, in hand: ana",
                "ALERT critical provider_stopped of the whole fleet since 2026-11-23 08:40:00 UTC",
            ]
        );
    }
}
