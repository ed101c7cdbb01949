//! `seven status`: what stands where. Rows, switches and workers come from Postgres, waiting messages from NATS, breakers from Redis; they
//! may disagree for a moment. A store that is away is named, and the rest is shown.

use std::{collections::BTreeSet, path::Path, time::Duration};

use anyhow::Result;
use serde::Serialize;
use seven_bus::topology::{CONSUMING, consumer_name, lanes_of};
use seven_runtime::Fleet;
use seven_store::{
    alerts::Alert,
    controls::Standing,
    fleet::{Count, RosterEntry},
    workers::{Beat, LastError},
};

use super::{fleet, pause, provider};
use crate::out;

#[derive(Debug, clap::Args)]
pub struct Status {
    /// Stay, and show it anew every second until Ctrl-C; with --json one document per line.
    #[arg(long)]
    watch: bool,
    /// One JSON document instead of tables.
    #[arg(long)]
    json: bool,
}

/// A worker that said nothing for so long is shown as silent.
const SILENT_SECONDS: f64 = 5.0;
const PERIOD: Duration = Duration::from_secs(1);
/// How many open alerts are looked at, at most.
const ALERTS: i64 = 500;

#[derive(Debug, Serialize)]
struct Lag {
    stage: &'static str,
    casino: String,
    consumer: String,
    pending: u64,
    in_flight: usize,
    redelivered: usize,
}

/// What a casino may do at most.
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
    workers: Vec<Beat>,
    switches: Vec<Standing>,
    rows: Vec<Count>,
    bus: Vec<Lag>,
    providers: provider::Standing,
    limits: Vec<Limits>,
    /// Those that are open, the gravest first.
    alerts: Vec<Alert>,
    /// The newest dead letters that nobody handled.
    last_errors: Vec<LastError>,
    /// Stores that did not answer.
    away: Vec<String>,
}

pub async fn run(config: Option<&Path>, command: &Status) -> Result<()> {
    let fleet = fleet(config).await?;
    if !command.watch {
        return show(&fleet, command.json, "").await;
    }
    loop {
        // Home, and the rest of the screen cleared.
        let before = if command.json { "" } else { "\u{1b}[H\u{1b}[J" };
        if let Err(error) = show(&fleet, command.json, before).await {
            out!("{before}Nothing to show: {error:#}");
        }
        tokio::select! {
            _ = tokio::signal::ctrl_c() => return Ok(()),
            () = tokio::time::sleep(PERIOD) => {}
        }
    }
}

/// What stands where as one document, without the words of errors, which may quote a provider that quotes a number.
pub(super) async fn redacted(fleet: &Fleet) -> Result<serde_json::Value> {
    let mut snapshot = Snapshot::of(fleet).await?;
    snapshot.last_errors.iter_mut().for_each(|error| error.last_error.clear());
    // What a person typed stays in the house.
    snapshot.switches.iter_mut().for_each(|switch| switch.reason.clear());
    Ok(serde_json::to_value(&snapshot)?)
}

async fn show(fleet: &Fleet, json: bool, before: &str) -> Result<()> {
    let snapshot = Snapshot::of(fleet).await?;
    if json {
        out!("{}", serde_json::to_string(&snapshot)?);
    } else {
        out!("{before}{}", snapshot.told());
        snapshot.providers.print();
    }
    Ok(())
}

// === impl Snapshot ===

impl Snapshot {
    async fn of(fleet: &Fleet) -> Result<Self> {
        let roster = fleet.store.roster().await?;
        let (mut limits, mut last_errors, mut away) = (Vec::new(), Vec::new(), Vec::new());
        for entry in &roster {
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
        let bus = match lag(fleet, &roster).await {
            Ok(bus) => bus,
            Err(error) => {
                away.push(format!("NATS: {error:#}"));
                Vec::new()
            }
        };
        Ok(Self {
            workers: fleet.store.workers(Duration::from_secs(600)).await?,
            switches: pause::standing(fleet).await?,
            rows: fleet.store.counts().await?,
            bus,
            providers: provider::Standing::of(fleet).await?,
            limits,
            alerts: fleet.store.alerts(false, ALERTS).await?,
            last_errors,
            away,
        })
    }

    fn told(&self) -> String {
        let mut lines = Vec::new();
        let mut table = super::table(["casino", "what", "state", "rows"]);
        for count in &self.rows {
            table.add_row([&count.casino, &count.what, &count.state, &count.n.to_string()]);
        }
        lines.push(if self.rows.is_empty() { "No text has come yet.".to_owned() } else { table.to_string() });
        lines.extend(self.workers());
        lines.extend(self.switches.iter().map(pause::line));
        if self.switches.is_empty() {
            lines.push("Switches: nothing is paused.".to_owned());
        }
        let busy: Vec<&Lag> = self.bus.iter().filter(|lag| lag.pending > 0 || lag.in_flight > 0).collect();
        if busy.is_empty() && self.away.is_empty() {
            lines.push("Bus: nothing waits.".to_owned());
        }
        for Lag { consumer, pending, in_flight, redelivered, .. } in busy {
            lines.push(format!("Bus: {consumer} has {pending} waiting, {in_flight} in work, {redelivered} come again"));
        }
        for limit in &self.limits {
            lines.push(format!(
                "Limits of {}: {} segments/s out; {} texts/min in, {} of one guest; {} texts a day to one guest",
                limit.casino,
                limit.segments_per_second,
                limit.texts_in_per_minute,
                limit.guest_texts_per_minute,
                limit.texts_out_per_guest_and_day
            ));
        }
        lines.extend(alerts(&self.alerts));
        for LastError { casino_id, stage, reason, last_error, last_at } in &self.last_errors {
            lines.push(format!(
                "Dead letter {} {casino_id} {stage} {reason}: {last_error}",
                last_at.format("%F %T UTC")
            ));
        }
        lines.extend(self.away.iter().map(|away| format!("AWAY {away}")));
        lines.join("\n")
    }

    /// One line per kind of worker: how many live, and those that fell silent.
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

/// A line for all of one name, severity and casino: a casino's cases are an alert each.
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

/// What waits, per stage and casino.
async fn lag(fleet: &Fleet, roster: &[RosterEntry]) -> Result<Vec<Lag>> {
    let mut all = Vec::new();
    for stage in CONSUMING {
        for lag in fleet.bus.lag(stage).await? {
            let of = |entry: &&RosterEntry| {
                lanes_of(stage).iter().any(|lane| consumer_name(stage, &entry.casino, *lane) == lag.consumer)
            };
            all.push(Lag {
                stage: stage.as_str(),
                casino: roster.iter().find(of).map_or_else(String::new, |entry| entry.casino.to_string()),
                consumer: lag.consumer.clone(),
                pending: lag.pending,
                in_flight: lag.in_flight,
                redelivered: lag.redelivered,
            });
        }
    }
    Ok(all)
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
