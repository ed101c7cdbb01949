//! Guardrail hits, for the people who review them (OBS-5). They are read from the audit log, which
//! holds ids and patterns, never a text.

use chrono::{DateTime, Utc};
use serde::Serialize;
use sqlx::FromRow;
use uuid::Uuid;

use crate::{Result, Tx};

/// The hits of one pattern in a period.
#[derive(Debug, Clone, PartialEq, Eq, FromRow, Serialize)]
pub struct Hits {
    pub layer: String,
    pub pattern_id: String,
    pub hits: i64,
    pub guests: i64,
    /// Hits on texts that a person judged to be harmless.
    pub false_alarms: i64,
    pub last_at: DateTime<Utc>,
    /// Id of the newest text that the pattern hit.
    pub last_text: String,
}

impl Tx {
    /// Returns the hits since `since` by pattern, most frequent first.
    pub async fn guardrail_hits(&mut self, since: DateTime<Utc>) -> Result<Vec<Hits>> {
        Ok(sqlx::query_as(
            "select detail->>'layer' as layer, coalesce(detail->>'pattern_id', '') as pattern_id, count(*) as hits, count(distinct guest_hash) as guests,
                    count(*) filter (where exists (select from audit_log j where j.action = 'guardrail_reviewed' and j.subject = h.subject
                                                     and j.detail->>'judgement' = 'false_alarm')) as false_alarms,
                    max(at) as last_at, (array_agg(subject order by at desc))[1] as last_text
             from audit_log h where action = 'guardrail_triggered' and at >= $1 group by 1, 2 order by hits desc, last_at desc",
        )
        .bind(since)
        .fetch_all(self.conn())
        .await?)
    }

    /// Counts the texts that the guardrails missed, as reported by people since `since`.
    pub async fn guardrail_misses(&mut self, since: DateTime<Utc>) -> Result<i64> {
        Ok(
            sqlx::query_scalar("select count(distinct subject) from audit_log where action = 'guardrail_reviewed' and at >= $1 and detail->>'judgement' = 'missed'")
                .bind(since)
                .fetch_one(self.conn())
                .await?,
        )
    }

    /// Returns the layers of the guardrails that hit this text of a guest; `None` when there is no
    /// such text.
    pub async fn guardrail_hit(&mut self, text: Uuid) -> Result<Option<Vec<String>>> {
        Ok(sqlx::query_scalar(
            "select coalesce((select array_agg(detail->>'layer' order by entry) from audit_log where action = 'guardrail_triggered' and subject = $1::text), '{}')
             from inbound_messages where inbound_id = $1",
        )
        .bind(text)
        .fetch_optional(self.conn())
        .await?)
    }
}
