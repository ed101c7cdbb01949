with locked as (
  select 1 from conversations conversation, turns turn
  where turn.turn_id = $1 and conversation.conversation_id = turn.conversation_id
  for update of conversation
), was as (
  select turn.turn_id, turn.conversation_id, turn.guest_id, turn.agent, turn.model, turn.intent,
    turn.language, turn.verdict, turn.draft, turn.disclosure_kind, turn.sources, turn.grounded,
    turn.class, turn.newest_text_at, turn.state, turn.tries, turn.trace,
    (select true from turns earlier where earlier.conversation_id = turn.conversation_id
      and earlier.state = 'drafted' and earlier.epoch < turn.epoch limit 1) is not null as behind,
    (select channel from conversations talk
      where talk.conversation_id = turn.conversation_id) as channel,
    exists (select 1 from reviewed_conversations reviewed
      where reviewed.conversation_id = turn.conversation_id) as reviewed
  from turns turn, (select count(*) from locked) as locked_first
  where turn.turn_id = $1 for update of turn
), shaped as (
  update turns turn set state = 'shaped' from was
  where turn.turn_id = was.turn_id and was.state = 'drafted'
)
select was.*, casinos.xmin::text::bigint as document_version, casinos.content_version,
  case when casinos.xmin::text::bigint = $2 then null else casinos.config end as config
from was, casinos
