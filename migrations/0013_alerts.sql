-- Figures of delivery per casino and hour, and refusals by carrier (issue D item 8, SMS-52, SMS-54).

create index outbound_sent on outbound_messages (casino_id, sent_at) where sent_at is not null;
-- The recipient's carrier as the provider names it: a company, not a person.
alter table receipts add column carrier text;
