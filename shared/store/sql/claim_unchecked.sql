with claimed as (
  update outbound_messages set state = 'sending', provider = $3, reason = null
  where outbound_id = $1 and state = 'queued' and not_before <= now() returning *),
attempt as (
  insert into send_attempts (casino_id, attempt_id, outbound_id, provider, deadline_at, called_at)
  select $5, $2, outbound_id, $3, now() + make_interval(secs => $4), $6 from claimed),
doubt as (
  insert into due (casino_id, kind, row_id, due_at)
  select $5, 'attempt_doubt', $2, now() + make_interval(secs => $7) from claimed)
select guest.phone, claimed.body, claimed.class, claimed.conversation_id from claimed
  join guests guest on guest.guest_id = claimed.guest_id
