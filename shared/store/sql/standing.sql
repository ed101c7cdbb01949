select guest.consent_tier <> 'none' as conversational_consent,
  guest.consent_tier = 'marketing' as marketing_consent,
  coalesce(suppression.state = 'stopped', true) as suppressed,
  exists (select 1 from exclusions exclusion where exclusion.key_id = guest.key_id
    and exclusion.phone_hash = guest.phone_hash
    and (exclusion.until is null or exclusion.until > now())) as self_excluded,
  (guest.responsible_gaming_at is not null or exists (
    select 1 from conversations conversation where conversation.conversation_id = $2
      and conversation.cried_at >= conversation.session_started_at)) as responsible_gaming,
  (select count(*) from inbound_messages inbound where inbound.conversation_id = $2) as guest_texts,
  (select count(*) from inbound_messages inbound where inbound.conversation_id = $2
    and inbound.body ~ '\S+\s+\S+\s+\S') as substantive_texts
from guests guest left join suppressions suppression on suppression.key_id = guest.key_id
  and suppression.phone_hash = guest.phone_hash
where guest.guest_id = $1
