-- Replays and discards that somebody asked for on a page of the console. The scheduler carries them out, because the console has no
-- right to publish to the stages.
alter table dead_letters
  add column asked text check (asked in ('replay', 'discard')),
  add column asked_by text,
  add column asked_at timestamptz,
  add column asked_reason text,
  -- The code of the refusal of the last replay that was asked for.
  add column refused text;
create index dead_asked on dead_letters (casino_id, first_at, dead_id) where asked is not null;

-- The casinos at which letters wait for an order to be carried out.
create function fleet_dead_orders()
returns table (casino_id text, n bigint)
language sql stable security definer set search_path = public, pg_temp as $$
  select d.casino_id, count(*) from dead_letters d where d.asked is not null group by 1
$$;
alter function fleet_dead_orders() owner to seven_fleet;
revoke all on function fleet_dead_orders() from public;
grant execute on function fleet_dead_orders() to seven_app;
