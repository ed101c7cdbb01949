-- $1 since when a guest wrote, $2 the most rows. The most urgent conversation comes first.
select conversation_id, guest_id, severity, cases, acknowledged, pause_reason, paused_until,
  taken_by, paused, last_four,
  open_texts, held_texts, last_inbound_at,
  case when cases > 0 then 'escalated' when paused then 'paused' when open_texts > 0 then 'waiting'
    else 'quiet' end as state
from (
  select conversation.conversation_id, conversation.guest_id, conversation.pause_reason,
    conversation.paused_until, (select holder.holder from conversation_holders holder
      where holder.conversation_id = conversation.conversation_id) as taken_by, conversation.last_inbound_at,
    (select right(guest.phone, 4) from guests guest
      where guest.guest_id = conversation.guest_id) as last_four,
    conversation.paused_at is not null and coalesce(conversation.paused_until > now(), true)
      as paused,
    open.texts as open_texts, held.texts as held_texts,
    waiting.cases, waiting.severity, coalesce(waiting.acknowledged, false) as acknowledged
  from conversations conversation,
    lateral (select count(*) as texts from inbound_messages inbound
      where inbound.conversation_id = conversation.conversation_id
        and inbound.disposition = 'open') open,
    lateral (select count(*) as texts from inbound_messages inbound
      where inbound.conversation_id = conversation.conversation_id
        and inbound.disposition = 'held') held,
    lateral (select count(*) as cases, min(escalation.severity) as severity,
        bool_and(escalation.acknowledged_at is not null) as acknowledged
      from escalations escalation
      where escalation.conversation_id = conversation.conversation_id
        and escalation.resolved_at is null) waiting
  where not exists (select 1 from contacts contact where contact.guest_id = conversation.guest_id
      and contact.verified_at is not null and contact.ended_at is null)
    and (conversation.last_inbound_at >= $1 or conversation.paused_at is not null or exists (
    select 1 from escalations escalation
    where escalation.conversation_id = conversation.conversation_id
      and escalation.resolved_at is null))
) candidate
where last_inbound_at >= $1 or cases > 0 or paused
order by cases = 0, acknowledged, severity, not paused, held_texts = 0, open_texts = 0,
  last_inbound_at desc nulls last
limit $2
