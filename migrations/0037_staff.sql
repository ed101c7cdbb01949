-- The people who work at a casino (D26): operators, their roles, sessions, links and logins. These
-- tables hold no guest data and belong to no casino, hence no row policy. Only the console's login
-- reads them, so that no worker can read a password's hash.

-- The console's login: all that the workers' login may, under the same forced row policies, and
-- these tables.
do $$ begin
  create role seven_console login;
exception when duplicate_object or unique_violation then null; end $$;
-- Roles belong to the server, and another database of it may be migrated at the same time.
do $$ begin
  if not pg_has_role('seven_console', 'seven_app', 'member') then
    grant seven_app to seven_console;
  end if;
exception when duplicate_object or unique_violation or internal_error then null; end $$;

create table operators (
  operator_id   uuid primary key,
  email         text not null check (email = lower(email)),
  name          text not null,
  language      text not null default 'en',
  status        text not null default 'invited' check (status in ('invited', 'active', 'disabled')),
  -- argon2id in the PHC form; null until the person chose a password.
  password_hash text,
  -- The key of the second factor (RFC 6238), and the last step that was used: no code counts twice.
  totp_key      bytea,
  totp_step     bigint not null default 0,
  created_at    timestamptz not null default now(),
  created_by    text not null
);
create unique index operators_email on operators (email);

create table operator_roles (
  operator_id uuid not null references operators (operator_id) on delete cascade,
  -- Empty for every casino.
  casino_id   text not null default '',
  role        text not null check (role in ('host', 'marketing', 'editor', 'approver', 'compliance', 'manager', 'admin')),
  granted_at  timestamptz not null default now(),
  granted_by  text not null,
  primary key (operator_id, casino_id, role)
);

-- A session, under the SHA-256 of its token: who reads this table cannot use one.
create table operator_sessions (
  token_hash    bytea primary key,
  operator_id   uuid not null references operators (operator_id) on delete cascade,
  -- False between password and second factor.
  complete      boolean not null,
  created_at    timestamptz not null default now(),
  seen_at       timestamptz not null default now(),
  ends_at       timestamptz not null
);
create index operator_sessions_operator on operator_sessions (operator_id);

create table operator_links (
  token_hash  bytea primary key,
  operator_id uuid not null references operators (operator_id) on delete cascade,
  purpose     text not null check (purpose in ('invitation', 'password', 'second_factor')),
  created_at  timestamptz not null default now(),
  created_by  text not null,
  ends_at     timestamptz not null,
  used_at     timestamptz
);
create index operator_links_operator on operator_links (operator_id);

-- Failed logins of the last day. Both fields are SHA-256: an account need not exist, and an address
-- is a person's.
create table operator_failures (
  account_hash bytea not null,
  address_hash bytea not null,
  at           timestamptz not null default now()
);
create index operator_failures_account on operator_failures (account_hash, at);
create index operator_failures_address on operator_failures (address_hash, at);
create index operator_failures_at on operator_failures (at);

-- Words of a conversation that an operator was shown for a reason, until this time.
create table operator_reveals (
  casino_id       text not null references casinos (casino_id) on delete cascade,
  conversation_id uuid not null,
  operator_id     uuid not null,
  ends_at         timestamptz not null,
  primary key (casino_id, conversation_id, operator_id),
  foreign key (casino_id, conversation_id) references conversations (casino_id, conversation_id) on delete cascade
);

-- Who took a conversation over: an operator's id, or the name given with --by. A table of its own,
-- because a wider row of `conversations` changes the plans of every text (tests/it/uncounted.rs).
create table conversation_holders (
  casino_id       text not null references casinos (casino_id) on delete cascade,
  conversation_id uuid not null,
  holder          text not null,
  primary key (casino_id, conversation_id),
  foreign key (casino_id, conversation_id) references conversations (casino_id, conversation_id) on delete cascade
);

-- What staff tell each other about a conversation; never sent.
create table conversation_notes (
  casino_id       text not null references casinos (casino_id) on delete cascade,
  note_id         uuid not null,
  conversation_id uuid not null,
  author          text not null,
  body            text not null,
  created_at      timestamptz not null default now(),
  primary key (casino_id, note_id),
  foreign key (casino_id, conversation_id) references conversations (casino_id, conversation_id) on delete cascade
);
create index conversation_notes_conversation on conversation_notes (casino_id, conversation_id, created_at);

do $$
declare t text;
begin
  foreach t in array array['operators', 'operator_roles', 'operator_sessions', 'operator_links', 'operator_failures'] loop
    execute format('grant select, insert, update, delete on %I to seven_console', t);
  end loop;
  foreach t in array array['operator_reveals', 'conversation_holders', 'conversation_notes'] loop
    execute format('alter table %I enable row level security', t);
    execute format('alter table %I force row level security', t);
    execute format('create policy tenant on %I using (casino_id = seven_tenant()) with check (casino_id = seven_tenant())', t);
    execute format('create policy pinned_tenant on %I as restrictive to seven_pinned using (seven_may(casino_id)) with check (seven_may(casino_id))', t);
    execute format('grant select, insert, update, delete on %I to seven_app, seven_pinned', t);
    execute format('grant select, delete on %I to seven_fleet', t);
  end loop;
end $$;
