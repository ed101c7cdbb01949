with talk as (
  select conversation.conversation_id, guest.language,
    conversation.paused_at is not null
      and coalesce(conversation.paused_until > now(), true) as paused
  from guests guest join conversations conversation on conversation.guest_id = guest.guest_id
    and conversation.channel = 'web'
  where guest.key_id = $1 and guest.phone_hash = $2
), asked as (
  select inbound.inbound_id, inbound.disposition, inbound.stored_at from inbound_messages inbound
  where inbound.provider = 'web' and inbound.provider_message_id = $3
    and inbound.conversation_id = (select conversation_id from talk)
)
select talk.language, talk.paused, ticket.number as ticket, asked.inbound_id, asked.disposition,
  exists (select 1 from inbound_messages inbound
    where inbound.conversation_id = talk.conversation_id and inbound.disposition = 'open')
  or exists (select 1 from turns turn
    where turn.conversation_id = talk.conversation_id and turn.state = 'drafted')
  -- A reply that waits for a person's release may wait long.
  or exists (select 1 from outbound_messages message
    where message.conversation_id = talk.conversation_id and message.state in ('queued', 'sending')
      and not exists (select 1 from held_turns held where held.turn_id = message.turn_id
        and held.decided_at is null)) as busy,
  coalesce((select jsonb_agg(to_jsonb(shown) order by shown.seq) from (
    select message.web_seq as seq, message.body, message.kind, message.agent, turn.intent,
      coalesce((select jsonb_agg(distinct item.category) from content_items item
        where item.item_id in (select jsonb_array_elements_text(turn.sources))), '[]') as sources,
      message.sent_at
    from outbound_messages message left join turns turn on turn.turn_id = message.turn_id
    where message.conversation_id = talk.conversation_id and message.web_seq is not null
      and case when $4::bigint is null then message.sent_at >= asked.stored_at
        else message.web_seq >= $4 end
    order by message.web_seq limit $5) shown), '[]') as messages
from talk left join asked on true
  left join tickets ticket on ticket.conversation_id = talk.conversation_id
    and ticket.state = 'pending_human'
