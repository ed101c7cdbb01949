-- What is known of a guest, and results of model calls of turns that are not committed yet (issue C).

-- One document per guest (DATA-14): fields with confidence, source, consent and history. Gone with the guest.
create table profiles (
  casino_id  text not null,
  guest_id   uuid not null,
  document   jsonb not null,
  updated_at timestamptz not null default now(),
  primary key (casino_id, guest_id),
  foreign key (casino_id, guest_id) references guests (casino_id, guest_id) on delete cascade
);

-- A worker that dies between a model's answer and the turn's commit does not ask again (D4). `texts` names the guest's texts the turn
-- read: other texts are another turn. Removed with the turn's commit.
create table model_results (
  casino_id       text not null,
  conversation_id uuid not null,
  texts           uuid not null,
  step            text not null,
  result          jsonb not null,
  created_at      timestamptz not null default now(),
  primary key (casino_id, conversation_id, texts, step),
  foreign key (casino_id, conversation_id) references conversations (casino_id, conversation_id) on delete cascade
);

do $$
declare t text;
begin
  foreach t in array array['profiles', 'model_results'] loop
    execute format('alter table %I enable row level security', t);
    execute format('alter table %I force row level security', t);
    execute format('create policy tenant on %I using (casino_id = seven_tenant()) with check (casino_id = seven_tenant())', t);
    execute format('grant select, insert, update, delete on %I to seven_app', t);
    execute format('grant select, insert, update, delete on %I to seven_fleet', t);
  end loop;
end $$;
