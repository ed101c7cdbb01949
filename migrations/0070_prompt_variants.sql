-- The prompt that a hosted model got in a turn: the usual one, or the casino's second prompt, with
-- which it is compared (DEP-27).
alter table turn_facts add column prompt text not null default 'usual';
