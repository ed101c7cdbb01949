-- The newest $2 texts of conversation $1 in both directions, oldest first. Texts that have not left
-- yet come last, and texts of the same time in the order in which they leave. Each direction gives
-- its newest by an index, so that a long conversation costs no more than a short one.
select direction, id, at, state, reason, kind, turn_id, text from (
  select * from (
    (select 'in' as direction, inbound_id as id, received_at as at, disposition as state, reason,
      null::text as kind, null::uuid as turn_id, body as text, received_at as place, arrival as seq
    from inbound_messages where conversation_id = $1 order by arrival desc limit $2)
    union all
    (select 'out', outbound_id, coalesce(sent_at, created_at), state, reason, kind, turn_id, body,
      case when state in ('queued', 'sending') then 'infinity'
        else coalesce(sent_at, created_at) end, seq
    from outbound_messages where conversation_id = $1 order by outbound_messages.seq desc limit $2)
  ) both_directions
  order by place desc, seq desc limit $2
) newest order by place, direction, seq
