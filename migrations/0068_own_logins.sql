-- Casinos' own logins (OpenID Connect, D26): who a person is at the provider, from their first login there on. The address alone is
-- not enough, because an address may be given to somebody else.
alter table operators add column oidc_subject text;
create unique index operators_oidc on operators (oidc_subject) where oidc_subject is not null;
