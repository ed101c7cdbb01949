-- What a turn was, in figures, for analysis over weeks (issue E, OBS-35): copied from turns each night, so that questions over many turns
-- never read the tables guests wait for. No guest, no text; the rows of a forgotten guest go with the others.
create table turn_facts (
  casino_id      text not null,
  turn_id        uuid not null,
  trace_id       text not null,
  at             timestamptz not null,
  -- From the guest's newest text to the reply's commit.
  waited_ms      bigint not null,
  agent          text not null,
  model          text not null,
  intent         text not null,
  language       text not null,
  grounded       boolean not null,
  degraded       boolean not null,
  retries        int not null,
  handoffs       int not null,
  input_tokens   bigint not null,
  output_tokens  bigint not null,
  -- Billionths of a dollar, at the prices of that day.
  nano_usd       bigint not null,
  -- Fields of the profile that the texts changed.
  learnt         int not null,
  -- Content rows the reply was made from, and the best score among them.
  found          int not null,
  top_score      real,
  primary key (casino_id, turn_id)
);
create index turn_facts_at on turn_facts (casino_id, at);

alter table turn_facts enable row level security;
alter table turn_facts force row level security;
create policy tenant on turn_facts using (casino_id = seven_tenant()) with check (casino_id = seven_tenant());
grant select, insert, update, delete on turn_facts to seven_app, seven_pinned;

-- Counting rows by state reads whole tables: in their own order that is thirteen times fewer pages than in that of a key, which is what the
-- workers' connections ask for otherwise (200,000 texts of each kind).
alter function fleet_counts() set enable_seqscan = on;
