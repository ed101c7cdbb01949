-- What stands between us and a provider (issue D, SMS-39..41): who may not be called, since when, and why. A row without a casino stops
-- every casino's sending at that provider (keys, funds); a row with one parks that casino's sending (its daily spend limit). No guest
-- data and read by every send, hence no row policy.
create table provider_stops (
  provider   text not null,
  -- '' is every casino.
  casino_id  text not null default '',
  error_code text not null,
  since      timestamptz not null default now(),
  -- When it ends by itself; null lasts until a probe or an operator lifts it.
  until      timestamptz,
  -- When a probe may ask next whether the provider takes us again; null is never asked.
  probe_at   timestamptz,
  actor      text not null,
  primary key (provider, casino_id)
);
grant select, insert, update, delete on provider_stops to seven_app;
grant select on provider_stops to seven_fleet;
