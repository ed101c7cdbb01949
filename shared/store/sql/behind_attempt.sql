select guest.key_id, guest.phone_hash,
  case when suppression.state = 'stopped' then suppression.as_of end as stopped_as_of,
  outbound.state as state, true as safety, false as by_person,
  case when useful.ends_at < now() then useful.ends_at end as useless_since
from send_attempts attempt
join outbound_messages outbound
  on outbound.outbound_id = attempt.outbound_id and attempt.attempt_id = $1 and $3::uuid is null
join guests guest on guest.guest_id = outbound.guest_id
left join suppressions suppression
  on suppression.key_id = guest.key_id and suppression.phone_hash = guest.phone_hash
cross join lateral (select case when $2::float8 is null then now() end as ends_at) useful
