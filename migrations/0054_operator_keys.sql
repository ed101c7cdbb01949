-- Keys with which programs act in an operator's name (WID-14), under their SHA-256: who reads this table cannot use one.
create table operator_keys (
  key_hash     bytea primary key,
  operator_id  uuid not null references operators (operator_id) on delete cascade,
  label        text not null unique check (label ~ '^[a-z0-9][a-z0-9_-]{0,39}$'),
  created_by   text not null,
  created_at   timestamptz not null default now(),
  ends_at      timestamptz not null,
  -- To the minute.
  used_at      timestamptz
);
create index operator_keys_operator on operator_keys (operator_id);
grant select, insert, update, delete on operator_keys to seven_console;
