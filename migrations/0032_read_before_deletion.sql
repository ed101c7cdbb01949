-- A deletion waits until the gate has read what was on the bus when it fell due: a KEEP or a cry for help among it must not be erased unread.
alter table deletions add column read_to bigint;
alter table deletions add column read_since timestamptz;
