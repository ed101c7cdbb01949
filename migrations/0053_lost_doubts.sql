-- The repair of a text whose call nobody will ask about: the answer is overdue and its due row is gone. Ten minutes of chaos left one
-- such text of 3,824 in `sending`; its guest would have waited for good, and every later text of the conversation behind it.
create function fleet_renew_doubts(overdue interval) returns table (n bigint)
language sql volatile security definer set search_path = public, pg_temp as $$
  with renewed as (
    insert into due (casino_id, kind, row_id, due_at)
    select o.casino_id, 'attempt_doubt', a.attempt_id, now() from casinos c
    join outbound_messages o on o.casino_id = c.casino_id and o.state = 'sending' and o.conversation_id is not null
    cross join lateral (select newest.attempt_id, newest.deadline_at from send_attempts newest
      where newest.casino_id = o.casino_id and newest.outbound_id = o.outbound_id
      order by newest.started_at desc limit 1) a
    where a.deadline_at < now() - overdue
    on conflict do nothing returning 1)
  select count(*) from renewed
$$;
alter function fleet_renew_doubts(interval) owner to seven_fleet;
revoke all on function fleet_renew_doubts(interval) from public;
grant execute on function fleet_renew_doubts(interval) to seven_app;
