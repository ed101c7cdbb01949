-- Consent with its proof, eligibility, escalations, privacy and a queryable audit log (issue B).

-- === consent ===

-- How the word in force came (D7, SMS-20) and whether the provider still blocks a guest who is back with us (C-6, C-10).
alter table suppressions
  add column method text not null default 'none',
  add column provider_knows boolean not null default false,
  add column provider_blocked boolean not null default false,
  -- First START of a guest who left in words; the second one within a day counts (SMS-20, C-12).
  add column reopt_requested_at timestamptz;

-- One chain per (casino, guest), contiguous from 0; `event` is the canonical JSON that `content_hash` is the SHA-256 of (D8).
-- Keyed by the guest's hash: it outlives the guest's row (C-19).
create table consent_events (
  casino_id    text not null references casinos (casino_id),
  key_id       smallint not null,
  phone_hash   bytea not null,
  position     bigint not null,
  event        text not null,
  content_hash text not null,
  recorded_at  timestamptz not null default now(),
  primary key (casino_id, key_id, phone_hash, position)
);
create index consent_recent on consent_events (casino_id, recorded_at);

-- The anchor outside the chain: its length and head under a keyed HMAC, so that a cut-off tail shows (SEC-73). Its row lock
-- serialises appends.
create table consent_heads (
  casino_id   text not null references casinos (casino_id) on delete cascade,
  key_id      smallint not null,
  phone_hash  bytea not null,
  length      bigint not null,
  head_hash   text not null,
  mac         bytea not null,
  primary key (casino_id, key_id, phone_hash)
);

-- An opt-in question we asked: only a YES to it, while it is the last thing we asked, is written consent (CONV-9, C-8, C-16).
create table consent_prompts (
  casino_id    text not null,
  outbound_id  uuid not null,
  guest_id     uuid not null,
  tier         text not null check (tier in ('informational', 'marketing')),
  wording      text not null,
  wording_hash text not null,
  state        text not null default 'pending' check (state in ('pending', 'granted', 'declined')),
  expires_at   timestamptz not null,
  created_at   timestamptz not null default now(),
  primary key (casino_id, outbound_id),
  foreign key (casino_id, outbound_id) references outbound_messages (casino_id, outbound_id) on delete cascade
);
create index consent_prompts_pending on consent_prompts (casino_id, guest_id) where state = 'pending';

alter table guests
  add column status text not null default 'active' check (status in ('active', 'warm', 'archived', 'pending_deletion')),
  add column zone text,
  add column state text,
  -- Permanent: a guest who cried for help about gambling gets no proactive text again (CONV-14).
  add column responsible_gaming_at timestamptz,
  -- What the law of the states this number may mean asks for, looked up once.
  add column disclosure_required boolean not null default true,
  add column disclosure_law text,
  -- The session in which the disclosure was taken by the provider (SEC-51, C-16).
  add column disclosed_session timestamptz,
  add column redisclose text check (redisclose in ('outbound_campaign_start', 'proactive_offer', 'behavior_model_change'));

-- First text after a silence of a session's length: the disclosure is due again (SEC-51, C-16).
alter table conversations add column session_started_at timestamptz;

alter table turns
  add column disclosure_kind text check (disclosure_kind in ('first', 'session', 'again'));

-- === eligibility of proactive texts (SMS-31, C-38) ===

alter table send_policy
  add column needs_registration boolean not null default false,
  add column needs_exclusion_check boolean not null default false,
  add column needs_number_check boolean not null default false,
  -- Least time between two texts of this class to one guest, and how many in how long.
  add column cooldown interval,
  add column cap int,
  add column cap_window interval,
  add column when_provider_blocks text not null default 'stop' check (when_provider_blocks in ('pass', 'stop'));
update send_policy set when_provider_blocks = 'pass' where lane = 'safety';
update send_policy set needs_registration = true, needs_exclusion_check = true where lane = 'bulk';
update send_policy set needs_number_check = true, cooldown = interval '24 hours', cap = 8, cap_window = interval '30 days' where class = 'marketing';

-- The sender's own clock at the call: a provider's refusal is weighed against the guest's words by it (C-10).
alter table send_attempts add column called_at timestamptz;
create index outbound_guest on outbound_messages (casino_id, guest_id, class, created_at);

-- Guests who excluded themselves (self_exclusion_check of the jurisdiction table); by hash: the list may name people we never met.
create table exclusions (
  casino_id  text not null references casinos (casino_id) on delete cascade,
  key_id     smallint not null,
  phone_hash bytea not null,
  source     text not null,
  until      timestamptz,
  created_at timestamptz not null default now(),
  primary key (casino_id, key_id, phone_hash)
);
-- When the casino last gave us its list: without one, nobody was checked.
create table exclusion_lists (
  casino_id text primary key references casinos (casino_id) on delete cascade,
  loaded_at timestamptz not null default now(),
  entries   bigint not null
);

-- Answers of the reassigned-numbers database (SMS-31 (6)); the hook writes, the last look reads.
create table number_checks (
  casino_id  text not null references casinos (casino_id) on delete cascade,
  key_id     smallint not null,
  phone_hash bytea not null,
  result     text not null check (result in ('same', 'reassigned', 'no_data')),
  checked_at timestamptz not null default now(),
  primary key (casino_id, key_id, phone_hash)
);

-- === escalations ===

create table escalations (
  casino_id       text not null references casinos (casino_id) on delete cascade,
  escalation_id   uuid not null,
  conversation_id uuid,
  guest_id        uuid,
  inbound_id      uuid,
  severity        text not null check (severity in ('sev0', 'sev1', 'sev2', 'sev3')),
  source          text not null check (source in ('guardrail', 'keyword', 'sentiment', 'consecutive_fallback', 'validation_failure', 'compliance')),
  reason          text not null,
  pattern_id      text,
  level           int not null default 1,
  ack_due_at      timestamptz,
  created_at      timestamptz not null default now(),
  acknowledged_at timestamptz,
  acknowledged_by text,
  primary key (casino_id, escalation_id)
);
create unique index escalations_cause on escalations (casino_id, inbound_id, reason) where inbound_id is not null;
create index escalations_open on escalations (casino_id, created_at) where acknowledged_at is null;

-- === privacy ===

-- One request to be forgotten; afterwards the proof. Texts of this guest from before `erased_until` are not taken in again:
-- without it a late copy would bring them back.
create table deletions (
  casino_id    text not null references casinos (casino_id) on delete cascade,
  deletion_id  uuid not null,
  key_id       smallint not null,
  phone_hash   bytea not null,
  guest_id     uuid not null,
  state        text not null default 'pending' check (state in ('pending', 'withdrawn', 'running', 'done')),
  requested_by text not null,
  requested_at timestamptz not null,
  due_at       timestamptz not null,
  erased_until timestamptz,
  counts       jsonb not null default '{}',
  completed_at timestamptz,
  primary key (casino_id, deletion_id)
);
create unique index deletions_pending on deletions (casino_id, key_id, phone_hash) where state in ('pending', 'running');
create index deletions_guest on deletions (casino_id, key_id, phone_hash, state);

-- === nightly work: one row per casino and job says when it last ran (local date) ===

create table nightly (
  casino_id  text not null references casinos (casino_id) on delete cascade,
  job        text not null,
  last_date  date not null,
  result     jsonb not null default '{}',
  ran_at     timestamptz not null default now(),
  primary key (casino_id, job)
);

-- === audit (SEC-62, SEC-65): who was concerned by keyed hash, how serious, found by time, event or guest ===

alter table audit_log add column severity text not null default 'info' check (severity in ('info', 'warning', 'critical'));
alter table audit_log add column guest_hash text;
create index audit_time on audit_log (casino_id, at);
create index audit_guest on audit_log (casino_id, guest_hash, at) where guest_hash is not null;
create index audit_action on audit_log (casino_id, action, at);

create trigger consent_append_only before update or delete on consent_events for each row execute function seven_append_only();
create trigger consent_no_truncate before truncate on consent_events for each statement execute function seven_append_only();
alter table consent_events enable always trigger consent_append_only;
alter table consent_events enable always trigger consent_no_truncate;

create or replace function fleet_counts()
returns table (casino_id text, what text, state text, n bigint)
language sql stable security definer set search_path = public, pg_temp as $$
  select i.casino_id, 'inbound', i.disposition, count(*) from inbound_messages i group by 1, 3
  union all select o.casino_id, 'outbound', o.state, count(*) from outbound_messages o group by 1, 3
  union all select t.casino_id, 'turn', t.state, count(*) from turns t group by 1, 3
  union all select d.casino_id, 'dead', d.state, count(*) from dead_letters d group by 1, 3
  union all select s.casino_id, 'spool', 'waiting', count(*) from spool s group by 1
  union all select e.casino_id, 'case', 'open ' || e.severity, count(*) from escalations e where e.acknowledged_at is null group by 1, 3
$$;
grant select on escalations to seven_fleet;

do $$
declare t text;
begin
  foreach t in array array['consent_events', 'consent_heads', 'consent_prompts', 'exclusions', 'exclusion_lists', 'number_checks',
                           'escalations', 'deletions', 'nightly'] loop
    execute format('alter table %I enable row level security', t);
    execute format('alter table %I force row level security', t);
    execute format('create policy tenant on %I using (casino_id = seven_tenant()) with check (casino_id = seven_tenant())', t);
    execute format('grant select, insert, update, delete on %I to seven_app', t);
  end loop;
end $$;
revoke update, delete on consent_events from seven_app;
