-- Times in which a casino's guests waited for answers or texts, of which its contacts hear at the beginning and at the end (PROD-40).
alter table contacts add column outages boolean not null default false;
create table outages (
  casino_id text not null references casinos (casino_id) on delete cascade,
  outage_id uuid not null,
  kind      text not null check (kind in ('answers', 'sending')),
  -- Since when the first text waited.
  began_at  timestamptz not null,
  ended_at  timestamptz,
  primary key (casino_id, outage_id)
);
create unique index outages_open on outages (casino_id, kind) where ended_at is null;
alter table outages enable row level security;
alter table outages force row level security;
create policy tenant on outages using (casino_id = seven_tenant()) with check (casino_id = seven_tenant());
create policy pinned_tenant on outages as restrictive to seven_pinned using (seven_may(casino_id)) with check (seven_may(casino_id));
grant select, delete on outages to seven_fleet;
grant select, insert, update on outages to seven_app, seven_pinned;

alter table contact_letters drop constraint contact_letters_kind_check;
alter table contact_letters add constraint contact_letters_kind_check
  check (kind in ('weekly_report', 'content_refused', 'outage', 'outage_over'));

-- Casinos whose guests have waited for longer than `lasted`, and those with an open outage. `since` is null where nobody has waited that
-- long: at a busy casino somebody always waits for a moment.
create function fleet_outages(lasted interval)
returns table (casino_id text, kind text, since timestamptz, is_open boolean)
language sql stable security definer set search_path = public, pg_temp as $$
  with waits as (
    select i.casino_id, 'answers' as kind, min(coalesce(i.released_at, i.stored_at)) as since
    from inbound_messages i where i.disposition = 'open' and i.conversation_id is not null group by i.casino_id
    union all
    select t.casino_id, 'answers', min(t.created_at)
    from turns t where t.state = 'drafted' and t.next_sweep_at is not null group by t.casino_id
    union all
    select o.casino_id, 'sending', min(o.not_before) from outbound_messages o join send_policy p on p.class = o.class
    where o.state = 'queued' and o.not_before < now() and p.lane <> 'bulk'
      and o.reason in ('providers_down', 'no_provider', 'provider_stopped', 'sending_parked')
    group by o.casino_id),
  both_sides as (
    select w.casino_id, w.kind, w.since, false as is_open from waits w join casinos c on c.casino_id = w.casino_id where c.status = 'active'
    union all
    select o.casino_id, o.kind, null, true from outages o where o.ended_at is null)
  select b.casino_id, b.kind, min(b.since) filter (where b.since < now() - lasted), bool_or(b.is_open)
  from both_sides b group by b.casino_id, b.kind
  having min(b.since) < now() - lasted or bool_or(b.is_open)
$$;
alter function fleet_outages(interval) owner to seven_fleet;
revoke all on function fleet_outages(interval) from public;
grant execute on function fleet_outages(interval) to seven_app;
