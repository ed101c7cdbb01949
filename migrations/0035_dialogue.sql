-- The state of a dialogue, and cases that hold what the host promised (issue I).

-- What the guest wants, what was named and asked last: seven_guest::DialogueState.
alter table sessions add column dialogue jsonb not null default '{}';

alter table escalations drop constraint escalations_source_check;
alter table escalations
  -- `host_promise`: the host told the guest that a person will do it.
  add constraint escalations_source_check check (source in
    ('guardrail', 'keyword', 'sentiment', 'consecutive_fallback', 'validation_failure', 'compliance', 'host_promise')),
  -- The content row or category that it is about; one open case per conversation, reason and subject.
  add column subject text not null default '',
  -- The fields of a booking or change: day, minute, party.
  add column detail jsonb;
drop index escalations_same;
create unique index escalations_same on escalations (casino_id, conversation_id, reason, subject)
  where resolved_at is null and source not in ('guardrail', 'compliance');
