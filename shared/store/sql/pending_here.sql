select pending.*,
  casinos.xmin::text::bigint as document_version, casinos.content_version,
  case when casinos.xmin::text::bigint = $2 then null else casinos.config end as config,
  coalesce((select jsonb_agg(to_jsonb(stop)) from (
    select provider, casino_id, error_code, since, until, probe_at is not null as probed, actor
    from provider_stops where casino_id in ('', $3) and (until is null or until > now())) stop),
    '[]') as stops
from casinos, lateral (
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
  where outbound.outbound_id = any($1)) pending
