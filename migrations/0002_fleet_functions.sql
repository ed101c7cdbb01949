-- Work that spans casinos (D9): functions of a role nobody logs in as; they return ids, casinos, times and counts only.

create function fleet_roster()
returns table (casino_id text, status text, config_version bigint, content_version bigint, numbers text[], paused text[])
language sql stable security definer set search_path = public, pg_temp as $$
  select c.casino_id, c.status, c.config_version, c.content_version,
         coalesce((select array_agg(r.number order by r.number) from routes r where r.casino_id = c.casino_id), '{}'),
         coalesce((select array_agg(k.name order by k.name)
                     from (select name from controls x where x.casino_id = c.casino_id
                           union select name from fleet_controls) k), '{}')
  from casinos c where c.status <> 'removed' order by c.casino_id
$$;

-- Rows whose next step never came: first after `base`, then doubling to `longest`, at most `per_casino` a round (D3).
create function fleet_sweep(stage text, base interval, longest interval, per_casino int)
returns table (casino_id text, row_id uuid, conversation_id uuid, lane text, trace text)
language plpgsql volatile security definer set search_path = public, pg_temp as $$
#variable_conflict use_column
begin
  if stage = 'swarm' then
    return query
      with picked as (
        select m.casino_id, m.inbound_id from casinos c cross join lateral (
          select i.casino_id, i.inbound_id from inbound_messages i
          where i.casino_id = c.casino_id and i.disposition = 'open' and i.next_sweep_at <= now()
          order by i.next_sweep_at limit per_casino for update skip locked) m
        where c.status = 'active')
      update inbound_messages i set sweeps = i.sweeps + 1, next_sweep_at = now() + least(base * power(2, least(i.sweeps + 1, 20)), longest)
      from picked p where i.casino_id = p.casino_id and i.inbound_id = p.inbound_id
      returning i.casino_id, i.inbound_id, i.conversation_id, null::text, i.trace;
  elsif stage = 'envelope' then
    return query
      with picked as (
        select m.casino_id, m.turn_id from casinos c cross join lateral (
          select t.casino_id, t.turn_id from turns t
          where t.casino_id = c.casino_id and t.state = 'drafted' and t.next_sweep_at <= now()
          order by t.next_sweep_at limit per_casino for update skip locked) m
        where c.status = 'active')
      update turns t set sweeps = t.sweeps + 1, next_sweep_at = now() + least(base * power(2, least(t.sweeps + 1, 20)), longest)
      from picked p where t.casino_id = p.casino_id and t.turn_id = p.turn_id
      returning t.casino_id, t.turn_id, t.conversation_id, null::text, t.trace;
  elsif stage = 'sender' then
    return query
      with picked as (
        select m.casino_id, m.outbound_id from casinos c cross join lateral (
          select o.casino_id, o.outbound_id from outbound_messages o
          where o.casino_id = c.casino_id and o.state = 'queued' and o.next_sweep_at <= now()
          order by o.next_sweep_at limit per_casino for update skip locked) m
        where c.status = 'active')
      update outbound_messages o set sweeps = o.sweeps + 1, next_sweep_at = now() + least(base * power(2, least(o.sweeps + 1, 20)), longest)
      from picked p, send_policy s where o.casino_id = p.casino_id and o.outbound_id = p.outbound_id and s.class = o.class
      returning o.casino_id, o.outbound_id, o.conversation_id, s.lane, o.trace;
  else
    raise exception 'fleet_sweep: unknown stage %; expected swarm, envelope or sender', stage;
  end if;
end $$;

create function fleet_spool(most int)
returns table (casino_id text, spool_id uuid)
language sql volatile security definer set search_path = public, pg_temp as $$
  select s.casino_id, s.spool_id from spool s order by s.received_at limit most
$$;

create function fleet_counts()
returns table (casino_id text, what text, state text, n bigint)
language sql stable security definer set search_path = public, pg_temp as $$
  select i.casino_id, 'inbound', i.disposition, count(*) from inbound_messages i group by 1, 3
  union all select o.casino_id, 'outbound', o.state, count(*) from outbound_messages o group by 1, 3
  union all select t.casino_id, 'turn', t.state, count(*) from turns t group by 1, 3
  union all select d.casino_id, 'dead', d.state, count(*) from dead_letters d group by 1, 3
  union all select s.casino_id, 'spool', 'waiting', count(*) from spool s group by 1
$$;

do $$
declare f text;
begin
  foreach f in array array['fleet_roster()', 'fleet_sweep(text, interval, interval, int)', 'fleet_spool(int)', 'fleet_counts()'] loop
    execute format('alter function %s owner to seven_fleet', f);
    execute format('revoke all on function %s from public', f);
    execute format('grant execute on function %s to seven_app', f);
  end loop;
end $$;
