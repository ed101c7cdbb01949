-- A casino's own people are told about its cases (D28): whom, by which channel, and what became of
-- each notice.

create table contacts (
  casino_id    text not null references casinos (casino_id) on delete cascade,
  contact_id   uuid not null,
  name         text not null,
  channel      text not null check (channel in ('chat', 'mail')),
  -- The chat webhook's or the mailbox's address. Who knows a webhook's address can post there.
  address      text not null,
  language     text not null default 'en',
  -- The least severe cases that the contact wants at once.
  severity     text not null default 'sev2' check (severity in ('sev0', 'sev1', 'sev2', 'sev3')),
  -- From this level on: 1 is told first, 3 only when nobody acknowledged twice.
  level        int not null default 1 check (level between 1 and 3),
  -- Told about every danger to life at once, whatever its level and the hour.
  security     boolean not null default false,
  -- Whether notices may quote the guest and say what is known about them.
  words        boolean not null default false,
  -- Local times between which only sev0 is sent; both or neither.
  quiet_from   time,
  quiet_to     time,
  created_at   timestamptz not null default now(),
  created_by   text not null,
  -- When the channel last took a notice.
  reached_at   timestamptz,
  ended_at     timestamptz,
  ended_by     text,
  primary key (casino_id, contact_id),
  check ((quiet_from is null) = (quiet_to is null))
);

-- One notice per case, level and contact.
create table case_notices (
  casino_id     text not null references casinos (casino_id) on delete cascade,
  notice_id     uuid not null,
  escalation_id uuid not null,
  level         int not null,
  contact_id    uuid not null,
  created_at    timestamptz not null default now(),
  next_at       timestamptz not null default now(),
  tries         int not null default 0,
  delivered_at  timestamptz,
  given_up_at   timestamptz,
  last_error    text,
  primary key (casino_id, notice_id),
  unique (casino_id, escalation_id, level, contact_id),
  foreign key (casino_id, escalation_id) references escalations (casino_id, escalation_id) on delete cascade,
  foreign key (casino_id, contact_id) references contacts (casino_id, contact_id) on delete cascade
);
create index case_notices_due on case_notices (casino_id, next_at) where delivered_at is null and given_up_at is null;

-- When the case last rose to a higher level because nobody acknowledged it.
alter table escalations add column raised_at timestamptz;

do $$
declare t text;
begin
  foreach t in array array['contacts', 'case_notices'] loop
    execute format('alter table %I enable row level security', t);
    execute format('alter table %I force row level security', t);
    execute format('create policy tenant on %I using (casino_id = seven_tenant()) with check (casino_id = seven_tenant())', t);
    execute format('create policy pinned_tenant on %I as restrictive to seven_pinned using (seven_may(casino_id)) with check (seven_may(casino_id))', t);
    execute format('grant select, insert, update, delete on %I to seven_app, seven_pinned', t);
    execute format('grant select, delete on %I to seven_fleet', t);
  end loop;
end $$;
