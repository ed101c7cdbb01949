select guest.key_id, guest.phone_hash,
  case when suppression.state = 'stopped' then suppression.as_of end as stopped_as_of,
  inbound.disposition as state, false as safety,
  exists (
    select 1 from outbound_messages said
    where said.guest_id = guest.guest_id and said.kind = 'person' and said.created_at > inbound.stored_at
  ) as by_person,
  case when useful.ends_at < now() then useful.ends_at end as useless_since
from conversations conversation
join guests guest
  on guest.guest_id = conversation.guest_id and conversation.conversation_id = $1
left join inbound_messages inbound
  on inbound.inbound_id = $3 and inbound.conversation_id = conversation.conversation_id
left join suppressions suppression
  on suppression.key_id = guest.key_id and suppression.phone_hash = guest.phone_hash
cross join lateral (
  select coalesce(inbound.released_at, inbound.stored_at) + make_interval(secs => $2) as ends_at
) useful
