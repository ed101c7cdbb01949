-- Which casino a text belongs to whose number was handed on within the last day (D40). Two calls of one webhook may
-- reach two casinos, while a process still knows the number's former casino; a message's identity is per casino, so both
-- would answer.
create table handed_on_texts (
  number     text not null,
  -- The provider and its id of the message.
  message    text not null,
  casino_id  text not null references casinos (casino_id) on delete cascade,
  claimed_at timestamptz not null default now(),
  primary key (number, message)
);
grant select, insert, delete on handed_on_texts to seven_fleet;

-- Returns the casino that a text belongs to: the bound one for every number that was not handed on lately, else the one that
-- asks first. A casino that asks at the same time waits for the other one's commit.
create function fleet_claims_text(texted text, message_id text) returns table (casino_id text)
language plpgsql volatile security definer set search_path = public, pg_temp as $$
#variable_conflict use_column
begin
  if exists (select 1 from former_routes former join routes route on route.number = former.number
      where former.number = texted and route.since > now() - interval '1 day') then
    insert into handed_on_texts (number, message, casino_id) values (texted, message_id, seven_tenant())
      on conflict do nothing;
    return query select claimed.casino_id from handed_on_texts claimed
      where claimed.number = texted and claimed.message = message_id;
  else
    return query select seven_tenant();
  end if;
end $$;
-- Repeated calls come within minutes; after two days none is told apart by its claim.
create function fleet_forget_claims() returns void
language sql volatile security definer set search_path = public, pg_temp as $$
  delete from handed_on_texts where claimed_at < now() - interval '2 days'
$$;
alter function fleet_forget_claims() owner to seven_fleet;
revoke all on function fleet_forget_claims() from public;
grant execute on function fleet_forget_claims() to seven_app;
alter function fleet_claims_text(text, text) owner to seven_fleet;
revoke all on function fleet_claims_text(text, text) from public;
grant execute on function fleet_claims_text(text, text) to seven_app, seven_pinned;
