-- What a guest on the web waits for from a person (WID-13 to WID-15, WID-20, WID-21). A conversation has one ticket at a time; its number is
-- the casino's own, because a guest reads it.
create table tickets (
  casino_id       text not null references casinos (casino_id) on delete cascade,
  ticket_id       uuid not null,
  number          bigint not null,
  conversation_id uuid not null,
  state           text not null check (state in ('open', 'pending_human', 'resolved', 'closed')),
  -- Why a person is needed, as the case has it.
  reason          text not null,
  opened_at       timestamptz not null default now(),
  resolved_at     timestamptz,
  resolved_by     text,
  -- The caller's key of the call that resolved it: the same call again changes nothing.
  resolve_key     text,
  primary key (casino_id, ticket_id),
  unique (casino_id, number),
  foreign key (casino_id, conversation_id) references conversations (casino_id, conversation_id) on delete cascade
);
create unique index tickets_of_conversation on tickets (casino_id, conversation_id) where state <> 'closed';

create function ticket_moves() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    if new.state <> 'pending_human' then
      raise exception 'a ticket begins as pending_human, not as %', new.state using errcode = 'check_violation';
    end if;
  elsif new.state <> old.state and (old.state, new.state) not in (
    ('open', 'pending_human'), ('open', 'closed'), ('pending_human', 'resolved'), ('resolved', 'open')) then
    raise exception 'a ticket does not go from % to %', old.state, new.state using errcode = 'check_violation';
  end if;
  return null;
end $$;
-- After the row policies, so that nobody learns from it.
create trigger ticket_moves after insert or update on tickets for each row execute function ticket_moves();

alter table tickets enable row level security;
alter table tickets force row level security;
create policy tenant on tickets using (casino_id = seven_tenant()) with check (casino_id = seven_tenant());
create policy pinned_tenant on tickets as restrictive to seven_pinned using (seven_may(casino_id)) with check (seven_may(casino_id));
grant select, delete on tickets to seven_fleet;
grant select, insert, update, delete on tickets to seven_app, seven_pinned;
