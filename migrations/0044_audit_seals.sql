-- The digest of each finished day of a casino's audit log (UTC), written once in the night after it. The entries of
-- that day have the same digest for ever; another one shows that the log was changed behind the fleet's back.
create table audit_seals (
  casino_id text not null references casinos (casino_id) on delete cascade,
  day       date not null,
  entries   bigint not null,
  -- SHA-256 of the day's entries with all their fields, in hex, and the form in which they were digested.
  sha256    text not null,
  format    smallint not null default 1,
  sealed_at timestamptz not null,
  primary key (casino_id, day)
);

-- Contacts who get the casino's figures each Monday, and what became of each report.
alter table contacts add column weekly boolean not null default false;
create table weekly_reports (
  casino_id    text not null references casinos (casino_id) on delete cascade,
  report_id    uuid not null,
  contact_id   uuid not null,
  -- The Monday on which the reported week begins.
  week         date not null,
  next_at      timestamptz not null default now(),
  tries        int not null default 0,
  delivered_at timestamptz,
  given_up_at  timestamptz,
  last_error   text,
  primary key (casino_id, report_id),
  unique (casino_id, week, contact_id),
  foreign key (casino_id, contact_id) references contacts (casino_id, contact_id) on delete cascade
);
create index weekly_reports_due on weekly_reports (casino_id, next_at) where delivered_at is null and given_up_at is null;

do $$
declare t text;
begin
  foreach t in array array['audit_seals', 'weekly_reports'] loop
    execute format('alter table %I enable row level security', t);
    execute format('alter table %I force row level security', t);
    execute format('create policy tenant on %I using (casino_id = seven_tenant()) with check (casino_id = seven_tenant())', t);
    execute format('create policy pinned_tenant on %I as restrictive to seven_pinned using (seven_may(casino_id)) with check (seven_may(casino_id))', t);
    execute format('grant select, delete on %I to seven_fleet', t);
  end loop;
end $$;
-- A seal is written once.
grant select, insert on audit_seals to seven_app, seven_pinned;
grant select, insert, update on weekly_reports to seven_app, seven_pinned;

-- Casinos with weekly reports to send now.
create function fleet_weekly_reports()
returns table (casino_id text)
language sql stable security definer set search_path = public, pg_temp as $$
  select distinct r.casino_id from weekly_reports r
  where r.delivered_at is null and r.given_up_at is null and r.next_at <= now()
$$;
alter function fleet_weekly_reports() owner to seven_fleet;
revoke all on function fleet_weekly_reports() from public;
grant execute on function fleet_weekly_reports() to seven_app;
