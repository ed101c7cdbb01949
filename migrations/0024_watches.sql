-- Whom the scheduler's watches have to look at: of hundreds of casinos few sent a text in the last minutes, fewer have a row that died.
-- One question by index instead of a transaction for each casino.

-- Casinos with an attempt within the span, whatever became of it, or with a text that was found within it to have been sent: a receipt may
-- tell hours later. Lateral, so that it is two looks into indexes for each casino, however many texts there are.
create function fleet_sending(span interval)
returns table (casino_id text)
language sql stable security definer set search_path = public, pg_temp as $$
  select c.casino_id from casinos c
  cross join lateral (
    (select 1 from send_attempts a where a.casino_id = c.casino_id and a.started_at > now() - span limit 1)
    union all
    (select 1 from outbound_messages o where o.casino_id = c.casino_id and o.sent_at > now() - span limit 1)
    limit 1
  ) s
  where c.status <> 'removed'
$$;

-- Casinos with a text, a turn or an outbound text that died within the three days in which its letter is looked for.
create function fleet_dead_rows()
returns table (casino_id text)
language sql stable security definer set search_path = public, pg_temp as $$
  select c.casino_id from casinos c where c.status <> 'removed' and (
    exists (select 1 from inbound_messages i
      where i.casino_id = c.casino_id and i.disposition = 'parked' and i.closed_at > now() - interval '3 days')
    or exists (select 1 from turns t where t.casino_id = c.casino_id and t.state = 'parked' and t.created_at > now() - interval '3 days')
    or exists (select 1 from outbound_messages o
      where o.casino_id = c.casino_id and o.state = 'failed' and o.ended_at > now() - interval '3 days'))
$$;

-- Casinos that nobody has compared with this provider's records within the span.
create function fleet_unreconciled(of_provider text, span interval)
returns table (casino_id text)
language sql stable security definer set search_path = public, pg_temp as $$
  select c.casino_id from casinos c
  where c.status <> 'removed' and not exists (
    select 1 from reconciliations r
    where r.casino_id = c.casino_id and r.provider = of_provider and r.claimed_at >= now() - span)
$$;
grant select on reconciliations to seven_fleet;

-- After a store was away: rows whose first sweep is still to come are swept now. A crash of the database takes back what was committed in its
-- last moments (D23), a bus that was away never heard some signals. Rows that somebody is at are left to him.
create function fleet_hasten(age interval, base interval)
returns table (n bigint)
language plpgsql volatile security definer set search_path = public, pg_temp as $$
declare texts bigint; drafts bigint; replies bigint;
begin
  with picked as (
    select casino_id, inbound_id from inbound_messages
    where disposition = 'open' and sweeps = 0 and next_sweep_at > now() and next_sweep_at <= now() + base
      and coalesce(released_at, stored_at) < now() - age for update skip locked)
  update inbound_messages i set next_sweep_at = now() from picked p where i.casino_id = p.casino_id and i.inbound_id = p.inbound_id;
  get diagnostics texts = row_count;
  with picked as (
    select casino_id, turn_id from turns
    where state = 'drafted' and sweeps = 0 and next_sweep_at > now() and next_sweep_at <= now() + base
      and created_at < now() - age for update skip locked)
  update turns t set next_sweep_at = now() from picked p where t.casino_id = p.casino_id and t.turn_id = p.turn_id;
  get diagnostics drafts = row_count;
  with picked as (
    select casino_id, outbound_id from outbound_messages
    where state = 'queued' and sweeps = 0 and next_sweep_at > now() and next_sweep_at <= now() + base
      and not_before < now() - age for update skip locked)
  update outbound_messages o set next_sweep_at = now() from picked p where o.casino_id = p.casino_id and o.outbound_id = p.outbound_id;
  get diagnostics replies = row_count;
  return query select texts + drafts + replies;
end $$;

do $$
declare f text;
begin
  foreach f in array array['fleet_sending(interval)', 'fleet_dead_rows()', 'fleet_unreconciled(text, interval)', 'fleet_hasten(interval, interval)'] loop
    execute format('alter function %s owner to seven_fleet', f);
    execute format('revoke all on function %s from public', f);
    execute format('grant execute on function %s to seven_app', f);
  end loop;
end $$;
