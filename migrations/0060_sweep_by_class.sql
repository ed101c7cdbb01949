-- A sweep signals the answer to a cry for help on a queue of its own (D16), so it needs the class, and these texts come first.
-- `fleet_sweep('sender', ...)` stays for workers of the release before.
create function fleet_sweep_texts(base interval, longest interval, per_casino int)
returns table (casino_id text, outbound_id uuid, conversation_id uuid, class text, trace text)
language sql volatile security definer set search_path = public, pg_temp as $$
  with picked as (
    select m.casino_id, m.outbound_id from casinos c cross join lateral (
      select o.casino_id, o.outbound_id from outbound_messages o
      where o.casino_id = c.casino_id and o.state = 'queued' and o.next_sweep_at <= now()
      order by o.class not in ('crisis', 'emergency'), o.next_sweep_at limit per_casino for update skip locked) m
    where c.status = 'active')
  update outbound_messages o set sweeps = o.sweeps + 1, next_sweep_at = now() + least(base * power(2, least(o.sweeps + 1, 20)), longest)
  from picked p where o.casino_id = p.casino_id and o.outbound_id = p.outbound_id
  returning o.casino_id, o.outbound_id, o.conversation_id, o.class, o.trace
$$;

alter function fleet_sweep_texts(interval, interval, int) owner to seven_fleet;
revoke all on function fleet_sweep_texts(interval, interval, int) from public;
grant execute on function fleet_sweep_texts(interval, interval, int) to seven_app;
