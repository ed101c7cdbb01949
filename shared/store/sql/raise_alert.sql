with before as (select severity from alerts where key = $2 and resolved_at is null)
insert into alerts as alert (alert_id, key, name, casino_id, provider, code, severity, summary,
  standing, repeats, ack_due_at)
select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10 - 1, now() + make_interval(secs => $11)
where not exists (select 1 from alerts filed where filed.alert_id = $1)
on conflict (key) where resolved_at is null do update set repeats = alert.repeats + $10,
  last_at = now(), summary = excluded.summary,
  severity = case when alert.severity = 'critical' or excluded.severity = 'info'
    then alert.severity else excluded.severity end,
  ack_due_at = case when alert.severity <> 'critical' and excluded.severity = 'critical'
    then excluded.ack_due_at else alert.ack_due_at end
returning alert.alert_id, coalesce((select severity <> 'critical' from before), false)
  and alert.severity = 'critical'
