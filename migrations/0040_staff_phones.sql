-- Contacts who are told by text (D28): a phone of staff, verified by a code first. Texts to it are
-- outbound texts of the class `staff`, so that the pre-send check, the providers' limits and the
-- kill switch apply to them.

alter table contacts drop constraint contacts_channel_check;
alter table contacts add constraint contacts_channel_check check (channel in ('chat', 'mail', 'text'));
alter table contacts
  -- The phone's guest and conversation, which carry its texts; null for other channels.
  add column guest_id uuid,
  add column conversation_id uuid,
  add column verified_at timestamptz,
  -- The code that the phone was sent: a keyed hash, until when it is good, and the wrong tries.
  add column code_hash bytea,
  add column code_until timestamptz,
  add column code_tries int not null default 0;
create index contacts_guest on contacts (casino_id, guest_id) where guest_id is not null and ended_at is null;

-- The text by which a notice is told.
alter table case_notices add column outbound_id uuid;

insert into send_policy (class, lane, when_suppressed, when_paused, when_killed, when_state_missing, quiet_hours, least_tier)
  values ('staff', 'reply', 'stop', 'pass', 'stop', 'stop', false, 'none');
