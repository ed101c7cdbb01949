-- Isolation by database login, and the life of a fleet (issue E, items 7 and 8).

-- === a login pinned to its casino (DEP-14, SEC-160, DATA-46) ===

-- Grants only; nobody logs in as it. `seven casino login ID` makes seven_casino_<id>, a member of it.
do $$ begin
  create role seven_pinned nologin;
exception when duplicate_object or unique_violation then null; end $$;

-- True unless the session was opened by a pinned login of another casino. session_user, because neither SET ROLE nor SET changes it; parsed
-- now (RETURN), so that no search_path changes what the names mean.
create function seven_may(casino text) returns boolean language sql stable
return not pg_catalog.starts_with(session_user::text, 'seven_casino_') or session_user::text = 'seven_casino_' || casino;

-- Every row policy asks this, so a pinned login finds no other casino's rows in any table, those of later migrations included.
create or replace function seven_tenant() returns text language sql stable
return case
  when not pg_catalog.starts_with(session_user::text, 'seven_casino_') then nullif(pg_catalog.current_setting('app.casino', true), '')
  when session_user::text = 'seven_casino_' || pg_catalog.current_setting('app.casino', true) then pg_catalog.current_setting('app.casino', true)
end;

-- Tables with a row policy: what the workers' role may.
do $$
declare t record; r text;
begin
  for t in select c.oid, c.relname from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and c.relforcerowsecurity loop
    foreach r in array array['select', 'insert', 'update', 'delete'] loop
      if has_table_privilege('seven_app', t.oid, r) then
        execute format('grant %s on %I to seven_pinned', r, t.relname);
      end if;
    end loop;
  end loop;
end $$;

-- What a pinned worker notes of the fleet (a forged webhook, a provider that refuses us) it may add, and not read.
create policy pinned_fleet on audit_log for insert to seven_pinned with check (casino_id = '_unknown');

-- Tables without one: a pinned login reads what is the same for all and changes its own casino's rows only. The workers' role sees all,
-- as before.
do $$
declare t text;
begin
  foreach t in array array['due', 'provider_stops', 'alerts', 'alert_deliveries'] loop
    execute format('alter table %I enable row level security', t);
    execute format('create policy everyone on %I to seven_app, seven_fleet using (true) with check (true)', t);
    execute format('grant select, insert, update, delete on %I to seven_pinned', t);
  end loop;
end $$;
create policy pinned on due to seven_pinned using (seven_may(casino_id)) with check (seven_may(casino_id));
-- '' is the whole fleet: an account that is refused is refused for all, whoever notices; lifting that is not a casino's.
create policy pinned on provider_stops to seven_pinned using (true) with check (casino_id = '' or seven_may(casino_id));
create policy pinned_delete on provider_stops as restrictive for delete to seven_pinned using (seven_may(casino_id));
create policy pinned on alerts to seven_pinned using (casino_id = '' or seven_may(casino_id)) with check (casino_id = '' or seven_may(casino_id));
create policy pinned on alert_deliveries to seven_pinned using (exists (select from alerts a where a.alert_id = alert_deliveries.alert_id));
grant select on routes, fleet_controls, fleet_flags, send_policy, outbound_transitions to seven_pinned;
grant select, insert, update, delete on workers to seven_pinned;
grant usage on schema public to seven_pinned;

-- The one function across casinos a pinned worker needs; for it the fleet is its own casino.
create or replace function fleet_roster()
returns table (casino_id text, status text, config_version bigint, content_version bigint, numbers text[], paused text[])
language sql stable security definer set search_path = public, pg_temp as $$
  select c.casino_id, c.status, c.config_version, c.content_version,
         coalesce((select array_agg(r.number order by r.number) from routes r where r.casino_id = c.casino_id), '{}'),
         coalesce((select array_agg(k.name order by k.name)
                     from (select name from controls x where x.casino_id = c.casino_id
                           union select name from fleet_controls) k), '{}')
  from casinos c where c.status <> 'removed' and seven_may(c.casino_id) order by c.casino_id
$$;
grant execute on function fleet_roster() to seven_pinned;

-- Before Postgres 15 everybody could make functions here.
revoke create on schema public from public;

-- === rolling upgrades (PROD-27) ===

-- A worker asks at its start whether the database is as new as it needs.
grant select on _sqlx_migrations to seven_app, seven_pinned;
