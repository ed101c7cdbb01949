-- $1, $2: the period; $3: how many of each reason; $4: what makes the random ones, so that the same call finds the same ones.
with talks as (
  select t.conversation_id, count(*) as turns, max(t.created_at) as last_at,
    min(f.confidence) as confidence, coalesce(sum(f.learnt), 0) as learnt,
    bool_or(g.consent_tier = 'none') as opted_out,
    md5(t.conversation_id::text || $4) as lot
  from turns t
  join guests g on g.guest_id = t.guest_id
  left join turn_facts f on f.turn_id = t.turn_id
  where t.created_at >= $1 and t.created_at < $2 and t.state <> 'drafted'
  group by t.conversation_id
), ranked as (
  select talks.*,
    row_number() over (order by confidence nulls last, lot) as unsure,
    row_number() over (order by opted_out desc, last_at desc, lot) as gone,
    row_number() over (order by learnt desc, lot) as told
  from talks
), chosen as (
  select ranked.*, case
    when confidence is not null and unsure <= $3 then 'least_sure'
    when opted_out and gone <= $3 then 'opted_out'
    when learnt > 0 and told <= $3 then 'most_learnt' end as why
  from ranked
), drawn as (
  select chosen.*, row_number() over (partition by why order by lot) as n from chosen
)
select conversation_id, coalesce(why, 'random') as why, turns, last_at,
  confidence::float8 as confidence, learnt::bigint as learnt
from drawn where why is not null or n <= $3
order by case coalesce(why, 'random') when 'least_sure' then 1 when 'opted_out' then 2
  when 'most_learnt' then 3 else 4 end, lot
