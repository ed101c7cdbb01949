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

-- Contacts who get the casino's figures each Monday or hear of refused content, and what became of each letter.
alter table contacts add column weekly boolean not null default false, add column content boolean not null default false;
create table contact_letters (
  casino_id    text not null references casinos (casino_id) on delete cascade,
  letter_id    uuid not null,
  contact_id   uuid not null,
  kind         text not null check (kind in ('weekly_report', 'content_refused')),
  -- The subject: the Monday on which the reported week begins, or the refused edit.
  key          text not null,
  -- The problems of a refused edit, until they were told.
  detail       jsonb not null default '{}',
  next_at      timestamptz not null default now(),
  tries        int not null default 0,
  delivered_at timestamptz,
  given_up_at  timestamptz,
  last_error   text,
  primary key (casino_id, letter_id),
  unique (casino_id, kind, key, contact_id),
  foreign key (casino_id, contact_id) references contacts (casino_id, contact_id) on delete cascade
);
create index contact_letters_due on contact_letters (casino_id, next_at) where delivered_at is null and given_up_at is null;

do $$
declare t text;
begin
  foreach t in array array['audit_seals', 'contact_letters'] loop
    execute format('alter table %I enable row level security', t);
    execute format('alter table %I force row level security', t);
    execute format('create policy tenant on %I using (casino_id = seven_tenant()) with check (casino_id = seven_tenant())', t);
    execute format('create policy pinned_tenant on %I as restrictive to seven_pinned using (seven_may(casino_id)) with check (seven_may(casino_id))', t);
    execute format('grant select, delete on %I to seven_fleet', t);
  end loop;
end $$;
-- A seal is written once.
grant select, insert on audit_seals to seven_app, seven_pinned;
grant select, insert, update on contact_letters to seven_app, seven_pinned;

-- Casinos with letters to send now.
create function fleet_contact_letters()
returns table (casino_id text)
language sql stable security definer set search_path = public, pg_temp as $$
  select distinct l.casino_id from contact_letters l
  where l.delivered_at is null and l.given_up_at is null and l.next_at <= now()
$$;
alter function fleet_contact_letters() owner to seven_fleet;
revoke all on function fleet_contact_letters() from public;
grant execute on function fleet_contact_letters() to seven_app;
