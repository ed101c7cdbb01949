-- Each week a casino's own questions are asked and its answers compared with the weeks before (RAG-45, RAG-47, OBS-48).

-- The judge's confidence, above 0 to 1; null where no judge was asked or it gave no figure.
alter table turn_facts add column confidence real;
-- Mean share of the found items that answer the question, 0 to 1; null for runs made before this column.
alter table content_runs add column precise float8;

alter table contact_letters drop constraint contact_letters_kind_check;
alter table contact_letters add constraint contact_letters_kind_check
  check (kind in ('weekly_report', 'content_refused', 'content_week', 'outage', 'outage_over'));
