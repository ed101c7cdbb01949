select (array_agg(inbound.inbound_id order by inbound.arrival))[1] as row_id,
  inbound.conversation_id, '' as class,
  coalesce(max(inbound.last_error), max(inbound.reason), '') as error,
    max(inbound.tries) as attempts, (array_agg(inbound.trace order by inbound.arrival))[1] as trace,
  max(inbound.closed_at) as at, guest.key_id, guest.phone_hash
from inbound_messages inbound join guests guest on guest.guest_id = inbound.guest_id
where inbound.disposition = 'parked'
  and inbound.closed_at between now() - interval '3 days' and now() - make_interval(secs => $1)
group by inbound.conversation_id, inbound.disposition_ref, guest.key_id, guest.phone_hash
having bool_and(not exists
  (select 1 from dead_letters letter where letter.stage = 'swarm'
  and letter.message_key = inbound.inbound_id::text
  and (letter.state <> 'replayed'
  or coalesce(letter.handled_at, letter.last_at) >= inbound.closed_at))) limit 200
