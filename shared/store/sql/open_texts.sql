select inbound_id, body, coalesce(released_at, received_at) as since, tries, trace,
  extract(epoch from clock_timestamp() - stored_at)::float8 as age,
  released_at is not null as released
from inbound_messages where conversation_id = $1 and disposition = 'open'
order by occurred_at, arrival
