with picked as (
  select notice.alert_id, notice.action, notice.channel from alert_deliveries notice
  where notice.delivered_at is null and notice.given_up_at is null and notice.next_at <= now()
    and not exists (select 1 from alert_deliveries earlier where earlier.alert_id = notice.alert_id
      and earlier.channel = notice.channel
      and earlier.created_at < notice.created_at and earlier.delivered_at is null
        and earlier.given_up_at is null)
  order by notice.next_at limit $1 for update skip locked)
update alert_deliveries notice set tries = notice.tries + 1,
  next_at = now() + make_interval(secs => $2)
from picked, alerts alert
where notice.alert_id = picked.alert_id and notice.action = picked.action
  and notice.channel = picked.channel and alert.alert_id = notice.alert_id
returning notice.alert_id, notice.action, notice.channel, notice.tries, alert.name,
  alert.casino_id, alert.provider, alert.code, alert.severity, alert.summary, alert.repeats,
  alert.first_at
