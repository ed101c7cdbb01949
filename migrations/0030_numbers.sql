-- Numbers that move (docs/decisions/D40-numbers.md). A number that a casino gave up keeps routing to it
-- until another casino takes it over; then the former casino is remembered, with the guests it texted from there.

alter table routes add column since timestamptz not null default now();
-- Null: the casino sends from it. Otherwise guests may still write to it, and nothing leaves from it.
alter table routes add column retired_at timestamptz;

-- Casinos that had a number before its owner of today. No guest data, hence no row policy.
create table former_routes (
  number    text not null,
  casino_id text not null references casinos (casino_id) on delete cascade,
  until     timestamptz not null default now(),
  primary key (number, casino_id)
);
grant select, insert, update, delete on former_routes to seven_app, seven_fleet;
grant select on former_routes to seven_pinned;

-- Whom a casino texted from a number that it gave up. The rows of texts go with retention, this stays for 18 months.
create table former_senders (
  casino_id      text not null references casinos (casino_id) on delete cascade,
  guest_id       uuid not null,
  number         text not null,
  last_texted_at timestamptz not null,
  primary key (casino_id, guest_id, number),
  foreign key (casino_id, guest_id) references guests (casino_id, guest_id) on delete cascade
);
alter table former_senders enable row level security;
alter table former_senders force row level security;
create policy tenant on former_senders using (casino_id = seven_tenant()) with check (casino_id = seven_tenant());
create policy pinned_tenant on former_senders as restrictive to seven_pinned using (seven_may(casino_id)) with check (seven_may(casino_id));
grant select, insert, update, delete on former_senders to seven_app, seven_pinned;

-- The number of ours that the guest wrote to.
alter table inbound_messages add column casino_number text;

-- Whether the guest was told that the casino has another number: said once, and open again when a number is retired.
alter table conversations add column told_of_change boolean;

-- Whom a STOP at a casino's number concerns beside that casino: who had the number before (or was removed with it), and the casinos of the
-- same legal sender where one is named. Returns casinos only.
create function fleet_stop_reaches(texted text, at_casino text, legal_sender text)
returns table (casino_id text, what text)
language sql stable security definer set search_path = public, pg_temp as $$
  select f.casino_id, 'former_number' from former_routes f where f.number = texted and f.casino_id <> at_casino
  union
  select r.casino_id, 'former_number' from routes r join casinos c on c.casino_id = r.casino_id
    where r.number = texted and r.casino_id <> at_casino and c.status = 'removed'
  union
  select c.casino_id, 'same_sender' from casinos c
    where legal_sender <> '' and c.casino_id <> at_casino and c.config->'regulations'->'legal_sender'->>'id' = legal_sender
  order by 1, 2
$$;
alter function fleet_stop_reaches(text, text, text) owner to seven_fleet;
revoke all on function fleet_stop_reaches(text, text, text) from public;
grant execute on function fleet_stop_reaches(text, text, text) to seven_app;
