-- $1, $2: the period; $3: how many of each reason; $4: what draws the random ones, so that the same call draws the same ones.
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
), unsure as (
  select 1 as place, 'least_sure' as why, talks.* from talks
  where confidence is not null order by confidence, lot limit $3
), gone as (
  select 2 as place, 'opted_out' as why, talks.* from talks
  where opted_out and conversation_id not in (select conversation_id from unsure)
  order by last_at desc, lot limit $3
), told as (
  select 3 as place, 'most_learnt' as why, talks.* from talks
  where learnt > 0 and conversation_id not in (
    select conversation_id from unsure union all select conversation_id from gone)
  order by learnt desc, lot limit $3
), drawn as (
  select 4 as place, 'random' as why, talks.* from talks
  where conversation_id not in (select conversation_id from unsure
    union all select conversation_id from gone union all select conversation_id from told)
  order by lot limit $3
), all_of_them as (
  select * from unsure union all select * from gone union all select * from told
  union all select * from drawn
)
select conversation_id, why, turns, last_at, confidence::float8 as confidence,
  learnt::bigint as learnt
from all_of_them order by place, lot
