-- Tickets of guests on the web by casino and state, for the fleet's gauges (WID-24).
create function fleet_tickets() returns table (casino_id text, state text, n bigint)
language sql stable security definer set search_path = public, pg_temp as $$
  select ticket.casino_id, ticket.state, count(*) from tickets ticket
  where ticket.state <> 'closed' group by 1, 2
$$;
alter function fleet_tickets() owner to seven_fleet;
revoke all on function fleet_tickets() from public;
grant execute on function fleet_tickets() to seven_app;
