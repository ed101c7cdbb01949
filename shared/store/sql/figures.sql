-- The figures of a casino from $1 to $2. Rows of texts and turns with a lesser id than $3 are older:
-- ids are ordered by time.
with texts as materialized (
  select guest_id, disposition, disposition_ref, received_at from inbound_messages
  where inbound_id >= $3 and received_at >= $1 and received_at < $2),
sent as materialized (
  select kind, state, segments from outbound_messages
  where sent_at >= $1 and sent_at < $2 and class <> 'staff'),
replies as materialized (
  select guest_id, language, intent, grounded, coalesce(record->'learnt', '[]') as learnt
  from turns where turn_id >= $3 and created_at >= $1 and created_at < $2 and state = 'shaped'),
-- How full the profiles of the guests who wrote were when they last did, 0 to 1.
filled as materialized (
  select coalesce((document #>> '{engagement,profile_completeness}')::float8, 0) as complete
  from profiles where guest_id in (select guest_id from texts)),
-- The wait of each answered text until the first text of its answer left: a turn's, or a fixed one.
answers as (
  select coalesce(turn_id, outbound_id) as answer, min(sent_at) as sent_at from outbound_messages
  where sent_at >= $1 group by 1),
waits as (
  select extract(epoch from answers.sent_at - texts.received_at)::float8 as seconds
  from texts join answers on answers.answer = texts.disposition_ref
  where texts.disposition in ('answered', 'canned')),
cases as materialized (
  select severity, created_at, ack_due_at, acknowledged_at from escalations
  where created_at >= $1 and created_at < $2)
select 'texts_in' as figure, '' as part, count(*)::float8 as value from texts
union all select 'guests', '', count(distinct guest_id) from texts
union all select 'new_guests', '', count(*) from guests where created_at >= $1 and created_at < $2
union all select 'sessions', '', count(*) from sessions where started_at >= $1 and started_at < $2
union all select 'answered', '', count(*) filter (where disposition in ('answered', 'canned'))
  from texts
union all select 'unanswered', '', count(*) filter (where disposition in ('open', 'held', 'parked'))
  from texts
union all select 'first_answer_median', '', percentile_cont(0.5) within group (order by seconds)
  from waits having count(*) > 0
union all select 'first_answer_p95', '', percentile_cont(0.95) within group (order by seconds)
  from waits having count(*) > 0
union all select 'replies', '', count(*) from replies
union all select 'grounded', '', count(*) filter (where grounded) from replies
union all select 'learnt', '', coalesce(sum(jsonb_array_length(learnt)), 0) from replies
union all select 'told', fact, count(distinct guest_id)
  from replies, jsonb_array_elements_text(learnt) path,
    lateral (select case when path like 'companions.%' then 'companions' else split_part(path, '.', -1) end) of (fact)
  group by fact
union all select 'completeness_share', '', avg(complete) from filled having count(*) > 0
union all select 'profiles', case when complete < 0.25 then 'under_25' when complete < 0.5 then 'under_50'
    when complete < 0.75 then 'under_75' else 'from_75' end, count(*) from filled group by 2
union all select 'languages', language, count(*) from replies group by language
union all select 'topics', intent, count(*) from replies group by intent
union all select 'texts_out', '', count(*) from sent
union all select 'by_people', '', count(*) filter (where kind = 'person') from sent
union all select 'segments_out', '', coalesce(sum(segments), 0) from sent
union all select 'delivered', '', count(*) filter (where state = 'delivered') from sent
union all select 'undelivered', '', count(*) filter (where state in ('failed', 'undelivered'))
  from sent
union all select 'not_confirmed', '', count(*) filter (where state in ('sent', 'sending', 'unknown'))
  from sent
union all select 'offers', '', count(*) from offers where issued_at >= $1 and issued_at < $2
union all select 'offer_dollars', '', coalesce(sum(dollars), 0) from offers
  where issued_at >= $1 and issued_at < $2
union all select 'offer_kinds', tier, count(*) from offers
  where issued_at >= $1 and issued_at < $2 group by tier
union all select 'redeemed_kinds', tier, count(*) from offers
  where redeemed_at >= $1 and redeemed_at < $2 group by tier
union all select 'redeemed', '', count(*) from offers where redeemed_at >= $1 and redeemed_at < $2
union all select 'redeemed_dollars', '', coalesce(sum(dollars), 0) from offers
  where redeemed_at >= $1 and redeemed_at < $2
union all select 'cases', severity, count(*) from cases group by severity
union all select 'case_minutes', '', percentile_cont(0.5) within group (
    order by extract(epoch from acknowledged_at - created_at) / 60)
  from cases where acknowledged_at is not null having count(*) > 0
union all select 'cases_late', '', count(*) filter (
    where ack_due_at < coalesce(acknowledged_at, now())) from cases
union all select 'opt_outs', coalesce(event::jsonb->'metadata'->>'reason', 'not_given'), count(*)
  from consent_events where recorded_at >= $1 and recorded_at < $2
    and event::jsonb->>'action' = 'revoked' and event::jsonb->'new_state'->>'tier' = 'none'
  group by 2
