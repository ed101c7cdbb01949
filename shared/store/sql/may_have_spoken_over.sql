-- $1 the number, $2 and $3 the guest's hash, $4 and $5 seconds: how long a former sender counts, and
-- how long after a takeover texts may still be unread.
select exists (
    select 1 from guests guest
    where guest.key_id = $2 and guest.phone_hash = $3
      and (exists (select 1 from former_senders sender
                   where sender.guest_id = guest.guest_id and sender.number = $1
                     and sender.last_texted_at > now() - make_interval(secs => $4))
           or exists (select 1 from inbound_messages inbound
                      where inbound.guest_id = guest.guest_id and inbound.casino_number = $1
                        and inbound.received_at > now() - make_interval(secs => $4))))
  or exists (
    select 1 from routes route
    where route.number = $1 and route.since > now() - make_interval(secs => $5))
