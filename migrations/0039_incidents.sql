-- Incidents that the fleet finds itself (SEC-95..106): contained first, then recorded, then told as
-- a case. `seven incident` keeps the operators' reports, which are audit entries.

create table incidents (
  casino_id       text not null references casinos (casino_id) on delete cascade,
  incident_id     uuid not null,
  kind            text not null check (kind in ('offer_unproven', 'text_after_stop', 'cry_missed', 'crossed_casino')),
  severity        text not null check (severity in ('low', 'medium', 'high', 'critical')),
  state           text not null check (state in ('detected', 'triaged', 'suppressed', 'auto_resolved', 'mitigating', 'escalated', 'resolved', 'postmortem')),
  detected_by     text not null,
  conversation_id uuid,
  guest_id        uuid,
  -- The ids of the texts that show it; a text belongs to one incident of its kind.
  evidence        uuid[] not null,
  -- What was done about it at once.
  actions         text[] not null,
  -- The case by which the casino's own people are told.
  escalation_id   uuid not null,
  detected_at     timestamptz not null default now(),
  contained_at    timestamptz not null default now(),
  resolved_at     timestamptz,
  resolved_by     text,
  -- Whether nothing was wrong after all.
  false_alarm     boolean not null default false,
  -- How it was settled, and the report about its cause; no guest's words.
  outcome         text,
  report          text,
  primary key (casino_id, incident_id)
);
create index incidents_newest on incidents (casino_id, detected_at);
create index incidents_conversation on incidents (casino_id, conversation_id);

-- When the casino's content last changed: what proved a reply before that may be gone.
alter table casinos add column content_changed_at timestamptz;

-- Texts sent within the last `span`, and texts of guests with an id of `oldest` or later, whose row
-- belongs to another guest, turn or number than its conversation: no code writes such a row. Ids
-- only.
create function fleet_crossed(span interval, oldest uuid)
returns table (casino_id text, row_id uuid, conversation_id uuid)
language sql stable security definer set search_path = public, pg_temp
set join_collapse_limit = 1 set enable_hashjoin = off set enable_mergejoin = off as $$
  select distinct o.casino_id, o.outbound_id, o.conversation_id from casinos c
  join send_attempts a on a.casino_id = c.casino_id and a.started_at > now() - span
  join outbound_messages o on o.casino_id = a.casino_id and o.outbound_id = a.outbound_id
  join conversations v on v.casino_id = o.casino_id and v.conversation_id = o.conversation_id
  left join turns t on t.casino_id = o.casino_id and t.turn_id = o.turn_id
  where v.guest_id <> o.guest_id or (o.turn_id is not null and t.conversation_id is distinct from o.conversation_id)
  union all
  select i.casino_id, i.inbound_id, i.conversation_id from casinos c
  join inbound_messages i on i.casino_id = c.casino_id and i.inbound_id >= oldest
  join conversations v on v.casino_id = i.casino_id and v.conversation_id = i.conversation_id
  left join routes r on r.number = i.casino_number
  where v.guest_id <> i.guest_id or (r.casino_id <> i.casino_id and r.retired_at is null and r.since <= i.received_at)
$$;
alter function fleet_crossed(interval, uuid) owner to seven_fleet;
revoke all on function fleet_crossed(interval, uuid) from public;
grant execute on function fleet_crossed(interval, uuid) to seven_app;

alter table incidents enable row level security;
alter table incidents force row level security;
create policy tenant on incidents using (casino_id = seven_tenant()) with check (casino_id = seven_tenant());
create policy pinned_tenant on incidents as restrictive to seven_pinned using (seven_may(casino_id)) with check (seven_may(casino_id));
grant select, insert, update, delete on incidents to seven_app, seven_pinned;
grant select, delete on incidents to seven_fleet;
