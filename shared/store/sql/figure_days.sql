-- The days from $1 to $2 in the zone $4; $3 as for the figures.
with days as (
  select day::date as day from generate_series(($1::timestamptz at time zone $4)::date,
    (($2::timestamptz - interval '1 microsecond') at time zone $4)::date, interval '1 day') day),
texts as (
  select (received_at at time zone $4)::date as day, count(*) as texts_in,
    count(*) filter (where disposition in ('answered', 'canned')) as answered,
    sum(case when length(body) <= 160 then 1 else ceil(length(body) / 153.0) end)::bigint
      as segments_in
  from inbound_messages where inbound_id >= $3 and received_at >= $1 and received_at < $2
  group by 1),
sent as (
  select (sent_at at time zone $4)::date as day, count(*) filter (where class <> 'staff')
      as texts_out,
    sum(segments)::bigint as segments_out
  from outbound_messages where sent_at >= $1 and sent_at < $2 group by 1),
turned as (
  select (created_at at time zone $4)::date as day,
    sum(coalesce((record->'usage'->>'nano_dollars')::bigint, 0))::bigint as model_nano_usd
  from turns where turn_id >= $3 and created_at >= $1 and created_at < $2 group by 1),
opened as (
  select (created_at at time zone $4)::date as day, count(*) as cases
  from escalations where created_at >= $1 and created_at < $2 group by 1),
gone as (
  select (recorded_at at time zone $4)::date as day, count(*) as opt_outs
  from consent_events where recorded_at >= $1 and recorded_at < $2
    and event::jsonb->>'action' = 'revoked' and event::jsonb->'new_state'->>'tier' = 'none'
  group by 1)
select days.day, coalesce(texts_in, 0) as texts_in, coalesce(answered, 0) as answered,
  coalesce(texts_out, 0) as texts_out, coalesce(cases, 0) as cases,
  coalesce(opt_outs, 0) as opt_outs, coalesce(segments_in, 0) as segments_in,
  coalesce(segments_out, 0) as segments_out, coalesce(model_nano_usd, 0) as model_nano_usd
from days left join texts using (day) left join sent using (day) left join turned using (day)
left join opened using (day) left join gone using (day) order by days.day
