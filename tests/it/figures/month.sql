-- Forty days of one casino around the end of a month, and two days of another casino that must not be seen. Deterministic: no random().
create function pg_temp.id(at timestamptz, what text) returns uuid language sql as $$
  select (lpad(to_hex(floor(extract(epoch from at) * 1000)::bigint), 12, '0') || '7' || substr(md5(what), 1, 3)
    || '8' || substr(md5(what), 4, 15))::uuid $$;

insert into guests (casino_id, guest_id, phone, key_id, phone_hash, created_at)
select casino_id, pg_temp.id(created_at, 'guest' || casino_id || n), '+1860555' || lpad((100 + n)::text, 4, '0'), 1,
  decode(md5(casino_id || n) || md5(n::text), 'hex'), created_at
from (select 'CASINO' as casino_id, n, timestamptz 'FROM' + make_interval(hours => 20 * n - 60) as created_at
  from generate_series(0, 45) n union all
  select 'OTHER', n, timestamptz 'FROM' + interval '1 day' from generate_series(0, 4) n) g;
insert into profiles (casino_id, guest_id, document)
select casino_id, guest_id, case row_number() over (order by guest_id) % 23 when 22 then '{}' else
  jsonb_build_object('engagement', jsonb_build_object('profile_completeness',
  (row_number() over (order by guest_id) % 21)::numeric / 20)) end from guests;
insert into conversations (casino_id, conversation_id, guest_id, casino_number)
select casino_id, guest_id, guest_id, '+18605550100' from guests;
insert into sessions (casino_id, session_id, conversation_id, guest_id, started_at, last_at)
select casino_id, pg_temp.id(created_at, 's' || guest_id), guest_id, guest_id, created_at, created_at from guests;

-- A text every 50 minutes; the first and the last second of the period among them.
create temp table text_at as
select casino_id, n, at, (select guest_id from guests g where g.casino_id = a.casino_id
    order by guest_id offset n % (case a.casino_id when 'CASINO' then 46 else 5 end) limit 1) as guest_id
from (select 'CASINO' as casino_id, n, timestamptz 'FROM' - interval '2 days' + make_interval(mins => 50 * n) as at
  from generate_series(0, 1000) n
  union all select 'CASINO', 2001, timestamptz 'FROM'
  union all select 'CASINO', 2002, timestamptz 'FROM' - interval '1 microsecond'
  union all select 'CASINO', 2003, timestamptz 'TO' - interval '1 microsecond'
  union all select 'CASINO', 2004, timestamptz 'TO'
  union all select 'OTHER', n, timestamptz 'FROM' + make_interval(hours => n) from generate_series(0, 47) n) a;
insert into inbound_messages (casino_id, inbound_id, conversation_id, guest_id, provider, provider_message_id, event_id, body,
  occurred_at, received_at, stored_at, verdict, disposition, disposition_ref, next_sweep_at, trace)
select casino_id, pg_temp.id(at + interval '3 ms', 'in' || casino_id || n), guest_id, guest_id, 'telnyx', 'p' || n, 'e' || n,
  repeat('x', 20 + (n * 37) % 400), at, at, at, 'pass',
  case when n % 17 = 0 then 'closed' when n % 23 = 0 then 'parked' when n % 29 = 0 then 'held' when n % 7 = 0 then 'canned'
    else 'answered' end,
  case when n % 17 = 0 or n % 23 = 0 or n % 29 = 0 then null
    when n % 7 = 0 then pg_temp.id(at + interval '1 s', 'out' || casino_id || n) else pg_temp.id(at + interval '2 s', 'turn' || casino_id || n) end,
  at, '' from text_at;
insert into turns (casino_id, turn_id, conversation_id, guest_id, epoch, agent, model, intent, language, verdict, draft, disclosure, sources,
  grounded, class, newest_text_at, state, next_sweep_at, trace, created_at, record)
select casino_id, pg_temp.id(at + interval '2 s', 'turn' || casino_id || n), guest_id, guest_id, 1, 'host', 'offline',
  (array['dining', 'rooms', 'hours', 'spa'])[1 + n % 4], case when n % 5 = 0 then 'es' else 'en' end, 'pass', '', false, '[]', n % 9 > 0,
  'reply', at, case when n % 31 = 0 then 'cancelled' else 'shaped' end, at, '',
  -- Some texts waited for ten hours, as after an outage.
  at + case when n % 8 = 1 then interval '10 hours' else interval '2 s' end,
  jsonb_build_object('learnt', case when n % 6 = 0 then '["core_identity.name", "visit_context.party_size"]'::jsonb
    when n % 6 = 1 then '["companions.0.name", "companions.1.preferences.dining", "core_identity.name"]' else '[]' end,
    'usage', jsonb_build_object('nano_dollars', n * 1013))
from text_at where not (n % 17 = 0 or n % 23 = 0 or n % 29 = 0 or n % 7 = 0);
-- Answers in one or two parts, some of them not sent; the wait is from 1 to 24 s.
insert into outbound_messages (casino_id, outbound_id, conversation_id, guest_id, turn_id, inbound_id, part, parts, kind, class, seq, body, encoding,
  units, segments, agent, state, useful_until, next_sweep_at, trace, created_at, sent_at)
select casino_id, case when n % 7 = 0 then pg_temp.id(at + interval '1 s', 'out' || casino_id || n)
    else pg_temp.id(at + interval '3 s', 'part' || part || casino_id || n) end,
  guest_id, guest_id, case when n % 7 > 0 then pg_temp.id(at + interval '2 s', 'turn' || casino_id || n) end, null, part, 2,
  case when n % 7 = 0 and n % 2 = 0 then 'person' else 'reply' end, 'reply', 10 * n + part, '', 'gsm7', 10, 1 + n % 3, 'host',
  case when n % 41 = 0 then 'suppressed' when n % 13 = 0 then 'undelivered' when n % 19 = 0 then 'unknown' when n % 11 = 0 then 'sent' else 'delivered' end,
  at + interval '1 hour', at, '', at, case when n % 41 > 0 then at + make_interval(secs => 1 + n % 20 + 2 * part) end
from text_at, generate_series(1, 2) part
where not (n % 17 = 0 or n % 23 = 0 or n % 29 = 0) and (part = 1 or n % 7 > 0);
insert into outbound_messages (casino_id, outbound_id, conversation_id, guest_id, kind, class, seq, body, encoding, units, segments, agent, state,
  useful_until, next_sweep_at, trace, created_at, sent_at)
select casino_id, pg_temp.id(at, 'staff' || n), guest_id, guest_id, 'staff_notice', 'staff', 100000 + n, '', 'gsm7', 10, 1, 'staff', 'delivered', at, at, '', at, at
from text_at where n % 100 = 3 and casino_id = 'CASINO';

insert into offers (casino_id, offer_id, guest_id, turn_id, item, tier, dollars, status, issued_at, expires_at, redeemed_at)
select 'CASINO', pg_temp.id(at, 'offer' || n), guest_id, pg_temp.id(at, 't' || n), 'item', (array['dining', 'freeplay', 'hotel', 'vip'])[1 + n % 4], 10 + n % 40,
  case when n % 3 = 0 then 'redeemed' else 'issued' end, at, at + interval '30 days', case when n % 3 = 0 then at + interval '5 days' end
from text_at where n % 25 = 1 and casino_id = 'CASINO';
insert into escalations (casino_id, escalation_id, conversation_id, guest_id, severity, source, reason, created_at, ack_due_at, acknowledged_at)
select 'CASINO', pg_temp.id(at, 'case' || n), guest_id, guest_id, (array['sev0', 'sev1', 'sev2', 'sev3'])[1 + n % 4], 'keyword', 'reason' || n,
  at, at + interval '30 min', case when n % 5 > 0 then at + make_interval(mins => n % 50) end
from text_at where n % 30 = 7 and casino_id = 'CASINO';
