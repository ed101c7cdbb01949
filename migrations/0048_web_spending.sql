-- Conversations on the web by their newest message: what hosted models cost for a casino's visitors
-- in a day is summed before each turn.
create index conversations_web_recent on conversations (casino_id, last_inbound_at) where channel = 'web';
