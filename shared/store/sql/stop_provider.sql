with was as (select error_code from provider_stops where provider = $1 and casino_id = $2)
insert into provider_stops (provider, casino_id, error_code, until, probe_at, actor)
values ($1, $2, $3, now() + make_interval(secs => $4), now() + make_interval(secs => $5), $6)
on conflict (provider, casino_id) do update set
  -- A park stands until its time: it is the casino's limit, and a probe does not lift it.
  until = case when excluded.probe_at is not null and provider_stops.probe_at is null
    and provider_stops.until > now()
          then provider_stops.until else excluded.until end,
  error_code = case when excluded.probe_at is not null and provider_stops.probe_at is null
    and provider_stops.until > now()
               then provider_stops.error_code else excluded.error_code end,
  probe_at = case when excluded.probe_at is null or provider_stops.probe_at is null
    and provider_stops.until > now() then null
             else coalesce(provider_stops.probe_at, excluded.probe_at) end,
  actor = excluded.actor
where excluded.error_code = $7 or provider_stops.error_code <> $7
returning not exists (select from was where was.error_code = $7 or $3 <> $7)
