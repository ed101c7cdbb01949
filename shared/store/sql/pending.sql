select outbound.outbound_id, outbound.state, outbound.class, outbound.segments,
  greatest(0, extract(epoch from outbound.not_before - now()))::float8 as wait,
  conversation.channel, conversation.casino_number,
  outbound.conversation_id, outbound.tries, guest.key_id, guest.phone_hash, guest.phone,
    guest.zone, guest.state as guest_state,
  case when outbound.turn_id is null and outbound.inbound_id is null then null
    else outbound.answers_at end as answers_at,
  greatest(0, extract(epoch from outbound.not_before - outbound.created_at))::float8 as delay,
    outbound.turn_id is not null as of_turn, outbound.trace
from outbound_messages outbound
join conversations conversation on conversation.conversation_id = outbound.conversation_id
join guests guest on guest.guest_id = outbound.guest_id
where outbound.outbound_id = $1
