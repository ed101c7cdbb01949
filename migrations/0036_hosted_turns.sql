-- Who answered turns for which a hosted model is set up: `model`, why the offline host
-- stood in, or `fallback_text`.
-- `seven status` shows it for a day; counts only, as every function over all casinos.

create function fleet_hosted_turns(past interval)
returns table (state text, n bigint)
language sql stable security definer set search_path = public, pg_temp as $$
  select
    coalesce(
      turn.record->>'stood_in',
      case when turn.record->>'hosted' in ('reply', 'off_topic') then 'model' else 'fallback_text' end
    ),
    count(*)
  from turns turn
  where turn.created_at > now() - past and (turn.record ? 'stood_in' or turn.record ? 'hosted')
  group by 1
$$;

alter function fleet_hosted_turns(interval) owner to seven_fleet;
revoke all on function fleet_hosted_turns(interval) from public;
grant execute on function fleet_hosted_turns(interval) to seven_app;
