-- Raised log levels (PROD-43): each worker reads its own with its heartbeat, and falls back when the time is over.
create table log_levels (
  -- Empty for every worker.
  worker    text primary key,
  level     text not null check (level in ('debug', 'trace')),
  until_at  timestamptz not null,
  actor     text not null
);
grant select, insert, update, delete on log_levels to seven_app;
grant select on log_levels to seven_pinned;
