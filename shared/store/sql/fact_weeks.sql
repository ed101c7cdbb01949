select date_trunc('week', at at time zone 'UTC')::date as week,
  case $2::text when 'agent' then agent when 'intent' then intent when 'language' then language
    when 'model' then model when 'prompt' then prompt end as part,
  count(*) as turns, count(*) filter (where found > 0) as with_rows,
  avg(top_score)::float8 as top_score, count(top_score) as scored,
  avg(confidence)::float8 as confidence, count(confidence) as judged,
  count(*) filter (where not grounded) as not_grounded,
  count(*) filter (where degraded) as degraded, count(*) filter (where retries > 0) as retried,
  sum(handoffs)::bigint as handoffs, sum(learnt)::bigint as learnt
from turn_facts where at >= $1 group by 1, 2 order by 1 desc, turns desc
