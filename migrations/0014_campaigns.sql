-- Texts nobody asked for (issue D item 9): campaigns to guests who agreed to them, and the risk that carriers filter a text.

create table campaigns (
  casino_id   text not null references casinos (casino_id) on delete cascade,
  campaign_id uuid not null,
  name        text not null,
  class       text not null check (class in ('marketing')),
  -- As guests get them: the casino's words are filled in when the campaign is made, so that what was shown is what is sent.
  text_en     text not null,
  text_es     text not null,
  state       text not null default 'running' check (state in ('running', 'paused', 'done', 'cancelled')),
  -- How many guests would get it and how many not, by reason, when it was made.
  plan        jsonb not null default '{}',
  created_by  text not null,
  created_at  timestamptz not null default now(),
  ended_at    timestamptz,
  primary key (casino_id, campaign_id),
  unique (casino_id, name)
);

create table campaign_guests (
  casino_id   text not null,
  campaign_id uuid not null,
  guest_id    uuid not null,
  state       text not null default 'listed' check (state in ('listed', 'released', 'refused')),
  -- Why refused, or what a listed guest waits for.
  reason      text,
  not_before  timestamptz not null default now(),
  outbound_id uuid,
  released_at timestamptz,
  primary key (casino_id, campaign_id, guest_id),
  foreign key (casino_id, campaign_id) references campaigns (casino_id, campaign_id) on delete cascade,
  foreign key (casino_id, guest_id) references guests (casino_id, guest_id) on delete cascade
);
create index campaign_guests_next on campaign_guests (casino_id, campaign_id, not_before) where state = 'listed';
create index campaign_guests_pace on campaign_guests (casino_id, released_at) where state = 'released';
create index campaign_guests_guest on campaign_guests (casino_id, guest_id);

alter table outbound_messages
  add column campaign_id uuid,
  -- From 0 to 1, when it was sent; of texts that answer nothing (SMS-35).
  add column risk_score_at_send double precision;
-- Under whatever id it is queued: a campaign has one text for a guest.
create unique index outbound_campaign on outbound_messages (casino_id, campaign_id, guest_id) where campaign_id is not null;

-- More than this is reworded, not sent (SMS-34); null: not asked.
alter table send_policy add column most_risk double precision;
update send_policy set most_risk = 0.6 where lane = 'bulk';

do $$
declare t text;
begin
  foreach t in array array['campaigns', 'campaign_guests'] loop
    execute format('alter table %I enable row level security', t);
    execute format('alter table %I force row level security', t);
    execute format('create policy tenant on %I using (casino_id = seven_tenant()) with check (casino_id = seven_tenant())', t);
    execute format('grant select, insert, update, delete on %I to seven_app', t);
  end loop;
end $$;
grant select on campaigns to seven_fleet;

-- Casinos with something to release.
create function fleet_campaigns()
returns table (casino_id text)
language sql stable security definer set search_path = public, pg_temp as $$
  select distinct p.casino_id from campaigns p join casinos c on c.casino_id = p.casino_id
  where p.state = 'running' and c.status = 'active'
$$;
alter function fleet_campaigns() owner to seven_fleet;
revoke all on function fleet_campaigns() from public;
grant execute on function fleet_campaigns() to seven_app;
