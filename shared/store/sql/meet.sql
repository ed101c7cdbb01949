with known as (
  select guest_id, language, status, consent_tier from guests where key_id = $2 and phone_hash = $3
), made as (
  insert into guests (casino_id, guest_id, phone, visitor_id, key_id, phone_hash,
    disclosure_required, disclosure_law)
  select $1, $5, $4, $12, $2, $3, $9, $10 where not exists (select 1 from known) on conflict do nothing
  returning guest_id, language, status, consent_tier
), safety as (
  insert into suppressions (casino_id, key_id, phone_hash, state, as_of, event_id) select $1, $2,
    $3, 'clear', to_timestamp(0), '' from made
  on conflict do nothing
), guest as (
  select *, false as new from known union all select *, true from made
), met as (
  select talk.conversation_id, talk.last_inbound_at from conversations talk
    join guest on guest.guest_id = talk.guest_id where talk.channel = $7 for update of talk
), opened as (
  insert into conversations (casino_id, conversation_id, guest_id, channel, casino_number)
  select $1, $6, guest.guest_id, $7, $8 from guest where not exists (select 1 from met)
  on conflict (casino_id, guest_id, channel) do update set casino_number = excluded.casino_number
  returning conversation_id
)
select guest.*, (select last_inbound_at from met) as last_inbound_at,
  coalesce((select conversation_id from met), (
  select conversation_id from opened)) as conversation_id,
  coalesce(suppression.state = 'stopped', false) as stopped,
    suppression.asked_at is not null as asked,
  exists (select 1 from contacts contact where contact.guest_id = guest.guest_id
    and contact.verified_at is not null and contact.ended_at is null) as staff,
  (select max(erased_until) from deletions where key_id = $2 and phone_hash = $3
    and state = 'done') as erased_until,
  casinos.xmin::text::bigint as document_version, casinos.content_version,
  case when casinos.xmin::text::bigint = $11 then null else casinos.config end as config
from guest cross join casinos left join suppressions suppression on suppression.key_id = $2
  and suppression.phone_hash = $3
