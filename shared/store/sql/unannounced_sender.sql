select outbound.outbound_id as row_id, outbound.conversation_id, outbound.class,
  coalesce(outbound.error_code, outbound.reason, '') as error, outbound.tries + 1 as attempts,
  outbound.trace,
  outbound.ended_at as at, guest.key_id, guest.phone_hash
from outbound_messages outbound join guests guest on guest.guest_id = outbound.guest_id
where outbound.state = 'failed' and outbound.reason is distinct from 'provider_never_had_it'
  and outbound.ended_at between now() - interval '3 days' and now() - make_interval(secs => $1)
  and (select attempt.outcome from send_attempts attempt
    where attempt.outbound_id = outbound.outbound_id
    order by attempt.started_at desc limit 1) = 'transient'
  and not exists (select 1 from dead_letters letter where letter.stage = 'sender'
    and letter.message_key = outbound.outbound_id::text
    and (letter.state <> 'replayed'
    or coalesce(letter.handled_at, letter.last_at) >= outbound.ended_at)) limit 200
