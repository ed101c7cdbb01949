select guest.key_id, guest.phone_hash,
  case when suppression.state = 'stopped' then suppression.as_of end as stopped_as_of,
  outbound.state as state, policy.lane = 'safety' as safety,
  exists (
    select 1 from outbound_messages said
    where said.guest_id = guest.guest_id and said.kind = 'person' and said.created_at > outbound.created_at
      and outbound.kind <> 'person'
  ) as by_person,
  case when useful.ends_at < now() then useful.ends_at end as useless_since
from outbound_messages outbound
join guests guest
  on guest.guest_id = outbound.guest_id and outbound.outbound_id = $1 and $3::uuid is null
join send_policy policy on policy.class = outbound.class
left join suppressions suppression
  on suppression.key_id = guest.key_id and suppression.phone_hash = guest.phone_hash
cross join lateral (
  select case when $2::float8 is not null then outbound.useful_until end as ends_at
) useful
