with since as (select date_trunc('hour', now(), 'UTC') - make_interval(hours => $1 - 1) as at),
taken as (
  select date_trunc('hour', text.sent_at, 'UTC') as hour, count(*) as sent,
    sum(text.segments)::int8 as segments,
    count(*) filter (where text.segments = 1) as single_segment,
      count(*) filter (where text.old) as counted,
    count(*) filter (where text.old and text.state = 'delivered') as delivered,
    count(*) filter (where text.old and text.state in ('failed', 'undelivered')) as bounced,
    count(text.waited) as reported, avg(text.waited)::float8 as receipt_seconds,
    percentile_cont(0.5) within group (order by text.waited) as receipt_p50,
      percentile_cont(0.95) within group (order by text.waited) as receipt_p95
  from (select sent_at, segments, state, sent_at < now() - make_interval(secs => $2) as old,
          case when state in ('delivered', 'failed', 'undelivered')
            then extract(epoch from ended_at - sent_at)::float8 end as waited
        from outbound_messages where sent_at >= (select at from since)) text
  group by 1),
refused as (
  select date_trunc('hour', ended_at, 'UTC') as hour, count(*) as texts from outbound_messages
  where state = 'failed' and sent_at is null and ended_at >= (select at from since) group by 1),
-- A campaign's text may have waited for days.
ended as (
  select date_trunc('hour', ended_at, 'UTC') as hour,
    count(*) filter (where state = 'unknown') as unknown,
    count(*) filter (where state = 'suppressed') as suppressed
  from outbound_messages where state in ('unknown', 'suppressed') and created_at >= (
    select at from since) - interval '7 days'
    and ended_at >= (select at from since) group by 1),
gone as (
  select date_trunc('hour', recorded_at, 'UTC') as hour, count(*) as guests from consent_events
  where recorded_at >= (select at from since) and event::jsonb->>'action' = 'revoked' group by 1)
select hours.hour, coalesce(taken.sent, 0) as sent, coalesce(taken.segments, 0) as segments,
  coalesce(taken.single_segment, 0) as single_segment,
  coalesce(taken.counted, 0) as counted, coalesce(taken.delivered, 0) as delivered,
    coalesce(taken.bounced, 0) as bounced, coalesce(refused.texts, 0) as failed,
  coalesce(ended.unknown, 0) as unknown, coalesce(ended.suppressed, 0) as suppressed,
    coalesce(gone.guests, 0) as opt_outs, coalesce(taken.reported, 0) as reported,
  taken.receipt_seconds, taken.receipt_p50, taken.receipt_p95
from generate_series((select at from since), date_trunc('hour', now(), 'UTC'),
  interval '1 hour') as hours(hour)
left join taken on taken.hour = hours.hour left join refused on refused.hour = hours.hour
left join ended on ended.hour = hours.hour left join gone on gone.hour = hours.hour
order by hours.hour
