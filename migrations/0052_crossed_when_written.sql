-- A text belongs to the casino that had its number when the guest wrote it, not when the webhook came (D40). An ingress that has
-- not heard of a hand-over, because the bus is away, brings the texts of the first minutes to the former casino: none is a crossing.
create or replace function fleet_crossed(span interval, oldest uuid)
returns table (casino_id text, row_id uuid, conversation_id uuid)
language sql stable security definer set search_path = public, pg_temp
set join_collapse_limit = 1 set enable_hashjoin = off set enable_mergejoin = off as $$
  select distinct o.casino_id, o.outbound_id, o.conversation_id from casinos c
  join send_attempts a on a.casino_id = c.casino_id and a.started_at > now() - span
  join outbound_messages o on o.casino_id = a.casino_id and o.outbound_id = a.outbound_id
  join conversations v on v.casino_id = o.casino_id and v.conversation_id = o.conversation_id
  left join turns t on t.casino_id = o.casino_id and t.turn_id = o.turn_id
  where v.guest_id <> o.guest_id or (o.turn_id is not null and t.conversation_id is distinct from o.conversation_id)
  union all
  select i.casino_id, i.inbound_id, i.conversation_id from casinos c
  join inbound_messages i on i.casino_id = c.casino_id and i.inbound_id >= oldest
  join conversations v on v.casino_id = i.casino_id and v.conversation_id = i.conversation_id
  left join routes r on r.number = i.casino_number
  where v.guest_id <> i.guest_id
    or (r.casino_id <> i.casino_id and r.retired_at is null and r.since + interval '10 minutes' <= i.occurred_at)
$$;
