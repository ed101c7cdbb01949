//! `seven status`: the state of the fleet, the most urgent lines first. A store that does not
//! answer is named within two seconds; the data of the other stores is shown. If Postgres does not
//! answer, workers and switches come from NATS.

mod gather;

use std::{
    collections::{BTreeMap, BTreeSet},
    process::ExitCode,
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

use super::{
    args::Json,
    context::{Context, Operate},
    pause, provider,
};
use crate::out;

#[derive(Debug, clap::Args)]
pub struct Status {
    /// Keep running and refresh every second until Ctrl-C; with --json, print one document per
    /// line.
    #[arg(long)]
    watch: bool,
    #[command(flatten)]
    json: Json,
}

/// Seconds without a heartbeat after which a worker is shown as silent.
const SILENT_SECONDS: f64 = 5.0;
const PERIOD: Duration = Duration::from_secs(1);
/// Maximum number of open alerts that are read.
const ALERTS: i64 = 500;
/// Maximum number of lines that show alerts.
const SHOWN: usize = 5;
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

/// A casino's switches as the workers last got them through the bus.
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
    /// Casinos' switches as the workers last got them; filled only while Postgres is unreachable.
    mirrored: Vec<Mirrored>,
    /// Number of processes of each worker whose heartbeats arrived over NATS; filled only while
    /// Postgres is unreachable.
    heard: BTreeMap<String, usize>,
    bus: Vec<Lag>,
    breakers: Vec<provider::Breaker>,
    /// The stores that did not answer, each with its error.
    away: Vec<Away>,
}

/// The part of the status that comes from Postgres.
#[derive(Debug, Default, Serialize)]
struct Stored {
    workers: Vec<Beat>,
    switches: Vec<Standing>,
    rows: Vec<Count>,
    /// Number of turns per outcome. Covers the turns of the last 24 hours for which a hosted model
    /// was set up. An outcome is `model`, `fallback_text`, or the reason why the offline host
    /// answered.
    hosted: Vec<(String, i64)>,
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

impl Operate for Status {
    async fn run(self, ctx: &Context) -> Result<ExitCode> {
        let fleet = ctx.handles().await?;
        let json = self.json.json;
        if !self.watch {
            show(ctx, &fleet, json, "").await?;
            return Ok(ExitCode::SUCCESS);
        }
        loop {
            // Unless the output is JSON, moves the cursor home and clears the rest of the screen.
            let before = if json { "" } else { "\u{1b}[H\u{1b}[J" };
            if let Err(error) = show(ctx, &fleet, json, before).await {
                out!("{before}{error:#}");
            }
            tokio::select! {
                _ = tokio::signal::ctrl_c() => return Ok(ExitCode::SUCCESS),
                () = tokio::time::sleep(PERIOD) => {}
            }
        }
    }
}

/// Returns the status as one document. Error texts are left out, because they may quote a
/// provider's answer with a phone number.
pub(super) async fn redacted(fleet: &Fleet) -> Result<serde_json::Value> {
    let mut snapshot = gather::snapshot(fleet).await;
    snapshot
        .stored
        .last_errors
        .iter_mut()
        .for_each(|error| error.last_error.clear());
    // The reasons are removed, because text that a person typed must not leave our systems.
    snapshot
        .stored
        .switches
        .iter_mut()
        .for_each(|switch| switch.reason.clear());
    Ok(serde_json::to_value(&snapshot)?)
}

async fn show(ctx: &Context, fleet: &Fleet, json: bool, before: &str) -> Result<()> {
    let snapshot = gather::snapshot(fleet).await;
    ensure!(
        snapshot.away.len() < STORES,
        "neither Postgres nor NATS nor Redis answers (fleet: {}); ./scripts/dev starts a fleet \
         here",
        ctx.fleet_name()?
    );
    if json {
        let mut document = serde_json::to_value(&snapshot)?;
        document["fleet"] = ctx.fleet_name()?.into();
        out!("{document}");
    } else {
        let lines = snapshot.lines(ctx);
        let lines = lines.iter().map(|line| ctx.view.cut(&ctx.view.line(line)));
        out!("{before}Fleet: {}", ctx.fleet_name()?);
        out!("{}", lines.collect::<Vec<_>>().join("\n"));
    }
    Ok(())
}

// === impl Snapshot ===

impl Snapshot {
    /// Returns the lines for a person, the most urgent first.
    fn lines(&self, ctx: &Context) -> Vec<String> {
        let mut lines: Vec<String> = self
            .away
            .iter()
            .map(|Away { store, error }| format!("AWAY {store}: {error}"))
            .collect();
        let alerts = alerts(&self.stored.alerts);
        lines.extend(alerts.iter().take(SHOWN).cloned());
        if alerts.len() > SHOWN {
            lines.push(format!(
                "ALERT and {} more: `seven alert list`",
                alerts.len() - SHOWN
            ));
        }
        if self.is_away(POSTGRES) {
            lines.extend(self.without_postgres());
        } else {
            lines.extend(self.stored.switches.iter().map(pause::line));
            if self.stored.switches.is_empty() {
                lines.push("Switches: nothing is paused.".to_owned());
            }
            lines.extend(provider::lines(&self.stored.provider_stops, &self.breakers));
            lines.extend(self.stored.workers());
            lines.extend(
                super::model::answered(&self.stored.hosted)
                    .map(|told| format!("Hosted model: {told}, in 24 h")),
            );
        }
        lines.extend(self.backlog());
        for LastError {
            casino_id,
            stage,
            reason,
            last_error,
            last_at,
        } in &self.stored.last_errors
        {
            let at = super::minute(*last_at);
            lines.push(format!(
                "Dead letter of {at}: {casino_id} {stage} {reason}: {last_error}"
            ));
        }
        if !self.is_away(POSTGRES) {
            lines.extend(self.stored.rows(ctx).lines().map(str::to_owned));
        }
        if ctx.view.wide {
            lines.extend(self.stored.limits.iter().map(Limits::told));
        }
        lines
    }

    fn backlog(&self) -> Vec<String> {
        let busy = self
            .bus
            .iter()
            .filter(|lag| lag.pending > 0 || lag.in_flight > 0);
        let told = busy.map(|lag| {
            format!(
                "Bus: {} has {} waiting, {} in work, {} delivered again",
                lag.consumer, lag.pending, lag.in_flight, lag.redelivered
            )
        });
        let told: Vec<String> = told.collect();
        if told.is_empty() && !self.is_away(NATS) {
            vec!["Bus: nothing waits.".to_owned()]
        } else {
            told
        }
    }

    fn is_away(&self, store: &str) -> bool {
        self.away.iter().any(|away| away.store == store)
    }

    /// Returns the lines that need no data from Postgres. While Postgres is unreachable, no text is
    /// sent, because the pre-send check is a query to Postgres.
    fn without_postgres(&self) -> Vec<String> {
        let mut lines = vec![
            "No text is sent and no turn is made until Postgres answers; texts of guests are kept."
                .into(),
        ];
        if self.is_away(NATS) {
            return lines;
        }
        for worker in Worker::ALL {
            let number = self
                .heard
                .get(worker.name())
                .map_or_else(|| "NONE".to_owned(), usize::to_string);
            lines.push(format!(
                "Workers: {worker} {number} alive, heard over NATS",
                worker = worker.name()
            ));
        }
        let paused = self
            .mirrored
            .iter()
            .filter(|casino| !casino.paused.is_empty());
        let paused: Vec<String> = paused
            .map(|Mirrored { casino, paused }| {
                format!(
                    "ON: {} for {casino}, as the workers were told last",
                    paused.join(", ")
                )
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
            "Limits of {}: {} segments/s out; {} texts/min in, {} of one guest; {} texts a day to \
             one guest",
            self.casino,
            self.segments_per_second,
            self.texts_in_per_minute,
            self.guest_texts_per_minute,
            self.texts_out_per_guest_and_day
        )
    }
}

impl Stored {
    /// Returns a table of the number of stored rows in each state: one line per casino and kind of
    /// row.
    fn rows(&self, ctx: &Context) -> String {
        let mut states: BTreeMap<(&str, &str), Vec<String>> = BTreeMap::new();
        for count in &self.rows {
            states
                .entry((&count.casino, &count.what))
                .or_default()
                .push(format!("{} {}", count.n, count.state));
        }
        if states.is_empty() {
            return "No text has come yet.".to_owned();
        }
        let mut table = ctx.table(["casino", "what", "number in each state"]);
        states.iter().for_each(|((casino, what), states)| {
            table.add_row([*casino, *what, &states.join(", ")]);
        });
        table.to_string()
    }

    /// Returns one line per worker that fell silent, and lines with the number of workers of each
    /// kind.
    fn workers(&self) -> Vec<String> {
        let silent = |beat: &&Beat| beat.silent > SILENT_SECONDS;
        let mut lines: Vec<String> = self
            .workers
            .iter()
            .filter(silent)
            .map(|beat| {
                format!(
                    "SILENT for {:.0} s: {} {}",
                    beat.silent, beat.worker, beat.instance
                )
            })
            .collect();
        let numbers = Worker::ALL.map(|worker| {
            let living = self
                .workers
                .iter()
                .filter(|beat| beat.worker == worker.name() && !silent(beat))
                .count();
            if living == 0 {
                format!("{} NONE", worker.name())
            } else {
                format!("{} {living}", worker.name())
            }
        });
        lines.extend(
            numbers
                .chunks(3)
                .map(|some| format!("Workers: {}", some.join(", "))),
        );
        lines
    }
}

/// Returns one line for all alerts with the same name, severity and casino. Otherwise each open
/// case of a casino would take a line.
fn alerts(open: &[Alert]) -> Vec<String> {
    let kind = |alert: &Alert| (alert.severity, alert.name.clone(), alert.casino_id.clone());
    let mut kinds: Vec<_> = open.iter().map(kind).collect();
    let mut seen = BTreeSet::new();
    kinds.retain(|kind| seen.insert(kind.clone()));
    let told = kinds.into_iter().map(|of| {
        let same: Vec<&Alert> = open.iter().filter(|alert| kind(alert) == of).collect();
        let (severity, name, casino) = of;
        let whom = if casino.is_empty() {
            "the whole fleet"
        } else {
            &casino
        };
        let since = same
            .iter()
            .map(|alert| alert.first_at)
            .min()
            .unwrap_or_default();
        let since = super::minute(since);
        let number = if same.len() > 1 {
            format!(": {},", same.len())
        } else {
            String::new()
        };
        let mut hands: Vec<&str> = same
            .iter()
            .filter_map(|alert| alert.acknowledged_by.as_deref())
            .collect();
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
        format!("ALERT {severity} {name} of {whom}{number} since {since}{late}{hand}")
    });
    told.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alert(name: &str, severity: &str, minute: u32, by: Option<&str>) -> Alert {
        let at = chrono::NaiveDate::from_ymd_opt(2026, 11, 23)
            .and_then(|day| day.and_hms_opt(8, minute, 0))
            .unwrap();
        Alert {
            alert_id: uuid::Uuid::nil(),
            key: String::new(),
            name: name.to_owned(),
            casino_id: if name == "case" {
                "silver_birch".to_owned()
            } else {
                String::new()
            },
            provider: String::new(),
            code: String::new(),
            severity: severity.parse().unwrap(),
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
                "ALERT critical case of silver_birch: 3, since 11-23 08:05, 1 OVERDUE, 1 in hand: ana",
                "ALERT warning case of silver_birch since 11-23 08:21, in hand: ana",
                "ALERT critical provider_stopped of the whole fleet since 11-23 08:40",
            ]
        );
    }
}
