-- Replies that a person releases, edits or discards before they leave (AGENT-15, D27): those of a
-- casino whose document says so, and of single conversations. Only texts of the class `reply` are
-- held.

create table reviewed_conversations (
  casino_id       text not null,
  conversation_id uuid not null,
  set_at          timestamptz not null default now(),
  set_by          text not null,
  primary key (casino_id, conversation_id),
  foreign key (casino_id, conversation_id) references conversations (casino_id, conversation_id) on delete cascade
);

-- One row per turn whose texts wait, or waited.
create table held_turns (
  casino_id       text not null,
  turn_id         uuid not null,
  conversation_id uuid not null,
  held_at         timestamptz not null default now(),
  -- When people were told that it waits too long.
  told_at         timestamptz,
  decision        text check (decision in ('released', 'edited', 'discarded')),
  decided_at      timestamptz,
  decided_by      text,
  primary key (casino_id, turn_id),
  foreign key (casino_id, conversation_id) references conversations (casino_id, conversation_id) on delete cascade,
  check ((decision is null) = (decided_at is null))
);
create index held_turns_open on held_turns (casino_id, held_at) where decided_at is null;

do $$
declare t text;
begin
  foreach t in array array['reviewed_conversations', 'held_turns'] loop
    execute format('alter table %I enable row level security', t);
    execute format('alter table %I force row level security', t);
    execute format('create policy tenant on %I using (casino_id = seven_tenant()) with check (casino_id = seven_tenant())', t);
    execute format('create policy pinned_tenant on %I as restrictive to seven_pinned using (seven_may(casino_id)) with check (seven_may(casino_id))', t);
    execute format('grant select, insert, update, delete on %I to seven_app, seven_pinned', t);
    execute format('grant select, delete on %I to seven_fleet', t);
  end loop;
end $$;
