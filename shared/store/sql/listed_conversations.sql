-- Conversations that wait for someone, and those of the newest $3 texts since $1, of which $2 is the
-- least id; at most $4 rows. The most urgent conversation comes first. Every set is found by a small
-- index, because a casino may have a million conversations.
with waiting as materialized (
  select conversation_id, count(*) as cases, min(severity) as severity,
    bool_and(acknowledged_at is not null) as acknowledged
  from escalations where resolved_at is null and conversation_id is not null
  group by conversation_id
), open as materialized (
  select conversation_id, count(*) as texts from inbound_messages
  where disposition = 'open' and conversation_id is not null group by conversation_id
), held as materialized (
  select conversation_id, count(*) as texts from inbound_messages
  where disposition = 'held' and conversation_id is not null group by conversation_id
), recent as materialized (
  select conversation_id from inbound_messages
  where inbound_id >= $2 order by inbound_id desc limit $3
), candidate as materialized (
  select conversation_id from waiting
  union select conversation_id from open
  union select conversation_id from held
  union select conversation_id from recent
  union select conversation_id from conversations where paused_at is not null
), urgent as materialized (
  select conversation.conversation_id, conversation.guest_id, conversation.pause_reason,
    conversation.paused_until, conversation.last_inbound_at,
    conversation.paused_at is not null and coalesce(conversation.paused_until > now(), true)
      as paused,
    coalesce(open.texts, 0) as open_texts, coalesce(held.texts, 0) as held_texts,
    coalesce(waiting.cases, 0) as cases, waiting.severity,
    coalesce(waiting.acknowledged, false) as acknowledged
  from candidate join conversations conversation using (conversation_id)
    left join waiting using (conversation_id)
    left join open using (conversation_id)
    left join held using (conversation_id)
  where not exists (select 1 from contacts contact where contact.guest_id = conversation.guest_id
    and contact.verified_at is not null and contact.ended_at is null)
), shown as materialized (
  select urgent.*, row_number() over (order by cases = 0, acknowledged, severity, not paused,
    held_texts = 0, open_texts = 0, last_inbound_at desc nulls last) as rank
  from urgent
  where last_inbound_at >= $1 or cases > 0 or paused or open_texts > 0 or held_texts > 0
  order by rank limit $4
)
select conversation_id, guest_id, severity, cases, acknowledged, pause_reason, paused_until, paused,
  open_texts, held_texts, last_inbound_at,
  (select holder from conversation_holders holder
    where holder.conversation_id = shown.conversation_id) as taken_by,
  guest.last_four, guest.language,
  case when cases > 0 then 'escalated' when paused then 'paused' when open_texts > 0 then 'waiting'
    else 'quiet' end as state
from shown
  left join lateral (select right(phone, 4) as last_four, language from guests
    where guests.guest_id = shown.guest_id) guest on true
order by rank
