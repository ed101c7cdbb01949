-- What an operator holds back does not wait for the sender: with proactive texts paused, replies that do not leave are still seen.

create or replace function fleet_waiting()
returns table (casino_id text, swarm_at timestamptz, envelope_at timestamptz, sender_at timestamptz)
language sql stable security definer set search_path = public, pg_temp as $$
  select w.casino_id, min(w.swarm_at), min(w.envelope_at), min(w.sender_at) from (
    select i.casino_id, min(coalesce(i.released_at, i.stored_at)) as swarm_at, null::timestamptz as envelope_at, null::timestamptz as sender_at
    from inbound_messages i where i.disposition = 'open' and i.conversation_id is not null group by i.casino_id
    union all
    select t.casino_id, null, min(t.created_at), null
    from turns t where t.state = 'drafted' and t.next_sweep_at is not null group by t.casino_id
    union all
    select o.casino_id, null, null, min(o.not_before)
    from outbound_messages o join send_policy p on p.class = o.class
    where o.state = 'queued' and o.next_sweep_at is not null and o.not_before < now() and (p.lane <> 'bulk' or o.reason is distinct from 'paused')
    group by o.casino_id
  ) w group by w.casino_id
$$;
