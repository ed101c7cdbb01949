-- Questions that a casino's content must answer, with the items that do (RAG-41, RAG-45), and what each run found.
create table content_questions (
  casino_id   text not null references casinos (casino_id) on delete cascade,
  question_id uuid not null,
  -- As the editor wrote it, or a guest's with names and numbers masked.
  question    text not null,
  expected    text[] not null,
  added_by    text not null,
  added_at    timestamptz not null default now(),
  primary key (casino_id, question_id),
  unique (casino_id, question)
);

create table content_runs (
  casino_id text not null references casinos (casino_id) on delete cascade,
  run_id    uuid not null,
  ran_by    text not null,
  ran_at    timestamptz not null default now(),
  questions int not null,
  recall    float8 not null,
  mrr       float8 not null,
  -- The questions whose items were not all found, each with the ids that were.
  misses    jsonb not null,
  primary key (casino_id, run_id)
);

do $$
declare t text;
begin
  foreach t in array array['content_questions', 'content_runs'] loop
    execute format('alter table %I enable row level security', t);
    execute format('alter table %I force row level security', t);
    execute format('create policy tenant on %I using (casino_id = seven_tenant()) with check (casino_id = seven_tenant())', t);
    execute format('create policy pinned_tenant on %I as restrictive to seven_pinned using (seven_may(casino_id)) with check (seven_may(casino_id))', t);
    execute format('grant select, delete on %I to seven_fleet', t);
    execute format('grant select, insert, delete on %I to seven_app, seven_pinned', t);
  end loop;
end $$;
