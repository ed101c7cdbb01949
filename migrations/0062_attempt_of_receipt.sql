-- A receipt that names no attempt of ours is found by the provider's id. Without an index each one read all attempts of the casino.
create index attempts_provider_message on send_attempts (casino_id, provider_message_id) where provider_message_id is not null;
