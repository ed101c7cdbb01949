-- A casino's own questions are searched for as guests' questions are (RAG-45, PROD-34).

-- The embedding space in which a swarm last indexed the casino's content; null for the offline embedding.
alter table casinos add column content_space text;
-- The space in which a run was made; null for the offline embedding and for runs made before this column.
alter table content_runs add column space text;

-- Vectors of the set's questions, made together with those of the content, so that the console and the scheduler, which run the
-- set, need no model.
create table content_question_vectors (
  casino_id   text not null references casinos (casino_id) on delete cascade,
  space       text not null,
  question_id uuid not null,
  vector      real[] not null,
  embedded_at timestamptz not null default now(),
  primary key (casino_id, space, question_id),
  foreign key (casino_id, question_id) references content_questions (casino_id, question_id) on delete cascade
);

do $$
declare t text;
begin
  foreach t in array array['content_question_vectors'] loop
    execute format('alter table %I enable row level security', t);
    execute format('alter table %I force row level security', t);
    execute format('create policy tenant on %I using (casino_id = seven_tenant()) with check (casino_id = seven_tenant())', t);
    execute format('create policy pinned_tenant on %I as restrictive to seven_pinned using (seven_may(casino_id)) with check (seven_may(casino_id))', t);
    execute format('grant select, delete on %I to seven_fleet', t);
    execute format('grant select, insert, update, delete on %I to seven_app, seven_pinned', t);
  end loop;
end $$;
