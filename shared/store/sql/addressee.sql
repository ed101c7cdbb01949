select guest.guest_id, conversation.conversation_id, guest.phone, guest.key_id, guest.phone_hash,
  guest.language, guest.zone, guest.state as guest_state,
  case when guest.status = 'pending_deletion' then 'deletion_pending'
    when suppression.state is null then 'safety_state_missing'
       when suppression.state = 'stopped' then 'guest_suppressed'
         when guest.consent_tier <> 'marketing' then 'consent_tier' end as refusal,
  (conversation.paused_at is not null and coalesce(conversation.paused_until > now(), true))
    or coalesce(conversation.leased_until > now(), false)
    or exists (select 1 from inbound_messages inbound
      where inbound.conversation_id = conversation.conversation_id
      and inbound.disposition in ('open', 'held'))
    or exists (select 1 from turns turn where turn.conversation_id = conversation.conversation_id
      and turn.state = 'drafted')
    or exists (select 1 from outbound_messages outbound
      where outbound.conversation_id = conversation.conversation_id
      and outbound.state in ('queued', 'sending')) as busy
from guests guest join conversations conversation on conversation.guest_id = guest.guest_id
  and conversation.channel = 'sms'
left join suppressions suppression on suppression.key_id = guest.key_id
  and suppression.phone_hash = guest.phone_hash
where guest.guest_id = $1
