with who as (select * from guests where key_id = $1 and phone_hash = $2)
select jsonb_build_object(
  'profile', coalesce((select to_jsonb(who) - 'phone_hash' - 'key_id' from who), '{}'),
  'known', coalesce((select profile.document from profiles profile join who using (guest_id)),
    '{}'),
  'conversations', coalesce((select jsonb_agg(jsonb_build_object(
      'conversation_id', conversation.conversation_id, 'channel', conversation.channel,
        'created_at', conversation.created_at, 'last_inbound_at', conversation.last_inbound_at,
      'texts_received', (
        select jsonb_agg(jsonb_build_object('at', inbound.occurred_at, 'text', inbound.body,
        'media', inbound.media_count, 'verdict', inbound.verdict, 'outcome', inbound.disposition,
        'reason', inbound.reason) order by inbound.occurred_at)
        from inbound_messages inbound where inbound.conversation_id = conversation.conversation_id),
      'texts_sent', (select jsonb_agg(jsonb_build_object('at',
        coalesce(sent.sent_at, sent.created_at), 'text', sent.body, 'class', sent.class, 'state',
        sent.state, 'reason', sent.reason) order by sent.seq)
        from outbound_messages sent where sent.conversation_id = conversation.conversation_id),
      'sessions', (select jsonb_agg(jsonb_build_object('started_at', session.started_at, 'last_at',
        session.last_at, 'phase', session.phase, 'answers', session.turns, 'summary',
        session.summary, 'counts', session.counts, 'dialogue', session.dialogue) order by session.started_at)
        from sessions session where session.conversation_id = conversation.conversation_id),
      'notes_of_staff', (select jsonb_agg(jsonb_build_object('at', note.created_at, 'text', note.body)
        order by note.created_at) from conversation_notes note
        where note.conversation_id = conversation.conversation_id),
      'cases', (select jsonb_agg(jsonb_build_object('at', escalation.created_at, 'reason',
        escalation.reason, 'subject', escalation.subject, 'detail', escalation.detail,
        'severity', escalation.severity, 'resolved_at', escalation.resolved_at)
        order by escalation.created_at)
                from escalations escalation
                  where escalation.conversation_id = conversation.conversation_id),
      'tickets', (select jsonb_agg(jsonb_build_object('number', ticket.number, 'state', ticket.state,
        'reason', ticket.reason, 'opened_at', ticket.opened_at, 'resolved_at', ticket.resolved_at)
        order by ticket.number)
        from tickets ticket where ticket.conversation_id = conversation.conversation_id),
      'answers', (select jsonb_agg(jsonb_build_object('at', turn.created_at, 'agent', turn.agent,
        'model', turn.model, 'intent', turn.intent, 'draft', turn.draft, 'state', turn.state)
        order by turn.created_at)
        from turns turn where turn.conversation_id = conversation.conversation_id)))
    from conversations conversation join who using (guest_id)), '[]'),
  'offers', coalesce((
    select jsonb_agg(jsonb_build_object('at', offer.issued_at, 'offer', offer.item, 'dollars',
    offer.dollars, 'state', offer.status, 'expires_at', offer.expires_at, 'redeemed_at',
    offer.redeemed_at) order by offer.issued_at)
        from offers offer join who using (guest_id)), '[]'),
  'campaigns', coalesce((
    select jsonb_agg(jsonb_build_object('at', coalesce(listed.released_at, campaign.created_at),
    'campaign', campaign.name, 'state', listed.state, 'reason', listed.reason)
    order by campaign.created_at)
        from campaign_guests listed
          join campaigns campaign on campaign.campaign_id = listed.campaign_id
          join who using (guest_id)), '[]'),
  'behavioral_signals', '[]'::jsonb,
  'consent_records', jsonb_build_object(
    'legal_sender', (select config->'regulations'->'legal_sender' from casinos),
    'suppression', (select jsonb_build_object('state', suppression.state, 'as_of',
      suppression.as_of, 'method', suppression.method) from suppressions suppression
      where suppression.key_id = $1 and suppression.phone_hash = $2),
    'events', coalesce((
      select jsonb_agg(entry.event::jsonb order by entry.position) from consent_events entry
      where entry.key_id = $1 and entry.phone_hash = $2), '[]')),
  'audit', coalesce((
    select jsonb_agg(jsonb_build_object('at', audit.at, 'event', audit.action, 'actor',
    audit.actor, 'detail', audit.detail) order by audit.entry)
        from audit_log audit where audit.guest_hash = $3), '[]'),
  'data_categories',
    jsonb_build_array('Identity (name, email, phone)',
    'Preferences (dining, entertainment, gaming)', 'Conversation history', 'Behavioral signals',
    'Consent records'))
