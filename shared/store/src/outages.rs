//! Outages of a casino: times in which its guests wait for answers or for texts. The casino's
//! contacts are told when an outage begins and when it ends (PROD-40).

use std::time::Duration;

use chrono::{DateTime, Utc};
use serde_json::json;
use seven_domain::{CasinoId, OutageKind};
use uuid::Uuid;

use crate::{Result, Store, Tx};

/// A casino that has an open outage of this kind, or whose guests wait as in such an outage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waits {
    pub casino: CasinoId,
    pub kind: OutageKind,
    /// When the guest who has waited longest began to wait; `None` if no guest has waited longer
    /// than the limit.
    pub since: Option<DateTime<Utc>>,
    /// Whether an outage of this kind is open.
    pub open: bool,
}

impl Store {
    /// Returns the casinos whose guests have waited for longer than `lasted`, and those with an
    /// open outage.
    pub async fn outages(&self, lasted: Duration) -> Result<Vec<Waits>> {
        let query =
            "select casino_id, kind, since, is_open from fleet_outages(make_interval(secs => $1))";
        let rows: Vec<(String, OutageKind, Option<DateTime<Utc>>, bool)> = sqlx::query_as(query)
            .bind(lasted.as_secs_f64())
            .fetch_all(&mut *self.fleet().await?)
            .await?;
        rows.into_iter()
            .map(|(casino, kind, since, open)| {
                Ok(Waits {
                    casino: CasinoId::trusted(&casino)?,
                    kind,
                    since,
                    open,
                })
            })
            .collect()
    }
}

impl Tx {
    /// Opens an outage, and plans a letter to each contact that wants to be told about outages.
    /// Returns false if an outage of this kind is already open.
    pub async fn begin_outage(
        &mut self,
        outage: Uuid,
        kind: OutageKind,
        since: DateTime<Utc>,
    ) -> Result<bool> {
        let casino = self.casino_str();
        let opened = sqlx::query(
            "insert into outages (casino_id, outage_id, kind, began_at) values ($1, $2, $3, $4)
             on conflict (casino_id, kind) where ended_at is null do nothing",
        )
        .bind(casino)
        .bind(outage)
        .bind(kind)
        .bind(since)
        .execute(self.conn())
        .await?
        .rows_affected()
            == 1;
        if opened {
            sqlx::query(
                "insert into contact_letters (casino_id, letter_id, contact_id, kind, key, detail)
                 select casino_id, gen_random_uuid(), contact_id, 'outage', $1::text, $2::jsonb from contacts
                 where outages and ended_at is null and channel <> 'text'",
            )
            .bind(outage.to_string())
            .bind(json!({ "kind": kind, "since": since }))
            .execute(self.conn())
            .await?;
        }
        Ok(opened)
    }

    /// Ends the open outage of this kind, and plans a letter to each contact that has a letter
    /// about its beginning. A contact whose first letter was given up gets no second one. Returns
    /// false if no outage of this kind is open.
    pub async fn end_outage(&mut self, kind: OutageKind) -> Result<bool> {
        let ended: Option<(Uuid, DateTime<Utc>, DateTime<Utc>)> = sqlx::query_as(
            "update outages set ended_at = now() where kind = $1 and ended_at is null returning outage_id, began_at, ended_at",
        )
        .bind(kind)
        .fetch_optional(self.conn())
        .await?;
        let Some((outage, began_at, ended_at)) = ended else {
            return Ok(false);
        };
        sqlx::query(
            "insert into contact_letters (casino_id, letter_id, contact_id, kind, key, detail)
             select l.casino_id, gen_random_uuid(), l.contact_id, 'outage_over', l.key, $2::jsonb
             from contact_letters l join contacts c on c.casino_id = l.casino_id and c.contact_id = l.contact_id
             where l.kind = 'outage' and l.key = $1::text and l.given_up_at is null and c.ended_at is null",
        )
        .bind(outage.to_string())
        .bind(json!({ "kind": kind, "since": began_at, "until": ended_at }))
        .execute(self.conn())
        .await?;
        Ok(true)
    }
}
