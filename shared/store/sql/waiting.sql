select (select channel from conversations where conversation_id = $1) as channel,
  casinos.xmin::text::bigint as document_version, casinos.content_version,
  case when casinos.xmin::text::bigint = $2 then null else casinos.config end as config,
  coalesce((select jsonb_agg(to_jsonb(open_text)) from (
    select inbound_id, body, coalesce(released_at, received_at) as since, tries, trace,
      extract(epoch from clock_timestamp() - stored_at)::float8 as age,
      released_at is not null as released
    from inbound_messages where conversation_id = $1 and disposition = 'open' order by occurred_at,
      arrival) open_text), '[]') as open,
  array(select name from controls union all select name
    from fleet_controls union all select 'safe_mode' from casinos where safe_mode) as switched,
  (select jsonb_object_agg(name, rule) from (
           select name, rule from flags union all
           select fleet.name, fleet.rule from fleet_flags fleet where not exists
             (select 1 from flags own where own.name = fleet.name)) in_force) as flags
from casinos
