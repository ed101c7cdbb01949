-- How long after a text its answer may leave to a guest who opted out (D6): five minutes for a confirmation and for help, two hours where a
-- life may be at stake.
alter table send_policy add column answers_within interval not null default '5 minutes';
update send_policy set answers_within = '2 hours' where class in ('crisis', 'emergency');
