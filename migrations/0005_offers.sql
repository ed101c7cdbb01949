-- Offers made to guests (CONV-35, CONV-36, DATA-64).

-- Written in the commit of the turn that made them (D4); the id derives from turn and item. When the guest is forgotten the row stays,
-- without a way back to the guest: the casino has given it out (DATA-57).
create table offers (
  casino_id       text not null,
  offer_id        uuid not null,
  guest_id        uuid,
  conversation_id uuid,
  turn_id         uuid not null,
  item            text not null,
  tier            text not null check (tier in ('dining', 'freeplay', 'hotel', 'vip')),
  -- Whole dollars.
  dollars         int not null check (dollars >= 0),
  status          text not null default 'issued' check (status in ('issued', 'redeemed', 'expired', 'revoked')),
  issued_at       timestamptz not null,
  expires_at      timestamptz not null,
  redeemed_at     timestamptz,
  primary key (casino_id, offer_id),
  unique (casino_id, turn_id, item),
  check ((status = 'redeemed') = (redeemed_at is not null)),
  foreign key (casino_id, guest_id) references guests (casino_id, guest_id)
);
create index offers_guest on offers (casino_id, guest_id, issued_at);
create index offers_item on offers (casino_id, item) where status <> 'revoked';

do $$
declare t text;
begin
  foreach t in array array['offers'] loop
    execute format('alter table %I enable row level security', t);
    execute format('alter table %I force row level security', t);
    execute format('create policy tenant on %I using (casino_id = seven_tenant()) with check (casino_id = seven_tenant())', t);
    execute format('grant select, insert, update, delete on %I to seven_app', t);
    execute format('grant select, insert, update, delete on %I to seven_fleet', t);
  end loop;
end $$;
