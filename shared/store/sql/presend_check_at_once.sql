with text as (
  select message.outbound_id, message.body, message.class, message.conversation_id, guest.phone
  from outbound_messages message
  join send_policy policy on policy.class = message.class and policy.lane <> 'bulk'
    and policy.least_tier = 'none' and policy.cooldown is null and policy.cap is null
    and coalesce(policy.most_risk, 1) >= 1
      and not (policy.quiet_hours or policy.needs_registration or policy.needs_exclusion_check
      or policy.needs_number_check)
  cross join lateral
    (select phone, key_id, phone_hash from guests where guest_id = message.guest_id offset 0) guest
  join suppressions suppression on suppression.key_id = guest.key_id
    and suppression.phone_hash = guest.phone_hash and suppression.state <> 'stopped'
    and not suppression.provider_blocked
  where message.outbound_id = $1 and message.state is not distinct from 'queued'
    and message.campaign_id is null and message.not_before <= now()
    and message.useful_until >= now()
    and exists (select 1 from casinos casino where casino.xmin::text::bigint = $5
      and casino.status = 'active' and not casino.safe_mode)
    and not exists (select 1 from controls) and not exists (select 1 from fleet_controls)
    and not exists (select 1 from provider_stops where casino_id in ('', $7))
    and ($3 = 'web' or exists
      (select 1 from routes where number = $10 and casino_id = $7 and retired_at is null))
    and (select (channel = 'web') = ($3 = 'web') from conversations talk
      where talk.conversation_id = message.conversation_id)
    and not exists (select 1 from held_turns held where held.turn_id = message.turn_id
      and held.decided_at is null)
    and (select true from outbound_messages earlier
         where earlier.conversation_id = message.conversation_id and earlier.seq < message.seq
           and earlier.state in ('queued', 'sending') limit 1) is null
  for share of suppression
), claimed as (
  update outbound_messages message set provider = $3, reason = null, risk_score_at_send = $8,
    state = case when $3 = 'web' then 'sent' else 'sending' end,
    sent_at = case when $3 = 'web' then now() else message.sent_at end,
    web_seq = case when $3 = 'web' then (
      select coalesce(max(shown.web_seq), 0) + 1 from outbound_messages shown
      where shown.conversation_id = message.conversation_id and shown.web_seq is not null) end
  from text where message.outbound_id = $1 and message.state is not distinct from 'queued'
    and message.not_before <= now() and message.useful_until >= now()
  returning message.outbound_id
), attempt as (
  insert into send_attempts (casino_id, attempt_id, outbound_id, provider, deadline_at, called_at)
  select $7, $2, outbound_id, $3, now() + make_interval(secs => $4), $9 from claimed
  where $3 <> 'web'
  returning attempt_id
), doubt as (
  insert into due (casino_id, kind, row_id, due_at) select $7, 'attempt_doubt', attempt_id,
    now() + make_interval(secs => $6) from attempt
)
select text.body, text.class, text.conversation_id, text.phone from text, claimed
where $3 = 'web' or exists (select 1 from attempt)
