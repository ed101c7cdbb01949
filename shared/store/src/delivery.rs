//! Delivery of our texts per casino and hour (SMS-54), and carriers that refuse them (SMS-52). It
//! is read from the texts themselves by index; shares count messages and leave out texts too young
//! for a receipt (C-48).

use std::time::Duration;

use chrono::{DateTime, Utc};
use serde::Serialize;
use sqlx::FromRow;

use crate::{Result, Tx};

/// One hour of one casino, in UTC. A text counts in the hour in which the provider accepted it; a
/// text that was never accepted, in the hour in which it ended.
#[derive(Debug, Clone, FromRow, Serialize)]
pub struct Hour {
    pub hour: DateTime<Utc>,
    /// Texts that a provider accepted.
    pub sent: i64,
    pub segments: i64,
    pub single_segment: i64,
    /// Texts of `sent` that are old enough for a receipt to be expected.
    pub counted: i64,
    /// Texts of `counted` that were delivered.
    pub delivered: i64,
    /// Texts of `counted` that were refused after the provider had accepted them.
    pub bounced: i64,
    /// Texts that the provider refused to accept.
    pub failed: i64,
    /// Texts whose outcome is unknown.
    pub unknown: i64,
    /// Texts that the pre-send check refused.
    pub suppressed: i64,
    /// Guests who opted out.
    pub opt_outs: i64,
    /// Number of texts with a final receipt, and the mean seconds until it came.
    pub reported: i64,
    pub receipt_seconds: Option<f64>,
    pub receipt_p50: Option<f64>,
    pub receipt_p95: Option<f64>,
}

/// Delivery of one casino over a recent window.
#[derive(Debug, Clone, Copy, FromRow)]
pub struct Recent {
    pub counted: i64,
    pub delivered: i64,
    pub bounced: i64,
}

/// Refusals by one carrier since it last accepted a text.
#[derive(Debug, Clone, FromRow)]
pub struct Refusals {
    pub provider: String,
    /// The carrier's name; empty if the provider does not report it.
    pub carrier: String,
    pub refused: i64,
}

const HOURS: &str = "
with since as (select date_trunc('hour', now(), 'UTC') - make_interval(hours => $1 - 1) as at),
taken as (
  select date_trunc('hour', o.sent_at, 'UTC') as hour, count(*) as sent, sum(o.segments)::int8 as segments,
    count(*) filter (where o.segments = 1) as single_segment, count(*) filter (where o.old) as counted,
    count(*) filter (where o.old and o.state = 'delivered') as delivered,
    count(*) filter (where o.old and o.state in ('failed', 'undelivered')) as bounced,
    count(o.waited) as reported, avg(o.waited)::float8 as receipt_seconds,
    percentile_cont(0.5) within group (order by o.waited) as receipt_p50, percentile_cont(0.95) within group (order by o.waited) as receipt_p95
  from (select sent_at, segments, state, sent_at < now() - make_interval(secs => $2) as old,
          case when state in ('delivered', 'failed', 'undelivered') then extract(epoch from ended_at - sent_at)::float8 end as waited
        from outbound_messages where sent_at >= (select at from since)) o
  group by 1),
refused as (
  select date_trunc('hour', ended_at, 'UTC') as hour, count(*) as n from outbound_messages
  where state = 'failed' and sent_at is null and ended_at >= (select at from since) group by 1),
-- A campaign's text may have waited for days.
ended as (
  select date_trunc('hour', ended_at, 'UTC') as hour, count(*) filter (where state = 'unknown') as unknown,
    count(*) filter (where state = 'suppressed') as suppressed
  from outbound_messages where state in ('unknown', 'suppressed') and created_at >= (select at from since) - interval '7 days'
    and ended_at >= (select at from since) group by 1),
gone as (
  select date_trunc('hour', recorded_at, 'UTC') as hour, count(*) as n from consent_events
  where recorded_at >= (select at from since) and event::jsonb->>'action' = 'revoked' group by 1)
select h.hour, coalesce(t.sent, 0) as sent, coalesce(t.segments, 0) as segments, coalesce(t.single_segment, 0) as single_segment,
  coalesce(t.counted, 0) as counted, coalesce(t.delivered, 0) as delivered, coalesce(t.bounced, 0) as bounced, coalesce(r.n, 0) as failed,
  coalesce(e.unknown, 0) as unknown, coalesce(e.suppressed, 0) as suppressed, coalesce(g.n, 0) as opt_outs, coalesce(t.reported, 0) as reported,
  t.receipt_seconds, t.receipt_p50, t.receipt_p95
from generate_series((select at from since), date_trunc('hour', now(), 'UTC'), interval '1 hour') as h(hour)
left join taken t on t.hour = h.hour left join refused r on r.hour = h.hour
left join ended e on e.hour = h.hour left join gone g on g.hour = h.hour
order by h.hour";

const REFUSALS: &str = "
with ended as (
  select coalesce(o.provider, '') as provider, coalesce(r.carrier, '') as carrier, o.ended_at, o.state = 'delivered' as took
  from outbound_messages o
  left join lateral (select max(x.carrier) as carrier from receipts x where x.outbound_id = o.outbound_id) r on true
  where o.sent_at >= now() - make_interval(secs => $1) and o.ended_at is not null
    and (o.state = 'delivered' or (o.state in ('failed', 'undelivered') and o.provider || '/' || o.error_code = any($2)))),
took as (select provider, carrier, max(ended_at) as at from ended where took group by 1, 2)
select e.provider, e.carrier, count(*) as refused from ended e left join took t on t.provider = e.provider and t.carrier = e.carrier
where not e.took and (t.at is null or e.ended_at > t.at) group by 1, 2";

impl Tx {
    /// Returns the last `hours` hours of the bound casino, the current one last, empty ones
    /// included. Texts younger than `margin` are not counted.
    pub async fn delivery_hours(&mut self, hours: i32, margin: Duration) -> Result<Vec<Hour>> {
        let query = sqlx::query_as(HOURS).bind(hours.max(1)).bind(margin.as_secs_f64());
        Ok(query.fetch_all(self.conn()).await?)
    }

    /// Counts the texts of the last `window`, without those younger than `margin`.
    pub async fn delivery_recent(&mut self, window: Duration, margin: Duration) -> Result<Recent> {
        Ok(sqlx::query_as(
            "select count(*) as counted, count(*) filter (where state = 'delivered') as delivered,
               count(*) filter (where state in ('failed', 'undelivered')) as bounced
             from outbound_messages where sent_at >= now() - make_interval(secs => $1) and sent_at < now() - make_interval(secs => $2)",
        )
        .bind(window.as_secs_f64())
        .bind(margin.as_secs_f64())
        .fetch_one(self.conn())
        .await?)
    }

    /// Returns carriers that refused texts in the last `window` and have accepted none since;
    /// `codes` are `provider/code`.
    pub async fn carrier_refusals(&mut self, window: Duration, codes: &[String]) -> Result<Vec<Refusals>> {
        Ok(sqlx::query_as(REFUSALS).bind(window.as_secs_f64()).bind(codes).fetch_all(self.conn()).await?)
    }
}
