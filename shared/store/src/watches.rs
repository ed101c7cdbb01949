//! Finds the few casinos that the scheduler's checks have to visit. Each query reads all casinos at
//! once and returns ids only (D9).

use std::{collections::HashSet, time::Duration};

use seven_domain::{CasinoId, OutboundId};
use uuid::Uuid;

use crate::{Result, Store};

impl Store {
    /// Returns texts of the last `span` that went to a provider although the guest's STOP was
    /// stored before, and although the class forbids texts after a STOP (SEC-94).
    pub async fn sent_after_stop(&self, span: Duration) -> Result<Vec<(CasinoId, OutboundId)>> {
        let rows: Vec<(String, Uuid)> = sqlx::query_as(
            "select casino_id, outbound_id from fleet_sent_after_stop(make_interval(secs => $1)) order by 1, 2",
        )
        .bind(span.as_secs_f64())
        .fetch_all(&mut *self.fleet().await?)
        .await?;
        rows.into_iter()
            .map(|(casino, outbound)| Ok((CasinoId::trusted(&casino)?, outbound.into())))
            .collect()
    }

    /// Returns casinos that attempted a send or recorded a text as sent within the last `span`.
    /// Also returns casinos with an open alert of one of these names, because the alert's cause may
    /// be over.
    pub async fn sending_or_alerted(
        &self,
        span: Duration,
        alerts: &[&str],
    ) -> Result<Vec<CasinoId>> {
        ids(&sqlx::query_scalar(
            "select casino_id from fleet_sending(make_interval(secs => $1))
             union select casino_id from alerts where name = any($2) and resolved_at is null order by 1",
        )
        .bind(span.as_secs_f64())
        .bind(alerts)
        .fetch_all(&mut *self.fleet().await?)
        .await?)
    }

    /// Returns casinos with a row that died in the last three days: a parked text, a parked turn or
    /// a failed outbound text.
    pub async fn with_dead_rows(&self) -> Result<Vec<CasinoId>> {
        ids(
            &sqlx::query_scalar("select casino_id from fleet_dead_rows() order by 1")
                .fetch_all(&mut *self.fleet().await?)
                .await?,
        )
    }

    /// Returns casinos whose texts were not compared with this provider's records within the last
    /// `span`.
    pub async fn unreconciled(&self, provider: &str, span: Duration) -> Result<HashSet<CasinoId>> {
        let rows: Vec<String> = sqlx::query_scalar(
            "select casino_id from fleet_unreconciled($1, make_interval(secs => $2))",
        )
        .bind(provider)
        .bind(span.as_secs_f64())
        .fetch_all(&mut *self.fleet().await?)
        .await?;
        Ok(ids(&rows)?.into_iter().collect())
    }
}

fn ids(rows: &[String]) -> Result<Vec<CasinoId>> {
    rows.iter()
        .map(|casino| Ok(CasinoId::trusted(casino)?))
        .collect()
}
