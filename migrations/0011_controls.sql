-- Operators' hands on the fleet (issue D item 7, D14): feature flags of guests, and which workers live. The switches themselves are in
-- `controls` and `fleet_controls` since 0001.

-- A casino's flags. The rule may list guests (as keyed hashes), so it is tenant data.
create table flags (
  casino_id  text not null references casinos (casino_id) on delete cascade,
  name       text not null,
  rule       jsonb not null,
  version    bigint not null default 1,
  updated_at timestamptz not null default now(),
  actor      text not null,
  reason     text not null,
  primary key (casino_id, name)
);

-- The same for casinos that have none of that name. Lists no guests and is read for every guest's turn, hence no row policy.
create table fleet_flags (
  name       text primary key,
  rule       jsonb not null check (not rule ? 'allow' or rule->'allow' = '[]'),
  version    bigint not null default 1,
  updated_at timestamptz not null default now(),
  actor      text not null,
  reason     text not null
);

-- Workers say every second that they live. No tenant data, hence no row policy.
create table workers (
  instance   text not null,
  worker     text not null,
  version    text not null,
  started_at timestamptz not null default now(),
  seen_at    timestamptz not null default now(),
  primary key (instance, worker)
);

alter table flags enable row level security;
alter table flags force row level security;
create policy tenant on flags using (casino_id = seven_tenant()) with check (casino_id = seven_tenant());
grant select, insert, update, delete on flags, fleet_flags, workers to seven_app;
grant select on flags, fleet_flags, workers to seven_fleet;
