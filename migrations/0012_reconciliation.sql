-- Reconciliation with the providers' records, alerts and their delivery (issue D, items 5 and 8).

-- What was taken over from a provider's records, once: a text that is recovered again and again would fill the dead letters.
create table reconciled (
  casino_id           text not null references casinos (casino_id) on delete cascade,
  provider            text not null,
  -- The provider's id of the message; of a text the provider never had, our attempt's.
  provider_message_id text not null,
  kind                text not null check (kind in ('inbound', 'requeued')),
  at                  timestamptz not null default now(),
  primary key (casino_id, provider, provider_message_id, kind)
);
create index reconciled_at on reconciled (casino_id, at);

-- One row per casino and provider: who looks now, and up to when all was compared.
create table reconciliations (
  casino_id  text not null references casinos (casino_id) on delete cascade,
  provider   text not null,
  claimed_at timestamptz not null default now(),
  done_until timestamptz,
  result     jsonb not null default '{}',
  primary key (casino_id, provider)
);

-- Rows whose dead letter may never have been announced.
create index inbound_parked on inbound_messages (casino_id, closed_at) where disposition = 'parked';
create index turns_parked on turns (casino_id, created_at) where state = 'parked';
create index outbound_failed on outbound_messages (casino_id, ended_at) where state = 'failed';

do $$
declare t text;
begin
  foreach t in array array['reconciled', 'reconciliations'] loop
    execute format('alter table %I enable row level security', t);
    execute format('alter table %I force row level security', t);
    execute format('create policy tenant on %I using (casino_id = seven_tenant()) with check (casino_id = seven_tenant())', t);
    execute format('grant select, insert, update, delete on %I to seven_app', t);
  end loop;
end $$;

-- What a person has to know, told once while it lasts. Written by every process and for the whole fleet; names, codes, counts and
-- our own sentences only, hence no row policy.
create table alerts (
  alert_id        uuid primary key,
  -- What it is about: one open row per key.
  key             text not null,
  name            text not null,
  -- '' is the whole fleet.
  casino_id       text not null default '',
  provider        text not null default '',
  code            text not null default '',
  severity        text not null check (severity in ('info', 'warning', 'critical')),
  summary         text not null,
  -- True: the scheduler sees when it ends. False: it ends when it has not come again for a while.
  standing        boolean not null,
  repeats         bigint not null default 0,
  first_at        timestamptz not null default now(),
  last_at         timestamptz not null default now(),
  ack_due_at      timestamptz,
  acknowledged_at timestamptz,
  acknowledged_by text,
  resolved_at     timestamptz
);
create unique index alerts_open on alerts (key) where resolved_at is null;
create index alerts_time on alerts (last_at);

-- What each channel is still to be told; a row goes away with its alert.
create table alert_deliveries (
  alert_id     uuid not null references alerts (alert_id) on delete cascade,
  action       text not null check (action in ('trigger', 'acknowledge', 'resolve')),
  channel      text not null,
  tries        int not null default 0,
  next_at      timestamptz not null default now(),
  created_at   timestamptz not null default now(),
  delivered_at timestamptz,
  given_up_at  timestamptz,
  last_error   text,
  primary key (alert_id, action, channel)
);
create index alert_deliveries_due on alert_deliveries (next_at) where delivered_at is null and given_up_at is null;
grant select, insert, update, delete on alerts, alert_deliveries to seven_app;
