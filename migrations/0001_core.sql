-- The fleet's tables. Invariant (D9): every table with guest data has casino_id and a FORCED row policy that binds it to
-- the casino named by set_config('app.casino', ..., true); tests/it/tenancy.rs walks pg_catalog and fails on any other.

do $$ begin
  create role seven_app login;
exception when duplicate_object or unique_violation then null; end $$;
-- Owns the functions that span casinos. Nobody logs in as it; no worker is a member of it.
do $$ begin
  create role seven_fleet nologin bypassrls;
exception when duplicate_object or unique_violation then null; end $$;

create function seven_tenant() returns text language sql stable as
$$ select nullif(current_setting('app.casino', true), '') $$;

-- === casinos ===

create table casinos (
  casino_id       text primary key,
  status          text not null default 'active' check (status in ('active', 'suspended', 'removed')),
  timezone        text not null,
  state           text not null,
  config          jsonb not null,
  config_version  bigint not null default 1,
  content_version bigint not null default 0,
  created_at      timestamptz not null default now(),
  updated_at      timestamptz not null default now()
);

-- Which casino a number belongs to. No guest data, hence no row policy: ingress asks before it knows the casino.
create table routes (
  number    text primary key,
  casino_id text not null references casinos (casino_id) on delete cascade
);
create index routes_casino on routes (casino_id);

-- Work that becomes due. Ids and times only, hence no row policy: any scheduler claims for any casino (D13).
create table due (
  casino_id     text not null,
  kind          text not null,
  row_id        uuid not null,
  due_at        timestamptz not null,
  claimed_until timestamptz,
  primary key (casino_id, kind, row_id)
);
create index due_at on due (due_at);

-- === guests and conversations ===

create table guests (
  casino_id      text not null references casinos (casino_id) on delete cascade,
  guest_id       uuid not null,
  phone          text not null,
  key_id         smallint not null,
  phone_hash     bytea not null,
  language       text check (language in ('en', 'es')),
  consent_tier   text not null default 'transactional' check (consent_tier in ('none', 'transactional', 'informational', 'marketing')),
  consent_at     timestamptz,
  consent_method text,
  disclosed_at   timestamptz,
  created_at     timestamptz not null default now(),
  updated_at     timestamptz not null default now(),
  primary key (casino_id, guest_id),
  unique (casino_id, key_id, phone_hash)
);

create table conversations (
  casino_id       text not null,
  conversation_id uuid not null,
  guest_id        uuid not null,
  channel         text not null default 'sms',
  casino_number   text not null,
  turn_epoch      bigint not null default 0,
  leased_until    timestamptz,
  next_seq        bigint not null default 1,
  last_inbound_at timestamptz,
  created_at      timestamptz not null default now(),
  primary key (casino_id, conversation_id),
  unique (casino_id, guest_id, channel),
  foreign key (casino_id, guest_id) references guests (casino_id, guest_id) on delete cascade
);

-- Last writer wins on as_of, ties to `stopped` (D7). `clear` is the row every guest starts with: a missing row is a
-- missing safety state, which the last look treats as a refusal.
create table suppressions (
  casino_id   text not null references casinos (casino_id) on delete cascade,
  key_id      smallint not null,
  phone_hash  bytea not null,
  state       text not null check (state in ('clear', 'stopped', 'opted_in')),
  as_of       timestamptz not null,
  event_id    text not null,
  recorded_at timestamptz not null default now(),
  primary key (casino_id, key_id, phone_hash)
);

-- === texts in ===

create table inbound_messages (
  casino_id           text not null,
  inbound_id          uuid not null,
  conversation_id     uuid not null,
  guest_id            uuid not null,
  channel             text not null default 'sms',
  provider            text not null,
  provider_message_id text not null,
  event_id            text not null,
  body                text not null,
  media_count         int not null default 0,
  autoresponse        text,
  arrival             bigint generated always as identity,
  occurred_at         timestamptz not null,
  received_at         timestamptz not null,
  stored_at           timestamptz not null default now(),
  stream_seq          bigint,
  verdict             text not null,
  pattern_id          text,
  disposition         text not null default 'open' check (disposition in ('open', 'answered', 'canned', 'closed', 'parked')),
  disposition_ref     uuid,
  reason              text,
  closed_at           timestamptz,
  tries               int not null default 0,
  last_error          text,
  sweeps              int not null default 0,
  next_sweep_at       timestamptz not null,
  trace               text not null,
  primary key (casino_id, inbound_id),
  unique (casino_id, provider, provider_message_id),
  foreign key (casino_id, conversation_id) references conversations (casino_id, conversation_id) on delete cascade
);
create index inbound_open on inbound_messages (casino_id, conversation_id, arrival) where disposition = 'open';
create index inbound_sweep on inbound_messages (casino_id, next_sweep_at) where disposition = 'open';
create index inbound_history on inbound_messages (casino_id, conversation_id, arrival);

-- === turns ===

create table turns (
  casino_id       text not null,
  turn_id         uuid not null,
  conversation_id uuid not null,
  guest_id        uuid not null,
  epoch           bigint not null,
  agent           text not null,
  model           text not null,
  intent          text not null,
  language        text not null,
  verdict         text not null,
  draft           text not null,
  disclosure      boolean not null,
  sources         jsonb not null,
  grounded        boolean not null,
  class           text not null,
  newest_text_at  timestamptz not null,
  state           text not null default 'drafted' check (state in ('drafted', 'shaped', 'cancelled', 'parked')),
  reason          text,
  tries           int not null default 0,
  last_error      text,
  sweeps          int not null default 0,
  next_sweep_at   timestamptz not null,
  trace           text not null,
  created_at      timestamptz not null default now(),
  primary key (casino_id, turn_id),
  foreign key (casino_id, conversation_id) references conversations (casino_id, conversation_id) on delete cascade
);
create index turns_sweep on turns (casino_id, next_sweep_at) where state = 'drafted';
create index turns_history on turns (casino_id, conversation_id, created_at);

-- === texts out ===

create table outbound_messages (
  casino_id           text not null,
  outbound_id         uuid not null,
  conversation_id     uuid not null,
  guest_id            uuid not null,
  turn_id             uuid,
  inbound_id          uuid,
  part                int not null default 1,
  parts               int not null default 1,
  kind                text not null,
  class               text not null,
  seq                 bigint not null,
  body                text not null,
  encoding            text not null,
  units               int not null,
  segments            int not null,
  agent               text not null,
  state               text not null default 'queued' check (state in
                        ('queued', 'sending', 'sent', 'delivered', 'failed', 'undelivered', 'unknown', 'suppressed', 'expired')),
  reason              text,
  -- When the guest's text that this answers reached us: HELP and confirmations must be answers to it (D6).
  answers_at          timestamptz,
  not_before          timestamptz not null default now(),
  useful_until        timestamptz not null,
  tries               int not null default 0,
  error_code          text,
  provider            text,
  provider_message_id text,
  sweeps              int not null default 0,
  next_sweep_at       timestamptz not null,
  trace               text not null,
  created_at          timestamptz not null default now(),
  sent_at             timestamptz,
  ended_at            timestamptz,
  primary key (casino_id, outbound_id),
  unique (casino_id, conversation_id, seq),
  foreign key (casino_id, conversation_id) references conversations (casino_id, conversation_id) on delete cascade
);
-- One answer per turn and part, one canned text of a kind per inbound text: a repeated stage finds its row (D3).
create unique index outbound_turn_part on outbound_messages (casino_id, turn_id, part) where turn_id is not null;
create unique index outbound_canned on outbound_messages (casino_id, inbound_id, kind, part) where inbound_id is not null;
create index outbound_unsent on outbound_messages (casino_id, conversation_id, seq) where state in ('queued', 'sending');
create index outbound_sweep on outbound_messages (casino_id, next_sweep_at) where state = 'queued';
create index outbound_state on outbound_messages (casino_id, state, created_at);

create table send_attempts (
  casino_id           text not null,
  attempt_id          uuid not null,
  outbound_id         uuid not null,
  provider            text not null,
  provider_message_id text,
  started_at          timestamptz not null default now(),
  deadline_at         timestamptz not null,
  outcome             text not null default 'pending' check (outcome in
                        ('pending', 'accepted', 'refused', 'transient', 'ambiguous', 'confirmed', 'rejected')),
  http_status         int,
  error_code          text,
  detail              text,
  finished_at         timestamptz,
  primary key (casino_id, attempt_id),
  foreign key (casino_id, outbound_id) references outbound_messages (casino_id, outbound_id) on delete cascade
);
create index attempts_outbound on send_attempts (casino_id, outbound_id, started_at);

create table receipts (
  casino_id           text not null,
  provider            text not null,
  provider_message_id text not null,
  status              text not null,
  event_id            text not null,
  attempt_id          uuid,
  outbound_id         uuid,
  error_code          text,
  occurred_at         timestamptz not null,
  received_at         timestamptz not null default now(),
  primary key (casino_id, provider, provider_message_id, status)
);
create index receipts_outbound on receipts (casino_id, outbound_id);

-- === content, controls ===

create table content_items (
  casino_id    text not null references casinos (casino_id) on delete cascade,
  item_id      text not null,
  category     text not null,
  name         text not null,
  item         jsonb not null,
  content_hash text not null,
  active       boolean not null default true,
  position     int not null default 0,
  updated_at   timestamptz not null default now(),
  primary key (casino_id, item_id)
);

-- outbound | proactive | agents | safe_mode: a row means it is on (D14).
create table controls (
  casino_id text not null references casinos (casino_id) on delete cascade,
  name      text not null check (name in ('pause_outbound', 'pause_proactive', 'pause_agents', 'safe_mode', 'kill')),
  version   bigint not null default 1,
  since     timestamptz not null default now(),
  actor     text not null,
  reason    text not null,
  primary key (casino_id, name)
);

-- The same switches for all casinos at once. No guest data and read by every send, hence no row policy.
create table fleet_controls (
  name    text primary key check (name in ('pause_outbound', 'pause_proactive', 'pause_agents', 'safe_mode', 'kill')),
  version bigint not null default 1,
  since   timestamptz not null default now(),
  actor   text not null,
  reason  text not null
);

-- The table of the last look (D6), as data. Law, not tenant data, hence no row policy.
create table send_policy (
  class             text primary key,
  lane              text not null check (lane in ('safety', 'reply', 'bulk')),
  when_suppressed   text not null check (when_suppressed in ('pass_as_answer', 'stop')),
  when_paused       text not null check (when_paused in ('pass', 'once', 'stop')),
  when_killed       text not null check (when_killed in ('pass', 'stop')),
  when_state_missing text not null check (when_state_missing in ('pass', 'stop')),
  quiet_hours       boolean not null,
  least_tier        text not null check (least_tier in ('none', 'transactional', 'informational', 'marketing'))
);
insert into send_policy values
  ('opt_out_confirmation', 'safety', 'pass_as_answer', 'pass', 'stop', 'pass', false, 'none'),
  ('help',                 'safety', 'pass_as_answer', 'pass', 'stop', 'pass', false, 'none'),
  ('crisis',               'safety', 'pass_as_answer', 'pass', 'stop', 'pass', false, 'none'),
  ('emergency',            'safety', 'pass_as_answer', 'pass', 'stop', 'pass', false, 'none'),
  ('holding',              'reply',  'stop',           'once', 'stop', 'stop', false, 'none'),
  ('reply',                'reply',  'stop',           'stop', 'stop', 'stop', false, 'none'),
  ('informational',        'bulk',   'stop',           'stop', 'stop', 'stop', true,  'transactional'),
  ('marketing',            'bulk',   'stop',           'stop', 'stop', 'stop', true,  'marketing');

-- === dead letters, spool, audit ===

create table dead_letters (
  casino_id   text not null,
  dead_id     uuid not null,
  stage       text not null,
  reason      text not null,
  first_error text not null,
  last_error  text not null,
  attempts    int not null,
  subject     text not null,
  message_key text not null,
  payload     bytea not null,
  stream_seq  bigint,
  trace       text not null,
  state       text not null default 'open' check (state in ('open', 'replayed', 'discarded')),
  replays     int not null default 0,
  first_at    timestamptz not null default now(),
  last_at     timestamptz not null default now(),
  primary key (casino_id, dead_id),
  unique (casino_id, stage, message_key)
);
create index dead_state on dead_letters (casino_id, state, last_at);

-- Authentic events that JetStream did not take in time; scheduler publishes and deletes them (D2).
create table spool (
  casino_id   text not null,
  spool_id    uuid not null,
  subject     text not null,
  message_key text not null,
  headers     jsonb not null,
  payload     bytea not null,
  received_at timestamptz not null default now(),
  primary key (casino_id, spool_id)
);

create table audit_log (
  casino_id text not null,
  entry     bigint generated always as identity,
  at        timestamptz not null default now(),
  actor     text not null,
  action    text not null,
  subject   text not null,
  detail    jsonb not null default '{}',
  trace     text,
  primary key (casino_id, entry)
);

create function seven_append_only() returns trigger language plpgsql as
$$ begin raise exception '% is append-only: % is refused', tg_table_name, tg_op using errcode = '42501'; end $$;
create trigger audit_append_only before update or delete on audit_log for each row execute function seven_append_only();
create trigger audit_no_truncate before truncate on audit_log for each statement execute function seven_append_only();

-- Also for a superuser who replays with session_replication_role = replica.
alter table audit_log enable always trigger audit_append_only;
alter table audit_log enable always trigger audit_no_truncate;

-- === row policies and grants ===

do $$
declare t text;
begin
  foreach t in array array['casinos', 'guests', 'conversations', 'suppressions', 'inbound_messages', 'turns', 'outbound_messages',
                           'send_attempts', 'receipts', 'content_items', 'controls', 'dead_letters', 'spool', 'audit_log'] loop
    execute format('alter table %I enable row level security', t);
    execute format('alter table %I force row level security', t);
    execute format('create policy tenant on %I using (casino_id = seven_tenant()) with check (casino_id = seven_tenant())', t);
    execute format('grant select, insert, update, delete on %I to seven_app', t);
    execute format('grant select, insert, update, delete on %I to seven_fleet', t);
  end loop;
end $$;
revoke update, delete on audit_log from seven_app, seven_fleet;
grant select, insert, update, delete on routes, due, fleet_controls to seven_app;
grant select, insert, update, delete on routes, due to seven_fleet;
grant select on send_policy, fleet_controls to seven_app, seven_fleet;
grant usage on schema public to seven_app, seven_fleet;
