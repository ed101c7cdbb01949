insert into suppressions (casino_id, key_id, phone_hash, state, as_of, event_id, method,
  provider_knows) values ($1, $2, $3, $4, $5, $6, $7, $8)
on conflict (casino_id, key_id, phone_hash) do update
  set state = excluded.state, as_of = excluded.as_of, recorded_at = now(), asked_at = null,
      event_id = case when suppressions.state = excluded.state then suppressions.event_id
        else excluded.event_id end,
      method = case when suppressions.state = 'stopped' and excluded.state = 'stopped'
        and suppressions.method = 'natural_language'
        then suppressions.method else excluded.method end,
      provider_knows = excluded.provider_knows or (suppressions.state = excluded.state
        and suppressions.provider_knows),
      -- Back with a word the provider does not know: one text is tried, and the provider's refusal
      -- blocks the rest.
      provider_blocked = excluded.state = 'opted_in' and not excluded.provider_knows
        and suppressions.provider_blocked
  where suppressions.as_of < excluded.as_of or (suppressions.as_of = excluded.as_of
    and excluded.state = 'stopped')
