select guest.key_id, guest.phone_hash,
  case when suppression.state = 'stopped' then suppression.as_of end as stopped_as_of,
  turn.state as state, false as safety,
  exists (
    select 1 from outbound_messages said
    where said.guest_id = guest.guest_id and said.kind = 'person' and said.created_at > turn.created_at
  ) as by_person,
  case when useful.ends_at < now() then useful.ends_at end as useless_since
from turns turn
join guests guest on guest.guest_id = turn.guest_id and turn.turn_id = $1 and $3::uuid is null
left join suppressions suppression
  on suppression.key_id = guest.key_id and suppression.phone_hash = guest.phone_hash
cross join lateral (select turn.created_at + make_interval(secs => $2) as ends_at) useful
