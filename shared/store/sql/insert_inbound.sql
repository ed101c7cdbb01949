with stored as (
  insert into inbound_messages (casino_id, inbound_id, conversation_id, guest_id, channel,
    provider, provider_message_id, event_id,
    body, media_count, autoresponse, occurred_at, received_at, stream_seq, verdict, pattern_id,
      trace, next_sweep_at, casino_number)
  select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17,
    now() + make_interval(secs => $18), $19
  where (select casino_id from fleet_claims_text($19, $6 || ':' || $7)) = $1
  on conflict (casino_id, provider, provider_message_id) do nothing
  returning inbound_id
), talk as (
  update conversations set casino_number = $19, last_inbound_at = greatest(last_inbound_at, $13),
    session_started_at = case
      when session_started_at is null or $13 - last_inbound_at > make_interval(hours => $20)
      then $13 else session_started_at end
  from stored where conversation_id = $3 returning casino_id, conversation_id, guest_id,
    session_started_at, last_inbound_at
), session as (
  insert into sessions (casino_id, session_id, conversation_id, guest_id, started_at, last_at)
  select talk.casino_id, $2, talk.conversation_id, talk.guest_id, talk.session_started_at,
    talk.last_inbound_at from talk
  on conflict (casino_id, conversation_id, started_at) do update set last_at = excluded.last_at
), audited as (
  insert into audit_log (casino_id, actor, action, severity, subject, guest_hash, detail, trace)
  select $1, $21, $22, $23, stored.inbound_id::text, $24, $25, $17 from stored
)
select exists (select 1 from stored)
