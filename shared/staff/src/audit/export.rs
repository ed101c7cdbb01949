//! Exports of the audit log (SEC-139, SEC-143). Exports are repeatable and redacted, and each
//! export is itself recorded in the log. A finished day is sealed with the digest of its entries,
//! so that a later change is detected.

use chrono::{DateTime, Days, NaiveDate, NaiveTime, Utc};
use serde_json::{Value, json};
use seven_domain::{AuditEvent, CasinoId, text_enum};
use seven_figures::csv;
use seven_store::{
    Error, Tx,
    audit::{Entry, Place, Row, Seal},
};
use sha2::{Digest, Sha256};

use super::{Category, View, category};

/// Number of entries that are read at a time.
const PAGE: i64 = 1_000;
/// Keys whose values no export shows (SEC-139); the last holds the words with which a guest agreed.
const REDACTED: [&str; 4] = ["ip_address", "user_agent", "sms_carrier", "opt_in_raw_text"];
/// Keys that identify a guest or a session; only full exports show their values (SEC-143).
/// `granted` and `revoked` hold ids of consents. The id of a guest's first consent is the guest's
/// id.
const HASHED: [&str; 5] = [
    "guest_phone_hash",
    "session_id",
    "guest_id",
    "revoked",
    "granted",
];

text_enum! {
    Format {
        Csv => "csv",
        /// JSON, one object per line.
        Json => "jsonl",
    }
}

/// Why no export was made.
#[derive(Debug, thiserror::Error)]
pub enum NoExport {
    #[error("your role has no full rows; leave the reason empty for an export without guests")]
    NotYours,
    #[error(transparent)]
    Store(#[from] Error),
}

/// Result of comparing a day with its seal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sealed {
    /// The day has no seal, because it is not over or the nightly job has not run yet.
    Not,
    Whole(Seal),
    /// The day's entries differ from those that were sealed.
    Broken(Seal),
}

/// An export in progress, which reads entries page by page and writes their lines.
#[derive(Debug, Clone)]
pub struct Export {
    casino: CasinoId,
    view: View,
    format: Format,
    /// Whether rows contain the guests' hashes.
    full: bool,
    since: DateTime<Utc>,
    until: DateTime<Utc>,
    exported_at: DateTime<Utc>,
    after: Option<Place>,
    begun: bool,
}

/// Begins an export of the bound casino's entries from `since` (included) to `until` (excluded),
/// and records the export in the log. The rows are full if `reason` is not empty.
///
/// # Errors
/// Fails when the person's role has no right to full rows, or Postgres does not answer.
pub async fn start(
    tx: &mut Tx,
    view: View,
    format: Format,
    (since, until): (DateTime<Utc>, DateTime<Utc>),
    reason: &str,
    by: &str,
    now: DateTime<Utc>,
) -> Result<Export, NoExport> {
    let full = !reason.is_empty();
    if full && !view.may_export_in_full() {
        return Err(NoExport::NotYours);
    }
    let until = until.min(now);
    let detail = json!({
        "format": format, "since": since, "until": until, "full": full, "reason": reason,
    });
    let casino = tx.casino().clone();
    let entry = Entry::of(AuditEvent::AuditExported, by, casino.as_str(), detail);
    tx.audit(&entry).await?;
    Ok(Export {
        casino,
        view,
        format,
        full,
        since,
        until,
        exported_at: now,
        after: None,
        begun: false,
    })
}

impl Export {
    /// Returns the export of a sealed day (UTC): all its entries, with `[HASH]` in place of each
    /// guest. The export is always the same, no matter when it is made.
    pub fn of_day(
        casino: &CasinoId,
        day: NaiveDate,
        sealed_at: DateTime<Utc>,
        format: Format,
    ) -> Self {
        let midnight = |day: NaiveDate| day.and_time(NaiveTime::MIN).and_utc();
        Self {
            casino: casino.clone(),
            view: View::of_operator(),
            format,
            full: false,
            since: midnight(day),
            until: midnight(day + Days::new(1)),
            exported_at: sealed_at,
            after: None,
            begun: false,
        }
    }

    pub fn casino(&self) -> &CasinoId {
        &self.casino
    }

    /// Returns the next lines, beginning with the header; `None` when there are no more.
    ///
    /// # Errors
    /// Fails when Postgres does not answer.
    pub async fn next(&mut self, tx: &mut Tx) -> Result<Option<String>, Error> {
        let page = tx
            .audit_page(self.since, self.until, self.after, PAGE)
            .await?;
        let last = page.last().map(|row| (row.at, row.entry));
        if last.is_none() && self.begun {
            return Ok(None);
        }
        let head = !self.begun;
        self.begun = true;
        self.after = last.or(self.after);
        let rows: Vec<Row> = page
            .into_iter()
            .filter_map(|row| self.view.shown(row))
            .collect();
        Ok(Some(self.lines(rows, head)))
    }

    fn lines(&self, rows: Vec<Row>, head: bool) -> String {
        let rows = rows.into_iter().map(|row| self.redacted(row));
        match self.format {
            Format::Json => rows
                .map(|row| {
                    let mut line = serde_json::to_value(&row).unwrap_or_default();
                    line["casino_id"] = json!(self.casino);
                    line["export_timestamp"] = json!(self.exported_at);
                    // Sorting makes the bytes the same in every build, because builds of serde_json
                    // keep keys in different orders.
                    line.sort_all_objects();
                    format!("{line}\n")
                })
                .collect(),
            Format::Csv => {
                let text = csv::table(&HEAD, rows.map(|row| self.cells(row)));
                match head {
                    true => text,
                    false => text
                        .split_once("\r\n")
                        .map_or("", |(_, rest)| rest)
                        .to_owned(),
                }
            }
        }
    }

    fn cells(&self, mut row: Row) -> [String; 11] {
        row.detail.sort_all_objects();
        [
            row.at.to_rfc3339(),
            self.casino.to_string(),
            row.entry.to_string(),
            row.event_type,
            row.severity.to_string(),
            row.actor,
            row.subject,
            row.guest_hash.unwrap_or_default(),
            row.detail.to_string(),
            row.trace.unwrap_or_default(),
            self.exported_at.to_rfc3339(),
        ]
    }

    fn redacted(&self, mut row: Row) -> Row {
        redact(&mut row.detail, self.full);
        if !self.full {
            // The subject of an entry about consent is the guest's id.
            let event = row.event_type.parse().map(category);
            let names = row.guest_hash.is_some() && event == Ok(Category::Consent);
            row.guest_hash = row.guest_hash.map(|_| HASH.to_owned());
            if names || is_hash(&row.subject) {
                HASH.clone_into(&mut row.subject);
            }
        }
        row
    }
}

const HEAD: [&str; 11] = [
    "timestamp",
    "casino_id",
    "entry",
    "event_type",
    "severity",
    "actor",
    "subject",
    "guest_phone_hash",
    "event_data",
    "trace",
    "export_timestamp",
];
const HASH: &str = "[HASH]";

fn is_hash(text: &str) -> bool {
    text.starts_with("hmac:")
}

/// Replaces the values that an export may not show, at any depth of nesting.
pub fn redact(value: &mut Value, full: bool) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                if REDACTED.contains(&key.as_str()) {
                    *value = json!("[REDACTED]");
                } else if !full && HASHED.contains(&key.as_str()) {
                    *value = json!(HASH);
                } else {
                    redact(value, full);
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|value| redact(value, full)),
        Value::String(text) if !full && is_hash(text) => HASH.clone_into(text),
        _ => {}
    }
}

/// Seals a finished day of the bound casino. A day that already has a seal keeps it.
///
/// # Errors
/// Fails when Postgres does not answer.
pub async fn seal(tx: &mut Tx, day: NaiveDate, now: DateTime<Utc>) -> Result<(), Error> {
    let seal = digest(tx, day, now).await?;
    tx.put_seal(&seal).await?;
    Ok(())
}

/// Compares a day of the bound casino with its seal. A broken seal is audited.
///
/// # Errors
/// Fails when Postgres does not answer.
pub async fn check_seal(tx: &mut Tx, day: NaiveDate) -> Result<Sealed, Error> {
    let Some(sealed) = tx.seal(day).await? else {
        return Ok(Sealed::Not);
    };
    let now = digest(tx, day, sealed.sealed_at).await?;
    if now == sealed {
        return Ok(Sealed::Whole(sealed));
    }
    let casino = tx.casino().to_string();
    tracing::error!(casino, %day, "a sealed day of the audit log was changed");
    let detail = json!({
        "day": day, "entries": now.entries, "sealed_entries": sealed.entries,
        "sha256": now.sha256, "sealed_sha256": sealed.sha256,
    });
    let entry = Entry::of(AuditEvent::AuditSealBroken, "seal check", &casino, detail);
    tx.audit(&entry).await?;
    Ok(Sealed::Broken(sealed))
}

async fn digest(tx: &mut Tx, day: NaiveDate, sealed_at: DateTime<Utc>) -> Result<Seal, Error> {
    let (mut sum, mut entries, mut after) = (Sha256::new(), 0, None);
    loop {
        let page = tx.sealed_page(day, after, PAGE).await?;
        let Some((at, entry, _)) = page.last() else {
            break;
        };
        after = Some((*at, *entry));
        entries += i64::try_from(page.len()).unwrap_or_default();
        for (_, _, line) in &page {
            sum.update(line.as_bytes());
            sum.update(b"\n");
        }
    }
    Ok(Seal {
        day,
        entries,
        sha256: hex::encode(sum.finalize()),
        sealed_at,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // SEC-139, SEC-143
    fn an_export_names_nobody_unless_it_is_full() {
        let detail = json!({
            "consent_event": { "ip_address": "192.0.2.7", "user_agent": "x", "sms_carrier": "y", "tier": "none" },
            "session_id": "s", "about": ["hmac:1:ff", { "guest_phone_hash": "hmac:1:ff" }], "n": 4,
        });
        let mut short = detail.clone();
        redact(&mut short, false);
        assert_eq!(
            short,
            json!({
                "consent_event": {
                    "ip_address": "[REDACTED]", "user_agent": "[REDACTED]", "sms_carrier": "[REDACTED]", "tier": "none",
                },
                "session_id": "[HASH]", "about": ["[HASH]", { "guest_phone_hash": "[HASH]" }], "n": 4,
            })
        );
        let mut full = detail;
        redact(&mut full, true);
        assert_eq!(full["session_id"], "s");
        assert_eq!(full["about"][0], "hmac:1:ff");
        assert_eq!(full["consent_event"]["ip_address"], "[REDACTED]");
    }
}
