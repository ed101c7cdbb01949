-- Postgres took half of what a text costs (docs/performance.md). Two things that every text paid for and few needed.

-- The two moves of every text are in outbound_transitions; asking the table each time cost more than the check. Every other move asks.
create or replace trigger outbound_moves before update of state on outbound_messages
  for each row when (old.state is distinct from new.state
    and not (old.state = 'queued' and new.state = 'sending') and not (old.state = 'sending' and new.state = 'sent'))
  execute function seven_outbound_moves();

-- Whether the document puts the casino in safe mode, without unpacking the document three times for each text.
alter table casinos add column safe_mode boolean generated always as (coalesce((config->'safe_mode'->>'enabled')::boolean, false)) stored;
