with ours as (
  update conversations set leased_until = null where conversation_id = $3 and turn_epoch = $5
    returning conversation_id),
made as (
  insert into turns (casino_id, turn_id, conversation_id, guest_id, epoch, agent, model, intent,
    language, verdict, draft, disclosure,
    sources, grounded, class, newest_text_at, trace, next_sweep_at, disclosure_kind, record)
  select $1, $2, conversation_id, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17,
    now() + make_interval(secs => $18), $19, $20
  from ours returning 1),
answered as (
  update inbound_messages set disposition = 'answered', disposition_ref = $2, closed_at = now()
  where inbound_id = any($21) and disposition = 'open' and exists (select 1 from ours) returning 1),
spoken as (
  update guests set language = $9, updated_at = now()
  where guest_id = $4 and language is distinct from $9 and exists (select 1 from ours)),
dropped as (
  delete from model_results where conversation_id = $3 and exists (select 1 from ours)),
session as (
  update sessions set phase = $23, turns = $24, summary = $25, counts = $26,
    dialogue = $28 where session_id = $22 and exists (select 1 from ours)),
profile as (
  insert into profiles (casino_id, guest_id, document) select $1, $4, $27 from ours
    where $27::jsonb is not null
  on conflict (casino_id, guest_id) do update set document = excluded.document, updated_at = now())
select (select count(*) from made), (select count(*) from answered),
  array(select name from controls union all select name
    from fleet_controls union all select 'safe_mode' from casinos where safe_mode),
  next.inbound_id, next.trace
from (select 1) as always left join (
  select inbound_id, trace from inbound_messages where conversation_id = $3
    and disposition = 'open' and inbound_id <> all($21)
  order by occurred_at, arrival limit 1) next on true
