-- A casino's own login (0017) changes what is its casino's and nothing of the fleet's: what it finds wrong with an account or a store, it
-- notes for its casino. Other casinos' senders find an account that is refused by themselves.
create policy pinned_read on provider_stops for select to seven_pinned using (true);
alter policy pinned on provider_stops using (seven_may(casino_id)) with check (seven_may(casino_id));
alter policy pinned on alerts using (seven_may(casino_id)) with check (seven_may(casino_id));

-- Who beat here: each login its own workers only.
alter table workers add column login text not null default session_user;
alter table workers enable row level security;
create policy everyone on workers to seven_app, seven_fleet using (true) with check (true);
create policy pinned on workers to seven_pinned using (login = session_user) with check (login = session_user);
