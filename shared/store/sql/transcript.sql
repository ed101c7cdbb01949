-- The newest $2 texts of conversation $1 in both directions, oldest first.
select * from (
  select 'in' as direction, inbound_id as id, received_at as at, disposition as state, reason,
    null::text as kind, null::uuid as turn_id, body as text
  from inbound_messages where conversation_id = $1
  union all
  select 'out', outbound_id, coalesce(sent_at, created_at), state, reason, kind, turn_id, body
  from outbound_messages where conversation_id = $1
  order by at desc limit $2
) newest order by at, direction
