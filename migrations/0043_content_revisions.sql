-- Content is a history (D31). `content_items` stays what the index is built from: the newest published
-- revision of each item. Everything else is invisible to guests.

create table content_revisions (
  casino_id       text not null references casinos (casino_id) on delete cascade,
  item_id         text not null,
  revision        int not null check (revision > 0),
  category        text not null,
  name            text not null,
  -- The whole item as it was checked; of a refused one as it came; null once it was purged.
  item            jsonb,
  content_hash    text not null,
  active          boolean not null,
  state           text not null check (state in ('draft', 'review', 'scheduled', 'published', 'rejected', 'withdrawn')),
  source          text not null check (source in ('console', 'sheet', 'file', 'api')),
  editor          text not null,
  -- The published revision that it changes; null for a new item.
  base            int,
  -- Why it waits, was refused, or what its editor was warned of.
  findings        jsonb not null default '[]',
  saved_at        timestamptz not null default now(),
  publish_at      timestamptz,
  take_down_at    timestamptz,
  decided_at      timestamptz,
  decided_by      text,
  decision_reason text,
  published_at    timestamptz,
  -- The casino's content version that has it first, and when a process answered with it first.
  content_version bigint,
  indexed_at      timestamptz,
  purged_at       timestamptz,
  primary key (casino_id, item_id, revision),
  check (state <> 'published' or published_at is not null),
  check (state <> 'scheduled' or publish_at is not null)
);
create index content_revisions_waiting on content_revisions (casino_id, saved_at) where state in ('draft', 'review', 'scheduled', 'rejected');
create index content_revisions_scheduled on content_revisions (casino_id, publish_at) where state = 'scheduled';
create index content_revisions_ending on content_revisions (casino_id, take_down_at) where state = 'published' and take_down_at is not null;
create index content_revisions_unindexed on content_revisions (casino_id, content_version) where state = 'published' and indexed_at is null;
create index content_revisions_published on content_revisions (casino_id, category, published_at) where state = 'published' and published_at is not null;

-- Edits that a sheet or a program told, with the revision that they made: one edit is one revision, however
-- often it is told, and a call that was taken cannot be played again.
create table content_edits (
  casino_id text not null references casinos (casino_id) on delete cascade,
  source    text not null check (source in ('console', 'sheet', 'file', 'api')),
  edit_id   text not null,
  signed_at timestamptz not null,
  told_at   timestamptz not null default now(),
  item_id   text not null,
  revision  int,
  primary key (casino_id, source, edit_id)
);

alter table content_items add column revision int not null default 1;

-- Policies hold for the owner, too, who belongs to no casino.
alter table content_items no force row level security;
insert into content_revisions (casino_id, item_id, revision, category, name, item, content_hash, active, state, source, editor, saved_at, published_at, indexed_at)
  select casino_id, item_id, 1, category, name, item, content_hash, active, 'published', 'file', 'before the history', updated_at, updated_at, updated_at
  from content_items;
alter table content_items force row level security;

do $$
declare t text;
begin
  foreach t in array array['content_revisions', 'content_edits'] loop
    execute format('alter table %I enable row level security', t);
    execute format('alter table %I force row level security', t);
    execute format('create policy tenant on %I using (casino_id = seven_tenant()) with check (casino_id = seven_tenant())', t);
    execute format('create policy pinned_tenant on %I as restrictive to seven_pinned using (seven_may(casino_id)) with check (seven_may(casino_id))', t);
    -- Nothing is deleted; the rows go with their casino.
    execute format('grant select, insert, update on %I to seven_app, seven_pinned', t);
    execute format('grant select, delete on %I to seven_fleet', t);
  end loop;
end $$;

-- Casinos with revisions whose time has come, and what waits: `due` needs the scheduler now, `late` was
-- published before `late_before` and no process answers with it yet, the others wait for people.
create function fleet_content(at timestamptz, late_before timestamptz)
returns table (casino_id text, what text, n bigint)
language sql stable security definer set search_path = public, pg_temp as $$
  select r.casino_id, 'due', count(*) from content_revisions r where r.state = 'scheduled' and r.publish_at <= at group by 1
  union all
  select r.casino_id, 'due', count(*) from content_revisions r join content_items i on i.casino_id = r.casino_id
    and i.item_id = r.item_id and i.revision = r.revision
  where r.state = 'published' and r.take_down_at <= at and i.active group by 1
  union all
  select r.casino_id, 'late', count(*) from content_revisions r
  where r.state = 'published' and r.indexed_at is null and r.content_version is not null and r.published_at < late_before group by 1
  union all
  select r.casino_id, r.state, count(*) from content_revisions r
  where r.state in ('review', 'scheduled') or r.state = 'rejected' and r.decided_at is null group by 1, 2
$$;
alter function fleet_content(timestamptz, timestamptz) owner to seven_fleet;
revoke all on function fleet_content(timestamptz, timestamptz) from public;
grant execute on function fleet_content(timestamptz, timestamptz) to seven_app;
