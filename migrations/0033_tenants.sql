-- Every casino that was ever added: retention holds for what a removed one left behind, too.
create function fleet_tenants()
returns table (casino_id text)
language sql stable security definer set search_path = public, pg_temp as $$
  select c.casino_id from casinos c order by 1
$$;
alter function fleet_tenants() owner to seven_fleet;
revoke all on function fleet_tenants() from public;
grant execute on function fleet_tenants() to seven_app;
