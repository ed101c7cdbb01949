-- Guests who write from the casino's website have no phone (D32). Their address is hashed like one, under its own
-- prefix; the visitor's id stays, so that a deletion finds their texts in the streams.
alter table guests alter column phone drop not null, add column visitor_id uuid;
alter table guests add constraint guests_address check (phone is null or visitor_id is null) not valid;
alter table guests validate constraint guests_address;

-- Delivery to the web is a commit (D33): the pre-send check numbers the message in its conversation, under the
-- conversation's lock. A stream resumes by this number; `seq` would not do, as an urgent text overtakes.
alter table outbound_messages add column web_seq bigint;
create unique index outbound_web on outbound_messages (casino_id, conversation_id, web_seq) where web_seq is not null;
