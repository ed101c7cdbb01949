with moved as (
  update outbound_messages message set state = $2, error_code = coalesce($3, message.error_code),
    reason = case when $2 = 'failed' then coalesce($3, 'failed') else message.reason end,
    provider_message_id = coalesce($4, message.provider_message_id),
    not_before = case when $2 = 'queued' then now() + make_interval(secs => $5)
      else message.not_before end,
    sent_at = case when $2 = 'sent' then now() else message.sent_at end, ended_at = case
      when $2 = 'failed' then now() else message.ended_at end,
    tries = message.tries + case when $6 then 1 else 0 end,
      next_sweep_at = now() + make_interval(secs => $5 + $7)
  where message.outbound_id = $1 and $2::text is not null
    and message.state is not distinct from 'sending' and not exists (
    select 1 from send_attempts attempt
      join send_attempts newer on newer.outbound_id = attempt.outbound_id
      and newer.started_at > attempt.started_at
    where attempt.attempt_id = $8)
  returning message.part = 1 and exists
    (select 1 from turns of_turn where of_turn.turn_id = message.turn_id
    and of_turn.disclosure) as discloses
), ended as (
  update send_attempts call set outcome = case when call.outcome = 'pending' then $9
    else call.outcome end, http_status = $10, error_code = $3,
    detail = $11, provider_message_id = coalesce(call.provider_message_id, $4), finished_at = now()
  from (select count(*) from moved) as text_first where call.attempt_id = $8
  returning call.attempt_id
), settled as (
  delete from due using (select count(*) from ended) as attempt_first
  where $2::text is not null and casino_id = $12 and kind = 'attempt_doubt' and row_id = $8
), audited as (
  insert into audit_log (casino_id, actor, action, severity, subject, guest_hash, detail, trace)
  select $12, $13, $14, $15, $16, $17, $18, $19 where $14::text is not null
)
select discloses from moved
