-- Reconciliation with the providers' records, and dead rows whose letter was never announced (issue D, items 5 and 6).

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
