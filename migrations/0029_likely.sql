-- A text that is only likely an opt-out is asked about; until the guest answers, nothing proactive leaves (D20).
alter table suppressions add column asked_at timestamptz;

-- When the guest last cried for help: no play and no offers for the rest of that session (SEC-28, CONV-36).
alter table conversations add column cried_at timestamptz;

-- Whose attempt it is: a receipt that names no number of ours is found by the attempt in its path (D5).
create function fleet_attempt_owner(attempt uuid)
returns table (casino_id text)
language sql stable security definer set search_path = public, pg_temp as $$
  select a.casino_id from send_attempts a where a.attempt_id = attempt
$$;
alter function fleet_attempt_owner(uuid) owner to seven_fleet;
revoke all on function fleet_attempt_owner(uuid) from public;
grant execute on function fleet_attempt_owner(uuid) to seven_app;
