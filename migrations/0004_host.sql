-- The host's turns, explained (issue C): everything that led to a reply beside the texts, which stand in their own rows.

alter table turns add column record jsonb not null default '{}';
