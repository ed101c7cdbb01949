-- The list of conversations finds what waits by these instead of reading every conversation of the
-- casino, which many open pages of the console would do every second.
create index conversations_paused on conversations (casino_id, conversation_id) where paused_at is not null;
create index escalations_unresolved on escalations (casino_id, conversation_id) where resolved_at is null and conversation_id is not null;
