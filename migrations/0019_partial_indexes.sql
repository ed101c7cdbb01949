-- A partial index is small, often empty, and so looks cheapest to the planner for whatever its condition covers: it was walked whole, dead
-- entries and all, to find a row by its key or by its conversation. Each now asks that its own key be given, too, so that only those who
-- give one can use it (docs/performance.md).

drop index inbound_open;
create index inbound_open on inbound_messages (casino_id, conversation_id, arrival) where disposition = 'open' and conversation_id is not null;
drop index inbound_held;
create index inbound_held on inbound_messages (casino_id, conversation_id) where disposition = 'held' and conversation_id is not null;
drop index inbound_sweep;
create index inbound_sweep on inbound_messages (casino_id, next_sweep_at) where disposition = 'open' and next_sweep_at is not null;
drop index turns_sweep;
create index turns_sweep on turns (casino_id, next_sweep_at) where state = 'drafted' and next_sweep_at is not null;
drop index outbound_sweep;
create index outbound_sweep on outbound_messages (casino_id, next_sweep_at) where state = 'queued' and next_sweep_at is not null;
drop index outbound_unsent;
create index outbound_unsent on outbound_messages (casino_id, conversation_id, seq)
  where state in ('queued', 'sending') and conversation_id is not null;
drop index inbound_parked;
create index inbound_parked on inbound_messages (casino_id, closed_at) where disposition = 'parked' and closed_at is not null;
drop index turns_parked;
create index turns_parked on turns (casino_id, created_at) where state = 'parked' and created_at is not null;
drop index outbound_failed;
create index outbound_failed on outbound_messages (casino_id, ended_at) where state = 'failed' and ended_at is not null;
