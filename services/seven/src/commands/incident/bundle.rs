//! `seven incident bundle`: writes the state of the fleet to an archive that outsiders may see. It
//! contains counts, ids, times and reason codes, but no phone, no name and no text.

use std::{
    fs::File,
    io::{IsTerminal, Write},
    path::PathBuf,
    time::Duration,
};

use anyhow::{Context as _, Result, ensure};
use chrono::{DateTime, Utc};
use clap::Args;
use flate2::{Compression, write::GzEncoder};
use serde_json::{Value, json};
use seven_domain::CasinoId;
use seven_runtime::Fleet;
use seven_store::{audit, dead::Filter};

use crate::{
    commands::{context::Context, given::When, pause, progress::during, status, utc},
    out,
};

/// Maximum number of entries in each list; the newest come first. The limit keeps the bundle
/// readable for a person.
const MOST: i64 = 1_000;
const SCRAPE: Duration = Duration::from_secs(3);

#[derive(Debug, Args)]
pub struct Bundle {
    /// Start of the period: a span before now (30m, 2h, 7d) or a time (RFC 3339).
    #[arg(long, value_name = "WHEN", default_value = "1h")]
    since: When,
    /// The archive (.tar.gz), which must not exist yet; - is stdout. Without it: a file in the
    /// current folder, named by its time.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// URL where a worker answers /metrics; may be given several times. Without it: the address of
    /// [ops].
    #[arg(long = "metrics", value_name = "URL")]
    workers: Vec<String>,
}

/// Redacted files by name, and the parts that could not be collected.
#[derive(Default)]
struct Collected {
    files: Vec<(String, String)>,
    missing: Vec<String>,
}

// === impl Bundle ===

impl Bundle {
    pub(super) async fn collect(self, ctx: &Context) -> Result<()> {
        let until = DateTime::<Utc>::from(std::time::SystemTime::now());
        let from = self.since.at(until);
        let name = format!("seven-incident-{}", until.format("%Y%m%dT%H%M%SZ"));
        let to = self.out.unwrap_or_else(|| format!("{name}.tar.gz").into());
        let piped = to.as_os_str() == "-";
        ensure!(
            !piped || !std::io::stdout().is_terminal(),
            "an archive cannot be shown on a terminal; add `> FILE` or --out FILE"
        );
        ensure!(
            piped || !to.exists(),
            "{} exists; name a file that does not",
            to.display()
        );
        let mut workers = self.workers;
        if workers.is_empty() {
            workers.push(format!("http://{}", ctx.settings()?.ops.listen));
        }
        if piped {
            let fleet = ctx.handles().await?;
            let collected = during("Collecting", collect(&fleet, &workers, from, until)).await?;
            archive(std::io::stdout().lock(), &name, until, &collected.files)
                .context("writing to standard output")?;
            // The archive goes to standard output, so messages go to stderr.
            return collected.tell_missing(std::io::stderr());
        }
        // The file is created before anything is collected, so that an unwritable path fails at
        // once.
        let file = File::create_new(&to);
        let file = file.with_context(|| {
            format!(
                "creating {}; --out - writes to standard output",
                to.display()
            )
        })?;
        let written = async {
            let fleet = ctx.handles().await?;
            let collected = during("Collecting", collect(&fleet, &workers, from, until)).await?;
            archive(file, &name, until, &collected.files)
                .with_context(|| format!("writing {}", to.display()))?;
            Ok(collected)
        };
        let collected = match written.await {
            Ok(collected) => collected,
            Err(error) => {
                // Deletes the partial archive: it would look like a complete one.
                drop(std::fs::remove_file(&to));
                return Err(error);
            }
        };
        out!(
            "Wrote {}: the state from {} to {}.",
            to.display(),
            utc(from),
            utc(until)
        );
        collected.tell_missing(std::io::stdout())
    }
}

// === impl Collected ===

impl Collected {
    fn put(&mut self, name: &str, text: &str) {
        self.files.push((name.to_owned(), redact(text)));
    }

    fn tell_missing(&self, mut to: impl Write) -> Result<()> {
        self.missing
            .iter()
            .try_for_each(|missing| writeln!(to, "Missing: {missing}"))
            .context("telling what is missing")
    }
}

/// Collects every part that can be read, and names the parts that failed. During an incident, some
/// parts are likely to fail.
async fn collect(
    fleet: &Fleet,
    workers: &[String],
    from: DateTime<Utc>,
    until: DateTime<Utc>,
) -> Result<Collected> {
    let mut collected = Collected::default();
    let parts = [
        ("status.json", status::redacted(fleet).await),
        ("alerts.json", alerts(fleet, from).await),
        ("dead_letters.json", dead_letters(fleet, from).await),
        ("audit.json", audit_entries(fleet, from).await),
        ("switches.json", switches(fleet).await),
    ];
    for (name, part) in parts {
        match part {
            Ok(part) => collected.put(name, &serde_json::to_string_pretty(&part)?),
            Err(error) => collected.missing.push(format!("{name}: {error:#}")),
        }
    }
    for (n, url) in (1..).zip(workers) {
        match scrape(url).await {
            Ok(text) => collected.put(&format!("metrics-{n}.txt"), &text),
            Err(error) => collected
                .missing
                .push(format!("metrics of {url}: {error:#}")),
        }
    }
    let manifest = json!({
        "from": from, "until": until, "version": env!("CARGO_PKG_VERSION"),
        "commit": env!("SEVEN_COMMIT"),
        "missing": collected.missing,
    });
    collected.put("manifest.json", &serde_json::to_string_pretty(&manifest)?);
    Ok(collected)
}

/// Writes all files into one folder, so that unpacking does not scatter them.
fn archive(
    to: impl Write,
    folder: &str,
    at: DateTime<Utc>,
    files: &[(String, String)],
) -> std::io::Result<()> {
    let mut archive = tar::Builder::new(GzEncoder::new(to, Compression::default()));
    for (name, text) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(u64::try_from(text.len()).unwrap_or(u64::MAX));
        header.set_mode(0o600);
        header.set_mtime(u64::try_from(at.timestamp()).unwrap_or_default());
        archive.append_data(&mut header, format!("{folder}/{name}"), text.as_bytes())?;
    }
    archive.into_inner()?.finish()?.flush()
}

async fn alerts(fleet: &Fleet, from: DateTime<Utc>) -> Result<Value> {
    let mut alerts = fleet.store.alerts(true, MOST).await?;
    alerts.retain(|alert| alert.last_at >= from || alert.resolved_at.is_none());
    Ok(serde_json::to_value(alerts)?)
}

/// Returns every casino and the pseudo tenant `unknown`. That tenant owns entries about the whole
/// fleet and events of unknown numbers.
async fn casinos(fleet: &Fleet) -> Result<Vec<CasinoId>> {
    let known = fleet
        .store
        .roster()
        .await?
        .into_iter()
        .map(|entry| entry.casino);
    Ok(known.chain([CasinoId::unknown()]).collect())
}

/// Returns dead letters without payloads and error texts. An error may quote a provider's answer
/// that contains a phone number.
async fn dead_letters(fleet: &Fleet, from: DateTime<Utc>) -> Result<Value> {
    let mut all = Vec::new();
    for casino in casinos(fleet).await? {
        let mut tx = fleet.store.bind(&casino).await?;
        let filter = Filter {
            since: Some(from),
            ..Filter::default()
        };
        for letter in tx.dead_letters(&filter, None, MOST).await? {
            all.push(json!({
                "dead_id": letter.dead_id, "casino": letter.casino_id, "stage": letter.stage,
                "reason": letter.reason, "state": letter.state,
                "attempts": letter.attempts, "replays": letter.replays, "trace": letter.trace,
                "first_at": letter.first_at,
                "last_at": letter.last_at,
            }));
        }
        tx.commit().await?;
    }
    Ok(Value::from(all))
}

/// Returns the audit entries of people and workers, without those about a guest.
async fn audit_entries(fleet: &Fleet, from: DateTime<Utc>) -> Result<Value> {
    let mut all = Vec::new();
    for casino in casinos(fleet).await? {
        let mut tx = fleet.store.bind(&casino).await?;
        let query = audit::Query {
            since: Some(from),
            limit: MOST,
            ..audit::Query::default()
        };
        for row in tx
            .audit_entries(&query)
            .await?
            .into_iter()
            .filter(|row| row.guest_hash.is_none())
        {
            all.push(json!({
                "casino": casino, "at": row.at, "event_type": row.event_type,
                "severity": row.severity, "actor": row.actor,
                "trace": row.trace,
            }));
        }
        tx.commit().await?;
    }
    Ok(Value::from(all))
}

async fn switches(fleet: &Fleet) -> Result<Value> {
    let standing = pause::standing(fleet).await?;
    // The reason is left out because a person typed it.
    let told = standing.iter().map(
        |s| json!({ "casino": s.casino_id, "switch": s.name, "since": s.since, "by": s.actor }),
    );
    Ok(told.collect())
}

async fn scrape(url: &str) -> Result<String> {
    anyhow::ensure!(
        !url.ends_with(":0"),
        "[ops] listen takes any free port, so say where with --metrics URL; ./scripts/dev prints it"
    );
    // No proxy: workers are reached directly, whatever proxy the operator's environment sets.
    let client = reqwest::Client::builder()
        .no_proxy()
        .timeout(SCRAPE)
        .build()
        .context("setting up HTTP")?;
    let worker = url.trim_end_matches('/').trim_end_matches("/metrics");
    let answer = client
        .get(format!("{worker}/metrics"))
        .send()
        .await?
        .error_for_status()?;
    Ok(answer.text().await?)
}

/// Removes everything from a text that looks like a phone number or a mail address. Ids and times
/// stay. This is the last filter before a text is written.
pub(super) fn redact(text: &str) -> String {
    static PERSONAL: std::sync::LazyLock<Option<regex::Regex>> = std::sync::LazyLock::new(|| {
        regex::Regex::new(
            r"(?x) \+\d{8,15}\b
             | (?:\+?1[-.\ ]?)?\([2-9]\d{2}\)[-.\ ]?[2-9]\d{2}[-.\ ]?\d{4}\b
             | \b(?:1[-.\ ]?)?[2-9]\d{2}[-.\ ]?[2-9]\d{2}[-.\ ]?\d{4}\b
             | [A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,}",
        )
        .ok()
    });
    let Some(personal) = &*PERSONAL else {
        return String::new();
    };
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
            (
                "(860) 555-0142 or +1 (860)555.0142",
                "[redacted] or [redacted]",
            ),
            ("1-860-555-0142", "[redacted]"),
            ("to ann@example.com", "to [redacted]"),
            (
                "0193b4f2-6c1e-7a4b-9c3d-5f6a7b8c9d0e",
                "0193b4f2-6c1e-7a4b-9c3d-5f6a7b8c9d0e",
            ),
            ("2026-11-23T10:00:00Z", "2026-11-23T10:00:00Z"),
        ] {
            assert_eq!(redact(text), told);
        }
    }
}
