select turn.turns, turn.conversations, turn.input_tokens, turn.output_tokens, turn.model_nano_usd,
  outbound.segments_out, inbound.segments_in from
(select count(*) as turns, count(distinct conversation_id) as conversations,
        coalesce(sum((record->'usage'->>'input_tokens')::bigint), 0)::bigint as input_tokens,
        coalesce(sum((record->'usage'->>'output_tokens')::bigint), 0)::bigint as output_tokens,
        coalesce(sum((record->'usage'->>'nano_dollars')::bigint), 0)::bigint as model_nano_usd
 from turns where created_at >= $1 and created_at < $2) turn,
(select coalesce(sum(segments), 0)::bigint as segments_out from outbound_messages
 where sent_at >= $1 and sent_at < $2) outbound,
(select coalesce(sum(case when length(body) <= 160 then 1 else ceil(length(body) / 153.0) end),
  0)::bigint as segments_in
 from inbound_messages where stored_at >= $1 and stored_at < $2) inbound
