-- The host reads a conversation's newest exchanges for each turn. Without this index it looks for the questions of each of its ten newest
-- answers among all texts of the conversation, so that a guest's thousandth text costs a hundred times the tenth.
create index inbound_answered_by on inbound_messages (casino_id, disposition_ref) where disposition_ref is not null;
