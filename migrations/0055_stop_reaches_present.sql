-- For a day after a number was handed on, a STOP that the former casino takes reaches the present one, too: a process that had not
-- heard of the hand-over took it for the former casino's. Chaos found a guest whom the new casino answered 1.5 s after the STOP (D40).
create or replace function fleet_stop_reaches(texted text, at_casino text, legal_sender text)
returns table (casino_id text, what text)
language sql stable security definer set search_path = public, pg_temp as $$
  select f.casino_id, 'former_number' from former_routes f where f.number = texted and f.casino_id <> at_casino
  union
  select r.casino_id, 'former_number' from routes r join casinos c on c.casino_id = r.casino_id
    where r.number = texted and r.casino_id <> at_casino and c.status = 'removed'
  union
  select r.casino_id, 'present_number' from routes r join former_routes f on f.number = r.number and f.casino_id = at_casino
    where r.number = texted and r.casino_id <> at_casino and r.since > now() - interval '1 day'
  union
  select c.casino_id, 'same_sender' from casinos c
    where legal_sender <> '' and c.casino_id <> at_casino and c.config->'regulations'->'legal_sender'->>'id' = legal_sender
  order by 1, 2
$$;
