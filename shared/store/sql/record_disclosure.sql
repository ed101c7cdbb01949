with text as materialized (
  select turn_id, conversation_id from outbound_messages where outbound_id = $1 and part = 1
    and state in ('sent', 'delivered')
), of_turn as materialized (
  select guest_id, disclosure_kind, language from turns where turn_id = (select turn_id from text)
    and disclosure
), carried as materialized (
  select of_turn.*, talk.session_started_at from of_turn, conversations talk
    where talk.conversation_id = (select conversation_id from text)
)
update guests guest set disclosed_at = now(), disclosed_session = carried.session_started_at,
  redisclose = null
from carried
where guest.guest_id = (select guest_id from of_turn)
  and (guest.disclosed_at is null or (guest.redisclose is not null
    and carried.disclosure_kind = 'again')
       or guest.disclosed_session is distinct from carried.session_started_at)
returning carried.disclosure_kind as kind, guest.disclosure_law as law, carried.language as locale,
  guest.key_id, guest.phone_hash
