-- Sessions of a conversation, cases with their deadlines, and conversations a person takes over (issue C).

-- One row per session (DATA-25): the newest of a conversation is the one whose start stands in conversations.session_started_at.
create table sessions (
  casino_id       text not null,
  -- The text that opened it.
  session_id      uuid not null,
  conversation_id uuid not null,
  guest_id        uuid not null,
  started_at      timestamptz not null,
  last_at         timestamptz not null,
  phase           text not null default 'pre_visit' check (phase in
                    ('pre_visit', 'active', 'rapport', 'discovery', 'offer', 'post_visit', 'dormant')),
  turns           int not null default 0,
  -- Names of content rows that replies were made from; nothing a guest wrote.
  summary         jsonb not null default '{}',
  -- What phases and cases are decided by.
  counts          jsonb not null default '{}',
  primary key (casino_id, session_id),
  unique (casino_id, conversation_id, started_at),
  foreign key (casino_id, conversation_id) references conversations (casino_id, conversation_id) on delete cascade
);

-- A conversation without automation (SEC-104, SEC-109, C-31). paused_until null: until a person ends it. pause_held: its one holding text
-- went out.
alter table conversations
  add column paused_at timestamptz,
  add column paused_until timestamptz,
  add column pause_reason text,
  add column pause_held boolean not null default false;

-- `held`: kept for a person while the conversation is paused; opened again when it goes on.
alter table inbound_messages drop constraint inbound_messages_disposition_check;
alter table inbound_messages
  add constraint inbound_messages_disposition_check check (disposition in ('open', 'held', 'answered', 'canned', 'closed', 'parked')),
  -- When it was opened again: from then on its usefulness counts.
  add column released_at timestamptz;
create index inbound_held on inbound_messages (casino_id, conversation_id) where disposition = 'held';

alter table escalations
  -- By when a person has to write to the guest (SEC-113, CONV-44); none: with the daily digest.
  add column respond_due_at timestamptz,
  -- How often its cause came again while it was open.
  add column repeats int not null default 0,
  add column resolved_at timestamptz,
  add column resolved_by text;
-- What the host notices is one case per conversation and reason; the gate's are one per text.
create unique index escalations_same on escalations (casino_id, conversation_id, reason)
  where resolved_at is null and source not in ('guardrail', 'compliance');
create index escalations_conversation on escalations (casino_id, conversation_id, created_at);

alter table sessions enable row level security;
alter table sessions force row level security;
create policy tenant on sessions using (casino_id = seven_tenant()) with check (casino_id = seven_tenant());
grant select, insert, update, delete on sessions to seven_app;
