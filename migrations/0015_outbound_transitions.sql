-- The moves a text may make (D5). `seven_domain::sending` holds the same table; a test compares them.
create table outbound_transitions (
  from_state text not null,
  to_state   text not null,
  why        text not null,
  primary key (from_state, to_state)
);
insert into outbound_transitions (from_state, to_state, why) values
  ('queued', 'sending', 'the last look let it pass'),
  ('queued', 'suppressed', 'STOP, a switch, a failed earlier part or the last look forbids it'),
  ('queued', 'expired', 'of no use any more'),
  ('queued', 'sent', 'a receipt of an earlier attempt that was in doubt'),
  ('queued', 'delivered', 'a receipt of an earlier attempt that was in doubt'),
  ('queued', 'failed', 'a receipt of an earlier attempt that was in doubt'),
  ('queued', 'undelivered', 'a receipt of an earlier attempt that was in doubt'),
  ('sending', 'sent', 'the provider took it'),
  ('sending', 'queued', 'it certainly did not arrive, or a safety text in doubt goes out once more'),
  ('sending', 'failed', 'refused for good'),
  ('sending', 'unknown', 'in doubt, and no webhook within the grace'),
  ('sending', 'delivered', 'its receipt was faster than the answer'),
  ('sending', 'undelivered', 'its receipt was faster than the answer'),
  ('unknown', 'sent', 'a late receipt, or the provider''s record'),
  ('unknown', 'delivered', 'a late receipt, or the provider''s record'),
  ('unknown', 'failed', 'a late receipt, or the provider never had it and it is of no use any more'),
  ('unknown', 'undelivered', 'a late receipt, or the provider''s record'),
  ('unknown', 'queued', 'the provider never had it, and an operator sends it again'),
  ('sent', 'delivered', 'its receipt'),
  ('sent', 'failed', 'its receipt'),
  ('sent', 'undelivered', 'its receipt'),
  ('failed', 'delivered', 'the last word corrects a failure'),
  ('failed', 'queued', 'its dead letter is replayed'),
  ('undelivered', 'delivered', 'the last word corrects a failure');
grant select on outbound_transitions to seven_app;

create function seven_outbound_moves() returns trigger language plpgsql as $$
begin
  if not exists (select 1 from outbound_transitions where from_state = old.state and to_state = new.state) then
    raise exception 'a text cannot go from % to %', old.state, new.state using errcode = 'check_violation';
  end if;
  return new;
end $$;
create trigger outbound_moves before update of state on outbound_messages
  for each row when (old.state is distinct from new.state) execute function seven_outbound_moves();

-- What left lately, for the watch over texts after a STOP (SEC-94).
create index attempts_time on send_attempts (casino_id, started_at);
