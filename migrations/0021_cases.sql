-- Which casinos have a case that waits for a person: asked every two seconds, and of hundreds of casinos few have one.

create function fleet_cases()
returns table (casino_id text)
language sql stable security definer set search_path = public, pg_temp as $$
  select distinct e.casino_id from escalations e where e.acknowledged_at is null and e.resolved_at is null
$$;
alter function fleet_cases() owner to seven_fleet;
revoke all on function fleet_cases() from public;
grant execute on function fleet_cases() to seven_app;
