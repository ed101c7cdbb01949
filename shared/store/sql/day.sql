-- What a casino's day brought, from $1 to $2; $3 and $4 are the least ids of these times.
select incoming.texts_in, incoming.conversations, outgoing.texts_out, outgoing.delivered,
  (select count(*) from guests where guest_id >= $3 and guest_id < $4) as new_guests,
  (select count(*) from consent_events where recorded_at >= $1 and recorded_at < $2
    and event::jsonb->>'action' = 'revoked'
    and event::jsonb->'new_state'->>'tier' = 'none') as opt_outs,
  (select count(*) from escalations where created_at >= $1 and created_at < $2) as cases
from (select count(*) as texts_in, count(distinct conversation_id) as conversations
    from inbound_messages where inbound_id >= $3 and inbound_id < $4) incoming,
  (select count(*) as texts_out, count(*) filter (where state = 'delivered') as delivered
    from outbound_messages where sent_at >= $1 and sent_at < $2
      and class <> 'staff') outgoing
