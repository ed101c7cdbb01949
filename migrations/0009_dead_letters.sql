-- Dead letters by the ten thousand: found by guest, listed in pages, replayed by processes that may die (issue D, item 6).

alter table dead_letters
  -- When the announcement entered its stream: the same announcement filed again is no second death.
  add column announced_at timestamptz,
  -- The guest it is about, as hmac:<key>:<hex>; null where nobody could tell.
  add column guest_hash text,
  -- A replay under way, or one that died: the next one publishes under the same id, which JetStream takes once.
  add column claim uuid,
  add column claimed_by text,
  add column claimed_at timestamptz,
  add column handled_by text,
  add column handled_at timestamptz;

update dead_letters set announced_at = last_at;
alter table dead_letters alter column announced_at set not null, alter column announced_at set default now();

-- One index for a page of a state, one for a page of all; both are walked backwards from a cursor.
drop index dead_state;
create index dead_state on dead_letters (casino_id, state, last_at, dead_id);
create index dead_time on dead_letters (casino_id, last_at, dead_id);
create index dead_id on dead_letters (dead_id);
create index dead_guest on dead_letters (casino_id, guest_hash, last_at) where guest_hash is not null;
create index audit_dead on audit_log (casino_id, subject, at) where action = 'dead_letter_handled';

-- Whose letters there are, casinos that were removed and the pseudo tenants included (D9).
create function fleet_dead_owners()
returns table (casino_id text, n bigint)
language sql stable security definer set search_path = public, pg_temp as $$
  select d.casino_id, count(*) from dead_letters d group by 1
$$;

-- The casino that has a letter of this id.
create function fleet_dead_owner(id uuid)
returns table (casino_id text)
language sql stable security definer set search_path = public, pg_temp as $$
  select d.casino_id from dead_letters d where d.dead_id = id
$$;

do $$
declare f text;
begin
  foreach f in array array['fleet_dead_owners()', 'fleet_dead_owner(uuid)'] loop
    execute format('alter function %s owner to seven_fleet', f);
    execute format('revoke all on function %s from public', f);
    execute format('grant execute on function %s to seven_app', f);
  end loop;
end $$;
