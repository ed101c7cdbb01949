-- How long people took for the cases of the last day, by casino and severity, for the fleet's gauges (SEC-153).
create index escalations_acknowledged on escalations (acknowledged_at) where acknowledged_at is not null;
create index escalations_resolved on escalations (resolved_at) where resolved_at is not null;

create function fleet_case_times()
returns table (casino_id text, severity text, step text, n bigint, p95_seconds double precision)
language sql stable security definer set search_path = public, pg_temp as $$
  with acknowledged as (
    select escalation.*, extract(epoch from acknowledged_at - created_at) as seconds
    from escalations escalation where acknowledged_at > now() - interval '1 day'
  ), resolved as (
    select escalation.*, extract(epoch from resolved_at - created_at) as seconds
    from escalations escalation where resolved_at > now() - interval '1 day'
  )
  select a.casino_id, a.severity, 'acknowledged', count(*), percentile_cont(0.95) within group (order by a.seconds)
  from acknowledged a group by 1, 2
  union all
  select a.casino_id, a.severity, 'acknowledged_late', count(*), percentile_cont(0.95) within group (order by a.seconds)
  from acknowledged a where a.acknowledged_at > a.ack_due_at group by 1, 2
  union all
  select a.casino_id, a.severity, 'rose', count(*), percentile_cont(0.95) within group (order by a.seconds)
  from acknowledged a where a.level > 1 group by 1, 2
  union all
  select r.casino_id, r.severity, 'resolved', count(*), percentile_cont(0.95) within group (order by r.seconds)
  from resolved r group by 1, 2
$$;
alter function fleet_case_times() owner to seven_fleet;
revoke all on function fleet_case_times() from public;
grant execute on function fleet_case_times() to seven_app;
