-- Vectors of content, for embeddings that a hosted model makes (D12). The offline embedding needs none.

-- `space` names model, version and length: vectors of two spaces are never compared, and both may stand here while workers change
-- over. `content_hash` is of the embedded text and the space; a vector whose hash is not the present text's is not used. No foreign
-- key to content_items: a content file that was loaded by mistake and is loaded back must not cost all vectors.
create table content_vectors (
  casino_id    text not null references casinos (casino_id) on delete cascade,
  space        text not null,
  item_id      text not null,
  -- One chunk per item today (RAG-14).
  chunk        smallint not null default 0,
  content_hash text not null,
  vector       real[] not null,
  embedded_at  timestamptz not null default now(),
  primary key (casino_id, space, item_id, chunk)
);

do $$
declare t text;
begin
  foreach t in array array['content_vectors'] loop
    execute format('alter table %I enable row level security', t);
    execute format('alter table %I force row level security', t);
    execute format('create policy tenant on %I using (casino_id = seven_tenant()) with check (casino_id = seven_tenant())', t);
    execute format('grant select, insert, update, delete on %I to seven_app', t);
    execute format('grant select, insert, update, delete on %I to seven_fleet', t);
  end loop;
end $$;
