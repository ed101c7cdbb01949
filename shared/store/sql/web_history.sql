with talk as (
  select conversation.conversation_id from guests guest
  join conversations conversation on conversation.guest_id = guest.guest_id
    and conversation.channel = 'web'
  where guest.key_id = $1 and guest.phone_hash = $2
), line as (
  (select null::bigint as seq, 'guest' as author, inbound.body, '[]'::jsonb as sources,
     inbound.stored_at as at
   from inbound_messages inbound join talk on talk.conversation_id = inbound.conversation_id
   order by inbound.arrival desc limit $3)
  union all
  (select message.web_seq, case when message.kind = 'person' then 'person' else 'host' end,
     message.body,
     coalesce((select jsonb_agg(distinct item.category) from content_items item
       where item.item_id in (select jsonb_array_elements_text(turn.sources))), '[]'),
     message.sent_at
   from outbound_messages message join talk on talk.conversation_id = message.conversation_id
   left join turns turn on turn.turn_id = message.turn_id
   where message.web_seq is not null order by message.web_seq desc limit $3)
)
select seq, author, body, sources, at from (
  select * from line order by at desc, seq desc nulls last limit $3) newest
order by at, seq nulls first
