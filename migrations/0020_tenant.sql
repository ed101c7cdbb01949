-- The tenant of a row policy is read at each scan of each statement, and setting up the eight calls of 0017's answer cost more than the
-- scan. Workers that serve all casinos are asked for their setting alone, as before 0017; a login pinned to its casino (DEP-14) is held by a
-- policy of its own on top, which nobody else is asked about (docs/performance.md).

do $$
declare t text;
begin
  for t in select c.relname from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and c.relforcerowsecurity loop
    execute format('create policy pinned_tenant on %I as restrictive to seven_pinned using (seven_may(casino_id)) with check (seven_may(casino_id))', t);
  end loop;
end $$;
-- It may still add what it notes of the fleet (0017).
alter policy pinned_tenant on audit_log using (seven_may(casino_id)) with check (seven_may(casino_id) or casino_id = '_unknown');

create or replace function seven_tenant() returns text language sql stable
return nullif(pg_catalog.current_setting('app.casino', true), '');
