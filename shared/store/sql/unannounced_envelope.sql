select turn.turn_id as row_id, turn.conversation_id, '' as class,
  coalesce(turn.last_error, turn.reason, '') as error, turn.tries as attempts, turn.trace,
  turn.created_at as at, guest.key_id, guest.phone_hash
from turns turn join guests guest on guest.guest_id = turn.guest_id
where turn.state = 'parked'
  and turn.created_at between now() - interval '3 days' and now() - make_interval(secs => $1)
  and not exists (select 1 from dead_letters letter where letter.stage = 'envelope'
    and letter.message_key = turn.turn_id::text
    and (letter.state <> 'replayed'
    or coalesce(letter.handled_at, letter.last_at) >= now() - make_interval(secs => $1))) limit 200
