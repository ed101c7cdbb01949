//! `seven incident`: the register of incidents, drills, and `bundle`: what stood where, in a folder that may leave the house: counts, ids, times and reason codes; no phone, no
//! name, no text (OBS-19, PROD-36).

mod drill;
mod register;

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context, Result, ensure};
use chrono::{DateTime, TimeDelta, Utc};
use clap::Subcommand;
use serde_json::{Value, json};
use seven_domain::CasinoId;
use seven_runtime::Fleet;
use seven_store::{audit, dead::Filter};

use super::{fleet, pause, status};
use crate::{out, settings::Settings};

/// Of each list the newest; a bundle is for reading.
const MOST: i64 = 1_000;
const SCRAPE: Duration = Duration::from_secs(3);

#[derive(Debug, Subcommand)]
pub enum Incident {
    /// Collects status, alerts, dead letters, switches, audit entries and metrics, without guests in any of them.
    Bundle {
        /// How far back: 30m, 1h, 2d.
        #[arg(long, value_name = "SPAN", default_value = "1h", value_parser = span)]
        since: TimeDelta,
        /// A folder, which must not exist yet.
        #[arg(long, value_name = "FOLDER")]
        out: PathBuf,
        /// Where workers answer /metrics: may be given several times. Without it the address of [ops].
        #[arg(long = "metrics", value_name = "URL")]
        workers: Vec<String>,
    },
    /// Notes a recovery that was drilled, and says whether it passed: docs/runbook.md, "When the database is lost", each quarter.
    Drill(drill::Drill),
    #[command(flatten)]
    Register(register::Register),
}

fn span(text: &str) -> Result<TimeDelta, String> {
    let bad = || format!("`{text}` is no span; expected a number and m, h or d, such as 1h");
    let (number, unit) = text.split_at_checked(text.len().saturating_sub(1)).ok_or_else(bad)?;
    let number: i64 = number.parse().map_err(|_| bad())?;
    let span = match unit {
        "m" => TimeDelta::try_minutes(number),
        "h" => TimeDelta::try_hours(number),
        "d" => TimeDelta::try_days(number),
        _ => None,
    };
    span.filter(|span| *span > TimeDelta::zero()).ok_or_else(bad)
}

pub async fn run(config: Option<&Path>, command: Incident) -> Result<()> {
    let (since, folder, workers) = match command {
        Incident::Bundle { since, out, workers } => (since, out, workers),
        Incident::Register(command) => return register::run(config, command).await,
        Incident::Drill(drill) => return drill.note(config).await,
    };
    ensure!(!folder.exists(), "{} exists; name a folder that does not", folder.display());
    let fleet = fleet(config).await?;
    let ops = Settings::load(config)?.ops.listen;
    let workers = if workers.is_empty() { vec![format!("http://{ops}")] } else { workers };
    let until = DateTime::<Utc>::from(std::time::SystemTime::now());
    let bundle = Bundle { folder, from: until - since, until };
    bundle.write(&fleet, &workers).await
}

struct Bundle {
    folder: PathBuf,
    from: DateTime<Utc>,
    until: DateTime<Utc>,
}

impl Bundle {
    async fn write(&self, fleet: &Fleet, workers: &[String]) -> Result<()> {
        std::fs::create_dir_all(&self.folder).with_context(|| format!("creating {}", self.folder.display()))?;
        let mut missing = Vec::new();
        // What cannot be read is named, and the rest is written: an incident is just when something cannot.
        let parts = [
            ("status.json", status::redacted(fleet).await),
            ("alerts.json", alerts(fleet, self.from).await),
            ("dead_letters.json", dead_letters(fleet, self.from).await),
            ("audit.json", audit_entries(fleet, self.from).await),
            ("switches.json", switches(fleet).await),
        ];
        for (name, part) in parts {
            match part {
                Ok(part) => self.put(name, &serde_json::to_string_pretty(&part)?)?,
                Err(error) => missing.push(format!("{name}: {error:#}")),
            }
        }
        for (n, url) in (1..).zip(workers) {
            match scrape(url).await {
                Ok(text) => self.put(&format!("metrics-{n}.txt"), &text)?,
                Err(error) => missing.push(format!("metrics of {url}: {error:#}")),
            }
        }
        let manifest = json!({
            "from": self.from, "until": self.until, "version": env!("CARGO_PKG_VERSION"), "commit": env!("SEVEN_COMMIT"), "missing": missing,
        });
        self.put("manifest.json", &serde_json::to_string_pretty(&manifest)?)?;
        out!(
            "{} holds what stood from {} to {}.",
            self.folder.display(),
            self.from.format("%F %T"),
            self.until.format("%F %T UTC")
        );
        missing.iter().for_each(|missing| out!("Missing: {missing}"));
        Ok(())
    }

    fn put(&self, name: &str, text: &str) -> Result<()> {
        let path = self.folder.join(name);
        std::fs::write(&path, redact(text)).with_context(|| format!("writing {}", path.display()))
    }
}

async fn alerts(fleet: &Fleet, from: DateTime<Utc>) -> Result<Value> {
    let mut alerts = fleet.store.alerts(true, MOST).await?;
    alerts.retain(|alert| alert.last_at >= from || alert.resolved_at.is_none());
    Ok(serde_json::to_value(alerts)?)
}

/// Every casino, and the one that stands for none: what concerns the whole fleet is filed there.
async fn casinos(fleet: &Fleet) -> Result<Vec<CasinoId>> {
    let known = fleet.store.roster().await?.into_iter().map(|entry| entry.casino);
    Ok(known.chain([CasinoId::unknown()]).collect())
}

/// Without payload and without the error's words, which may quote a provider that quotes a number.
async fn dead_letters(fleet: &Fleet, from: DateTime<Utc>) -> Result<Value> {
    let mut all = Vec::new();
    for casino in casinos(fleet).await? {
        let mut tx = fleet.store.bind(&casino).await?;
        let filter = Filter { since: Some(from), ..Filter::default() };
        for letter in tx.dead_letters(&filter, None, MOST).await? {
            all.push(json!({
                "dead_id": letter.dead_id, "casino": letter.casino_id, "stage": letter.stage, "reason": letter.reason, "state": letter.state,
                "attempts": letter.attempts, "replays": letter.replays, "trace": letter.trace, "first_at": letter.first_at,
                "last_at": letter.last_at,
            }));
        }
        tx.commit().await?;
    }
    Ok(Value::from(all))
}

/// What people and workers did, without the entries about a guest.
async fn audit_entries(fleet: &Fleet, from: DateTime<Utc>) -> Result<Value> {
    let mut all = Vec::new();
    for casino in casinos(fleet).await? {
        let mut tx = fleet.store.bind(&casino).await?;
        let query = audit::Query { since: Some(from), limit: MOST, ..audit::Query::default() };
        for row in tx.audit_entries(&query).await?.into_iter().filter(|row| row.guest_hash.is_none()) {
            all.push(json!({
                "casino": casino, "at": row.at, "event_type": row.event_type, "severity": row.severity, "actor": row.actor,
                "trace": row.trace,
            }));
        }
        tx.commit().await?;
    }
    Ok(Value::from(all))
}

async fn switches(fleet: &Fleet) -> Result<Value> {
    let standing = pause::standing(fleet).await?;
    // The reason is what a person typed.
    let told =
        standing.iter().map(|s| json!({ "casino": s.casino_id, "switch": s.name, "since": s.since, "by": s.actor }));
    Ok(told.collect())
}

async fn scrape(url: &str) -> Result<String> {
    anyhow::ensure!(
        !url.ends_with(":0"),
        "[ops] listen takes any free port, so say where with --metrics URL; seven dev prints it"
    );
    // A worker is never behind the proxy of whoever asks.
    let client = reqwest::Client::builder().no_proxy().timeout(SCRAPE).build().context("setting up HTTP")?;
    let worker = url.trim_end_matches('/').trim_end_matches("/metrics");
    let answer = client.get(format!("{worker}/metrics")).send().await?.error_for_status()?;
    Ok(answer.text().await?)
}

/// A last look over all that is written: whatever reads like a phone or a mail address goes, wherever it came from. Ids and times stay.
fn redact(text: &str) -> String {
    static PERSONAL: std::sync::LazyLock<Option<regex::Regex>> = std::sync::LazyLock::new(|| {
        regex::Regex::new(
            r"(?x) \+\d{8,15}\b
             | (?:\+?1[-.\ ]?)?\([2-9]\d{2}\)[-.\ ]?[2-9]\d{2}[-.\ ]?\d{4}\b
             | \b(?:1[-.\ ]?)?[2-9]\d{2}[-.\ ]?[2-9]\d{2}[-.\ ]?\d{4}\b
             | [A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,}",
        )
        .ok()
    });
    let Some(personal) = &*PERSONAL else { return String::new() };
    personal.replace_all(text, "[redacted]").into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phones_and_addresses_go_and_ids_and_times_stay() {
        for (text, told) in [
            ("+18605550142 said", "[redacted] said"),
            ("call 860-555-0142", "call [redacted]"),
            ("(18605550142)", "([redacted])"),
            ("(860) 555-0142 or +1 (860)555.0142", "[redacted] or [redacted]"),
            ("1-860-555-0142", "[redacted]"),
            ("to ann@example.com", "to [redacted]"),
            ("0193b4f2-6c1e-7a4b-9c3d-5f6a7b8c9d0e", "0193b4f2-6c1e-7a4b-9c3d-5f6a7b8c9d0e"),
            ("2026-11-23T10:00:00Z", "2026-11-23T10:00:00Z"),
        ] {
            assert_eq!(redact(text), told);
        }
    }

    #[test]
    fn a_span_has_a_unit() {
        assert_eq!(span("90m").unwrap(), TimeDelta::minutes(90));
        for bad in ["", "1", "h", "-1h", "0m", "1w", "é"] {
            assert!(span(bad).unwrap_err().contains("such as 1h"), "{bad}");
        }
    }
}
