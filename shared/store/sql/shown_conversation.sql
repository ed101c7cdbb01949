select conversation.conversation_id, conversation.guest_id, conversation.channel, guest.language,
  guest.status, guest.consent_tier, conversation.last_inbound_at,
  conversation.paused_at is not null
    and coalesce(conversation.paused_until > now(), true) as paused, conversation.paused_at,
    conversation.paused_until, conversation.pause_reason, (select holder.holder from conversation_holders holder
      where holder.conversation_id = conversation.conversation_id) as taken_by,
    (select ticket.number from tickets ticket where ticket.conversation_id = conversation.conversation_id
      and ticket.state = 'pending_human') as ticket,
    right(guest.phone, 4) as last_four,
  (select count(*) from inbound_messages inbound
    where inbound.conversation_id = conversation.conversation_id
    and inbound.disposition = 'open') as open_texts,
  (select count(*) from inbound_messages inbound
    where inbound.conversation_id = conversation.conversation_id
    and inbound.disposition = 'held') as held_texts,
  (select count(*) from sessions session
    where session.conversation_id = conversation.conversation_id) as sessions,
  (select jsonb_build_object('session_id', session.session_id, 'started_at', session.started_at,
    'last_at', session.last_at, 'phase', session.phase, 'turns', session.turns,
     'about', coalesce((
       select jsonb_agg(subject->>'name')
       from jsonb_array_elements(session.summary->'subjects') subject), '[]'))
   from sessions session where session.conversation_id = conversation.conversation_id
     and session.started_at = conversation.session_started_at) as session,
  coalesce((select jsonb_agg(jsonb_build_object('escalation_id', escalation.escalation_id,
    'severity', escalation.severity, 'reason', escalation.reason, 'created_at',
    escalation.created_at,
     'ack_due_at', escalation.ack_due_at, 'respond_due_at', escalation.respond_due_at, 'repeats',
       escalation.repeats, 'acknowledged_by', escalation.acknowledged_by)
     order by escalation.severity, escalation.created_at) from escalations escalation
       where escalation.conversation_id = conversation.conversation_id
       and escalation.resolved_at is null), '[]') as cases,
  (select profile.document from profiles profile
    where profile.guest_id = conversation.guest_id) as profile
from conversations conversation join guests guest on guest.guest_id = conversation.guest_id
  where conversation.conversation_id = $1
