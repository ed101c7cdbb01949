with ended as (
  select coalesce(outbound.provider, '') as provider, coalesce(receipt.carrier, '') as carrier,
    outbound.ended_at, outbound.state = 'delivered' as took
  from outbound_messages outbound
  left join lateral
    (select max(filed.carrier) as carrier from receipts filed
    where filed.outbound_id = outbound.outbound_id) receipt on true
  where outbound.sent_at >= now() - make_interval(secs => $1) and outbound.ended_at is not null
    and (outbound.state = 'delivered' or (outbound.state in ('failed', 'undelivered')
      and outbound.provider || '/' || outbound.error_code = any($2)))),
took as (select provider, carrier, max(ended_at) as at from ended where took group by 1, 2)
select ended.provider, ended.carrier, count(*) as refused from ended
  left join took on took.provider = ended.provider and took.carrier = ended.carrier
where not ended.took and (took.at is null or ended.ended_at > took.at) group by 1, 2
