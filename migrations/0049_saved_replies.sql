-- Replies that a casino's people keep for guests, in English, Spanish or both (issue J).
create table saved_replies (
  casino_id  text not null references casinos (casino_id) on delete cascade,
  reply_id   uuid not null,
  title      text not null,
  -- Empty: there is none in this language.
  en         text not null,
  es         text not null,
  changed_by text not null,
  changed_at timestamptz not null default now(),
  primary key (casino_id, reply_id)
);
create unique index saved_replies_title on saved_replies (casino_id, lower(title));
alter table saved_replies enable row level security;
alter table saved_replies force row level security;
create policy tenant on saved_replies using (casino_id = seven_tenant()) with check (casino_id = seven_tenant());
create policy pinned_tenant on saved_replies as restrictive to seven_pinned using (seven_may(casino_id)) with check (seven_may(casino_id));
grant select, insert, update, delete on saved_replies to seven_app, seven_pinned;
grant select, delete on saved_replies to seven_fleet;
