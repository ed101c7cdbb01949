-- A campaign that one person planned and a second must approve. Until then it is paused, so that a worker of before sends nothing of it.
alter table campaigns
  add column awaits_approval boolean not null default false,
  add column approved_by text,
  add column approved_at timestamptz;
