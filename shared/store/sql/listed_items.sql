-- The items of category $1 (of all when null), with the newest revision of each that waits.
select coalesce(i.item_id, w.item_id) as item_id, coalesce(i.category, w.category) as category,
  coalesce(i.name, w.name) as name, coalesce(i.active, false) as active, i.revision,
  coalesce(i.updated_at, w.saved_at) as updated_at, w.state as waits, w.revision as waiting,
  i.item is not null and i.item->>'description_es' is null as english_only
from content_items i full join (
  select distinct on (casino_id, item_id) casino_id, item_id, category, name, state, revision, saved_at
  from content_revisions where state in ('draft', 'review', 'scheduled', 'rejected')
  order by casino_id, item_id, state = 'rejected', revision desc) w
  on w.casino_id = i.casino_id and w.item_id = i.item_id
where $1::text is null or coalesce(i.category, w.category) = $1
order by coalesce(i.category, w.category), lower(coalesce(i.name, w.name)), 1
