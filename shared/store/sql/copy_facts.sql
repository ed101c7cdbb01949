with batch as (
  select * from turns where turn_id > $1 and state <> 'drafted'
    and ($2::timestamptz is null or created_at >= $2)
  order by turn_id limit $3
), written as (
  insert into turn_facts (casino_id, turn_id, trace_id, at, waited_ms, agent, model, intent,
    language, grounded, degraded, retries, handoffs,
        input_tokens, output_tokens, nano_usd, learnt, found, top_score, confidence, prompt)
  select casino_id, turn_id, coalesce(nullif(split_part(trace, '-', 2), ''), trace), created_at,
         greatest(0, extract(epoch from created_at - newest_text_at) * 1000)::bigint,
         agent, model, intent, language, grounded, coalesce((record->>'degraded')::boolean, false),
         coalesce((record->>'retries')::int, 0), coalesce((record->>'handoffs')::int, 0),
         coalesce((record->'usage'->>'input_tokens')::bigint, 0),
           coalesce((record->'usage'->>'output_tokens')::bigint, 0),
         coalesce((record->'usage'->>'nano_dollars')::bigint, 0),
           jsonb_array_length(coalesce(record->'learnt', '[]')),
         jsonb_array_length(coalesce(record->'context', '[]')),
         (select max((row->>'score')::real)
           from jsonb_array_elements(coalesce(record->'context', '[]')) row),
         -- 0 stands for a verdict without a figure.
         nullif((record->>'confidence')::real, 0),
         case when (record->>'prompt_variant')::boolean then 'variant' else 'usual' end
  from batch
  on conflict (casino_id, turn_id) do update set
    trace_id = excluded.trace_id, at = excluded.at, waited_ms = excluded.waited_ms,
      agent = excluded.agent, model = excluded.model,
    intent = excluded.intent, language = excluded.language, grounded = excluded.grounded,
      degraded = excluded.degraded,
    retries = excluded.retries, handoffs = excluded.handoffs, input_tokens = excluded.input_tokens,
      output_tokens = excluded.output_tokens,
    nano_usd = excluded.nano_usd, learnt = excluded.learnt, found = excluded.found,
      top_score = excluded.top_score, confidence = excluded.confidence, prompt = excluded.prompt
  where (turn_facts.*) is distinct from (excluded.*)
  returning 1
)
select (select max(turn_id::text)::uuid from batch) as last, (
  select count(*) from batch) as looked_at, (select count(*) from written) as written
