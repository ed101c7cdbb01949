-- Texts of the last `span` that were handed to a provider after their guest's STOP was written, although their class must not be (SEC-94):
-- one question for all casinos instead of a transaction for each that sent lately. A claim that took the row before the STOP's transaction
-- could is older than the STOP: two seconds are allowed for it. In the order written, by key: the planner cannot know how few the span has.
create function fleet_sent_after_stop(span interval)
returns table (casino_id text, outbound_id uuid)
language sql stable security definer set search_path = public, pg_temp
set join_collapse_limit = 1 set enable_hashjoin = off set enable_mergejoin = off as $$
  select distinct a.casino_id, a.outbound_id from casinos c
  join send_attempts a on a.casino_id = c.casino_id and a.started_at > now() - span
  join outbound_messages o on o.casino_id = a.casino_id and o.outbound_id = a.outbound_id
  join send_policy p on p.class = o.class and p.when_suppressed = 'stop'
  join guests g on g.casino_id = o.casino_id and g.guest_id = o.guest_id
  join suppressions s on s.casino_id = g.casino_id and s.key_id = g.key_id and s.phone_hash = g.phone_hash
  where s.state = 'stopped' and a.started_at > s.recorded_at + interval '2 seconds'
$$;
alter function fleet_sent_after_stop(interval) owner to seven_fleet;
revoke all on function fleet_sent_after_stop(interval) from public;
grant execute on function fleet_sent_after_stop(interval) to seven_app;
