select attempt.attempt_id, attempt.outbound_id, outbound.state,
  coalesce(attempt.provider_message_id, outbound.provider_message_id) as provider_message_id,
  coalesce(attempt.called_at, attempt.started_at) as started_at, guest.phone,
    conversation.casino_number
from outbound_messages outbound
join send_attempts attempt on attempt.outbound_id = outbound.outbound_id
join conversations conversation on conversation.conversation_id = outbound.conversation_id
join guests guest on guest.guest_id = outbound.guest_id
where outbound.state in ('sending', 'unknown', 'sent') and attempt.provider = $1
  and attempt.outcome in ('pending', 'ambiguous', 'accepted', 'confirmed')
  and attempt.started_at >= $2 and attempt.started_at < now() - make_interval(secs => $3)
  and (outbound.state <> 'sent' or (attempt.provider_message_id is not null
    and attempt.started_at >= $4))
order by outbound.state = 'sent', attempt.started_at limit 1000
