//! The audit log: append-only for every role, without phone numbers, kept seven years (SEC-62 to
//! SEC-68).

use chrono::{DateTime, NaiveDate, Utc};
use serde::Serialize;
use serde_json::Value;
use seven_domain::{AuditEvent, GuestHash, Severity};
use sqlx::FromRow;

use crate::{Result, Tx};

/// One entry to append. `subject` is an id, never a phone; `detail` holds no guest text (SEC-64).
#[derive(Debug, Clone)]
pub struct Entry<'a> {
    pub event: AuditEvent,
    pub actor: &'a str,
    pub subject: &'a str,
    pub guest: Option<&'a GuestHash>,
    pub detail: Value,
    pub trace: Option<&'a str>,
}

/// An operator's query of the audit log; an unset field does not filter (SEC-141).
#[derive(Debug, Clone, Default)]
pub struct Query {
    /// Types of the entries; empty for all.
    pub events: Vec<AuditEvent>,
    /// Severities of the entries; empty for all.
    pub severities: Vec<Severity>,
    pub guest: Option<GuestHash>,
    /// The last entry of the previous page; `None` for the first page.
    pub older_than: Option<Place>,
    /// Restricts the result to `guardrail_triggered` entries of this layer.
    pub layer: Option<String>,
    pub since: Option<DateTime<Utc>>,
    pub until: Option<DateTime<Utc>>,
    /// Maximum number of entries, at most 1000 (SEC-142).
    pub limit: i64,
}

/// The place of an entry in the log: its time and its number.
pub type Place = (DateTime<Utc>, i64);

/// A stored entry.
#[derive(Debug, Clone, FromRow, Serialize)]
pub struct Row {
    pub entry: i64,
    #[sqlx(rename = "at")]
    #[serde(rename = "timestamp")]
    pub at: DateTime<Utc>,
    #[sqlx(rename = "action")]
    pub event_type: String,
    pub severity: Severity,
    pub actor: String,
    pub subject: String,
    #[serde(rename = "guest_phone_hash")]
    pub guest_hash: Option<String>,
    #[serde(rename = "event_data")]
    pub detail: Value,
    pub trace: Option<String>,
}

/// The digest of a finished day's entries.
#[derive(Debug, Clone, PartialEq, Eq, FromRow, Serialize)]
pub struct Seal {
    /// The day, in UTC.
    pub day: NaiveDate,
    pub entries: i64,
    /// SHA-256 of the day's entries, in hex.
    pub sha256: String,
    /// When the day was sealed. Each line of the day's export contains this time.
    pub sealed_at: DateTime<Utc>,
}

impl<'a> Entry<'a> {
    /// Creates an entry that concerns no guest.
    pub fn of(event: AuditEvent, actor: &'a str, subject: &'a str, detail: Value) -> Self {
        Self {
            event,
            actor,
            subject,
            guest: None,
            detail,
            trace: None,
        }
    }
}

impl Tx {
    /// Appends one entry.
    pub async fn audit(&mut self, entry: &Entry<'_>) -> Result<()> {
        let casino = self.casino_str();
        sqlx::query(
            "insert into audit_log (casino_id, actor, action, severity, subject, guest_hash, detail, trace)
             values ($1, $2, $3, $4, $5, $6, $7, $8)",
        )
        .bind(casino)
        .bind(entry.actor)
        .bind(entry.event)
        .bind(entry.event.severity().as_str())
        .bind(entry.subject)
        .bind(entry.guest.map(GuestHash::tag))
        .bind(&entry.detail)
        .bind(entry.trace)
        .execute(self.conn())
        .await?;
        Ok(())
    }

    /// Returns the matching entries of the last seven years, newest first (SEC-142).
    pub async fn audit_entries(&mut self, query: &Query) -> Result<Vec<Row>> {
        Ok(sqlx::query_as(
            "select entry, at, action, severity, actor, subject, guest_hash, detail, trace from audit_log
             where at > now() - interval '7 years'
               and ($1::text[] = '{}' or action = any($1)) and ($2::text[] = '{}' or severity = any($2))
               and ($3::text is null or guest_hash = $3) and ($4::text is null or detail->>'layer' = $4)
               and ($5::timestamptz is null or at >= $5) and ($6::timestamptz is null or at < $6)
               and ($8::timestamptz is null or (at, entry) < ($8, $9))
             order by at desc, entry desc limit least($7, 1000)",
        )
        .bind(names(&query.events, AuditEvent::as_str))
        .bind(names(&query.severities, Severity::as_str))
        .bind(query.guest.map(|g| g.tag()))
        .bind(&query.layer)
        .bind(query.since)
        .bind(query.until)
        .bind(query.limit)
        .bind(query.older_than.map(|(at, _)| at))
        .bind(query.older_than.map(|(_, entry)| entry))
        .fetch_all(self.conn())
        .await?)
    }

    /// Returns a page of the entries from `since` (included) to `until` (excluded), oldest first.
    /// `after` is the last entry of the previous page.
    pub async fn audit_page(
        &mut self,
        since: DateTime<Utc>,
        until: DateTime<Utc>,
        after: Option<Place>,
        most: i64,
    ) -> Result<Vec<Row>> {
        let (at, entry) = after.unwrap_or((since, i64::MIN));
        Ok(sqlx::query_as(
            "select entry, at, action, severity, actor, subject, guest_hash, detail, trace from audit_log
             where at >= $1 and at < $2 and (at, entry) > ($3, $4) order by at, entry limit $5",
        )
        .bind(since)
        .bind(until)
        .bind(at)
        .bind(entry)
        .bind(most)
        .fetch_all(self.conn())
        .await?)
    }

    /// Returns the entries of a day (UTC) after `after`, each with the text that goes into the
    /// day's digest. The text is a JSON array of all fields as Postgres writes it, so it does not
    /// depend on our libraries.
    pub async fn sealed_page(
        &mut self,
        day: NaiveDate,
        after: Option<Place>,
        most: i64,
    ) -> Result<Vec<(DateTime<Utc>, i64, String)>> {
        Ok(sqlx::query_as(
            "select at, entry, jsonb_build_array(entry, (extract(epoch from at) * 1000000)::bigint, actor, action, severity, subject,
               guest_hash, detail, trace)::text as line
             from audit_log
             where at >= $1::timestamp at time zone 'UTC' and at < ($1 + 1)::timestamp at time zone 'UTC'
               and ($2::timestamptz is null or (at, entry) > ($2, $3))
             order by at, entry limit $4",
        )
        .bind(day)
        .bind(after.map(|(at, _)| at))
        .bind(after.map(|(_, entry)| entry))
        .bind(most)
        .fetch_all(self.conn())
        .await?)
    }

    /// Returns the days (UTC) before `today` that have no seal yet, oldest first. The first one is
    /// the day after the newest seal. If there is no seal, it is the day of the first entry.
    pub async fn unsealed_days(&mut self, today: NaiveDate, most: i64) -> Result<Vec<NaiveDate>> {
        Ok(sqlx::query_scalar(
            "select day::date as day from generate_series(
               coalesce((select max(day) + 1 from audit_seals), (select (min(at) at time zone 'UTC')::date from audit_log)),
               $1 - 1, interval '1 day') day order by day limit $2",
        )
        .bind(today)
        .bind(most)
        .fetch_all(self.conn())
        .await?)
    }

    /// Stores the seal of a day. If the day has a seal already, keeps that one and returns false.
    pub async fn put_seal(&mut self, seal: &Seal) -> Result<bool> {
        let casino = self.casino_str();
        let done = sqlx::query(
            "insert into audit_seals (casino_id, day, entries, sha256, sealed_at) values ($1, $2, $3, $4, $5) on conflict do nothing",
        )
        .bind(casino)
        .bind(seal.day)
        .bind(seal.entries)
        .bind(&seal.sha256)
        .bind(seal.sealed_at)
        .execute(self.conn())
        .await?;
        Ok(done.rows_affected() == 1)
    }

    /// Returns the sealed days, the newest first.
    pub async fn seals(&mut self, most: i64) -> Result<Vec<Seal>> {
        Ok(sqlx::query_as(
            "select day, entries, sha256, sealed_at from audit_seals order by day desc limit $1",
        )
        .bind(most)
        .fetch_all(self.conn())
        .await?)
    }

    pub async fn seal(&mut self, day: NaiveDate) -> Result<Option<Seal>> {
        Ok(
            sqlx::query_as(
                "select day, entries, sha256, sealed_at from audit_seals where day = $1",
            )
            .bind(day)
            .fetch_optional(self.conn())
            .await?,
        )
    }
}

fn names<T: Copy>(all: &[T], name: fn(T) -> &'static str) -> Vec<&'static str> {
    all.iter().copied().map(name).collect()
}
