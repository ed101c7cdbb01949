with stale as (
  update inbound_messages set disposition = 'closed', reason = 'stale', closed_at = now()
  where conversation_id = $1 and disposition = 'open'
    and coalesce(released_at, stored_at) < now() - make_interval(secs => $4)
  returning inbound_id)
select to_jsonb(session) as session, to_jsonb(previous) as before, conversation.paused_at,
  conversation.paused_until, conversation.pause_reason, conversation.pause_held,
  coalesce(conversation.paused_until <= now(), false) as pause_over,
    coalesce(cases.recent, 0) as recent_cases, coalesce(cases.unsettled, 0) as open_cases,
  profile.document as profile, history.exchanges,
    coalesce((select jsonb_agg(to_jsonb(open_text)) from (
    select inbound_id, body, coalesce(released_at, received_at) as since, tries, trace,
    extract(epoch from clock_timestamp() - stored_at)::float8 as age,
           released_at is not null as released
         from inbound_messages where conversation_id = $1 and disposition = 'open'
           and inbound_id not in (select inbound_id from stale) order by occurred_at,
           arrival) open_text), '[]') as open
from conversations conversation
left join profiles profile on profile.guest_id = conversation.guest_id
left join sessions session on session.conversation_id = conversation.conversation_id
  and session.started_at = conversation.session_started_at
left join lateral (
  select older.* from sessions older where older.conversation_id = conversation.conversation_id
    and older.started_at < conversation.session_started_at and older.turns > 0
  order by older.started_at desc limit 1) previous on true
left join lateral (
  select count(*) as recent,
    count(*) filter (where escalation.resolved_at is null
    and escalation.severity <> 'sev3') as unsettled
  from escalations escalation where escalation.conversation_id = conversation.conversation_id
    and escalation.created_at > now() - interval '7 days') cases on true
left join lateral (
  select jsonb_agg(jsonb_build_array(entry.guest, entry.host) order by entry.at) as exchanges from (
    (select coalesce((
      select string_agg(inbound.body, ' ' order by inbound.occurred_at, inbound.arrival)
      from inbound_messages inbound
        where inbound.conversation_id = turn.conversation_id and inbound.disposition = 'answered'
          and inbound.disposition_ref = turn.turn_id), '') as guest,
       turn.draft as host, turn.created_at as at
     from turns turn where turn.conversation_id = conversation.conversation_id
       and turn.state in ('drafted', 'shaped') order by turn.created_at desc limit $3)
    union all
    -- Texts that were answered without a turn, among the newest forty.
    (select inbound.body, outbound.body, inbound.stored_at from (
         select newest.casino_id, newest.inbound_id, newest.body, newest.stored_at,
           newest.disposition, newest.verdict, newest.arrival
         from inbound_messages newest
         where newest.conversation_id = conversation.conversation_id
         order by newest.arrival desc limit 40) inbound
       join outbound_messages outbound on outbound.casino_id = inbound.casino_id
         and outbound.inbound_id = inbound.inbound_id and outbound.part = 1
     where inbound.disposition = 'canned' and inbound.verdict = any($2)
     order by inbound.arrival desc limit $3)
    union all
    -- What a person wrote in a takeover, with what it answered, among our newest forty texts.
    (select coalesce((
      select string_agg(inbound.body, ' ' order by inbound.occurred_at, inbound.arrival)
      from inbound_messages inbound
        where inbound.conversation_id = outbound.conversation_id and inbound.disposition = 'canned'
          and inbound.disposition_ref = outbound.outbound_id), ''),
       outbound.body, outbound.created_at
     from (select newest.outbound_id, newest.conversation_id, newest.body, newest.created_at,
         newest.kind, newest.state
       from outbound_messages newest
       where newest.conversation_id = conversation.conversation_id
       order by newest.seq desc limit 40) outbound
     where outbound.kind = 'person'
       and outbound.state in ('sending', 'sent', 'delivered', 'unknown')
     order by outbound.created_at desc limit $3)
    order by at desc limit $3) entry) history on true
where conversation.conversation_id = $1
