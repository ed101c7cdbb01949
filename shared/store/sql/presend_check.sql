with suppression as (
  select held.* from suppressions held, guests guest, outbound_messages message
  where message.outbound_id = $1 and guest.guest_id = message.guest_id
    and held.key_id = guest.key_id and held.phone_hash = guest.phone_hash for share of held
), text as (
  select message.* from outbound_messages message, (
    select count(*) from suppression) as locked_first
    where message.outbound_id = $1 for update of message
), off as (
  select name, since from controls union all select name, since from fleet_controls
  union all select 'safe_mode', updated_at from casinos where safe_mode
), stops as (
  select provider, casino_id <> '' and probe_at is null as park from provider_stops
  where casino_id in ('', $7) and (until is null or until > now())
), facts as (
  select text.outbound_id, text.body, text.class, text.conversation_id, guest.phone,
    casino.config->'operational'->>'messaging_profile_id' as messaging_profile_id,
    case
      when text.state <> 'queued' then 'not_queued'
      when casino.status <> 'active' and policy.lane <> 'safety' then 'casino_inactive'
      when text.useful_until < now() then 'expired'
      -- A message of the web is never handed to a provider, nor a text to the web (D33).
      when (conversation.channel = 'web') <> ($3 = 'web') then 'not_queued'
      when $3 <> 'web' and not exists (select 1 from routes route where route.number = $12 and route.casino_id = $7
        and route.retired_at is null) then 'sender_retired'
      when policy.when_killed = 'stop' and exists (select 1 from off where name = 'kill')
        then 'killed'
      when policy.when_state_missing = 'stop' and suppression.state is null
        then 'safety_state_missing'
      when suppression.state = 'stopped'
        and not (policy.when_suppressed = 'pass_as_answer'
        and coalesce(text.answers_at > now() - policy.answers_within, false))
        then 'guest_suppressed'
      when policy.when_suppressed = 'stop' and $6::timestamptz is not null
        and (suppression.as_of is null or suppression.as_of <= $6) then 'refused_by_cache'
      when suppression.asked_at is not null and policy.lane = 'bulk' then 'opt_out_asked'
      when suppression.provider_blocked and policy.when_provider_blocks = 'stop'
        then 'provider_blocked'
      when policy.when_paused = 'stop' and exists (select 1 from off where name = 'pause_outbound')
        then 'paused'
      -- Safe mode silences the host, not a person who writes by hand.
      when policy.when_paused = 'stop' and text.kind <> 'person' and exists
        (select 1 from off where name = 'safe_mode') then 'paused'
      when policy.when_paused = 'stop' and policy.lane = 'bulk' and exists
        (select 1 from off where name = 'pause_proactive') then 'paused'
      when campaign.state = 'paused' then 'paused'
      when text.class = 'reply' and exists (select 1 from held_turns held
        where held.turn_id = text.turn_id and held.decided_at is null) then 'awaits_review'
      when exists (select 1 from stops where not park and provider = $3) then 'provider_stopped'
      -- The limit is the casino's brake on its spending: only a safety text may take another
      -- provider.
      when $3 <> 'web'
        and exists (select 1 from stops where park and (policy.lane <> 'safety' or provider = $3))
        then 'sending_parked'
      -- Nothing is sold or announced to a guest who waits for a person.
      when policy.lane = 'bulk' and conversation.paused_at is not null
        and coalesce(conversation.paused_until > now(), true) then 'paused'
      -- Nor for the rest of the session in which the guest cried for help.
      when policy.lane = 'bulk' and conversation.cried_at >= conversation.session_started_at
        and conversation.last_inbound_at > now() - interval '24 hours' then 'paused'
      when policy.when_paused = 'once' and exists (
        select 1 from off
          join outbound_messages holding on holding.conversation_id = text.conversation_id
          and holding.class = text.class and holding.outbound_id <> text.outbound_id
          and holding.created_at >= off.since
            and holding.state not in ('queued', 'suppressed', 'expired')
        where off.name in ('pause_outbound', 'safe_mode')) then 'paused'
      when array_position(array['none', 'transactional', 'informational', 'marketing'],
        guest.consent_tier)
         < array_position(array['none', 'transactional', 'informational', 'marketing'],
           policy.least_tier) then 'consent_tier'
      when policy.needs_exclusion_check and (guest.responsible_gaming_at is not null or exists (
        select 1 from exclusions exclusion where exclusion.key_id = guest.key_id
          and exclusion.phone_hash = guest.phone_hash
          and (exclusion.until is null or exclusion.until > now()))) then 'self_excluded'
      when policy.needs_exclusion_check and $8 and not exists (select 1 from exclusion_lists)
        then 'self_exclusion_unchecked'
      when campaign.state = 'cancelled' then 'campaign_cancelled'
      when coalesce($10::float8, 1) > policy.most_risk then 'content_risk'
      when policy.quiet_hours and not $5 then 'quiet_hours'
      when policy.needs_registration and casino.config->'operational'->>'number_kind' <> 'demo'
        and coalesce(casino.config->'operational'->>'registration', 'missing') <> 'approved'
          then 'not_registered'
      -- Safety texts overtake all but answers to the same text, help first. An answer does not wait
      -- for a text that nobody asked for.
      when exists (
        select 1 from outbound_messages earlier
          join send_policy earlier_policy on earlier_policy.class = earlier.class
        where earlier.conversation_id = text.conversation_id and earlier.seq < text.seq
          and earlier.state in ('queued', 'sending')
          and not exists (select 1 from held_turns held where held.turn_id = earlier.turn_id
            and held.decided_at is null)
          and (policy.lane <> 'safety' or earlier.inbound_id = text.inbound_id)
            and (policy.lane = 'bulk' or earlier_policy.lane <> 'bulk'
            or earlier.state = 'sending')) then 'earlier_text_unsent'
      when policy.cooldown is not null and exists (
        select 1 from outbound_messages earlier where earlier.guest_id = text.guest_id
          and earlier.class = text.class and earlier.outbound_id <> text.outbound_id
          and earlier.state in ('sending', 'sent', 'delivered', 'unknown')
            and coalesce(earlier.sent_at, earlier.created_at) > now() - policy.cooldown)
            then 'cooldown'
      when policy.cap is not null and (
        select count(*) from outbound_messages earlier where earlier.guest_id = text.guest_id
          and earlier.class = text.class and earlier.outbound_id <> text.outbound_id
          and earlier.state in ('sending', 'sent', 'delivered', 'unknown')
            and coalesce(earlier.sent_at,
            earlier.created_at) > now() - policy.cap_window) >= policy.cap then 'cap'
      when policy.lane = 'bulk' and (
        select count(*) from outbound_messages earlier
          join send_policy earlier_policy on earlier_policy.class = earlier.class
          and earlier_policy.lane <> 'safety'
        where earlier.guest_id = text.guest_id and earlier.outbound_id <> text.outbound_id
          and earlier.state in ('sending', 'sent', 'delivered', 'unknown')
            and coalesce(earlier.sent_at, earlier.created_at) > now() - interval '24 hours')
        >= coalesce((casino.config->'operational'->>'max_messages_per_guest_per_day')::int, 20)
          then 'cap'
      when policy.needs_number_check and number_check.result = 'reassigned' then 'number_reassigned'
      when policy.needs_number_check and number_check.result is null
        and coalesce((casino.config->'regulations'->>'reassigned_number_check')::boolean, false)
        then 'number_unchecked'
      when text.not_before > now() then 'not_before'
    end as refusal
  from text
  join send_policy policy on policy.class = text.class
  join guests guest on guest.guest_id = text.guest_id
  join conversations conversation on conversation.conversation_id = text.conversation_id
  join casinos casino on casino.casino_id = text.casino_id
  left join campaigns campaign on campaign.casino_id = text.casino_id
    and campaign.campaign_id = text.campaign_id
  left join suppression on true
  left join number_checks number_check on number_check.key_id = guest.key_id
    and number_check.phone_hash = guest.phone_hash
), claimed as (
  -- On the web this is the delivery; the caller holds the conversation's lock, so that the numbers
  -- have the order of the commits.
  update outbound_messages message set provider = $3, reason = null, risk_score_at_send = $10,
    state = case when $3 = 'web' then 'sent' else 'sending' end,
    sent_at = case when $3 = 'web' then now() else message.sent_at end,
    web_seq = case when $3 = 'web' then (
      select coalesce(max(shown.web_seq), 0) + 1 from outbound_messages shown
      where shown.conversation_id = message.conversation_id and shown.web_seq is not null) end
  from facts where message.outbound_id = facts.outbound_id and facts.refusal is null
  returning message.outbound_id
), attempt as (
  insert into send_attempts (casino_id, attempt_id, outbound_id, provider, deadline_at, called_at)
  select $7, $2, outbound_id, $3, now() + make_interval(secs => $4), $9 from claimed
  where $3 <> 'web'
  returning attempt_id
), doubt as (
  -- Whatever becomes of the call, somebody asks about it when its deadline and the grace are over.
  insert into due (casino_id, kind, row_id, due_at) select $7, 'attempt_doubt', attempt_id,
    now() + make_interval(secs => $11) from attempt
)
select facts.*, exists (select 1 from claimed)
    and ($3 = 'web' or exists (select 1 from attempt)) as claimed
  from facts
