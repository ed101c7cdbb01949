-- A text that the former casino stored before the hand-over is claimed, too: its webhook may come again just after, and reach a process
-- that knows the new casino of the number and not yet its former one (chaos, seed 3135: answered by both, a minute apart; D40).
create or replace function fleet_claims_text(texted text, message_id text) returns table (casino_id text)
language plpgsql volatile security definer set search_path = public, pg_temp as $$
#variable_conflict use_column
begin
  if exists (select 1 from former_routes former join routes route on route.number = former.number
      where former.number = texted and route.since > now() - interval '1 day') then
    insert into handed_on_texts (number, message, casino_id)
      select texted, message_id, coalesce((select stored.casino_id from former_routes former
        join inbound_messages stored on stored.casino_id = former.casino_id and stored.provider = split_part(message_id, ':', 1)
          and stored.provider_message_id = substr(message_id, strpos(message_id, ':') + 1)
        where former.number = texted limit 1), seven_tenant())
      on conflict do nothing;
    return query select claimed.casino_id from handed_on_texts claimed
      where claimed.number = texted and claimed.message = message_id;
  else
    return query select seven_tenant();
  end if;
end $$;
