//! Requires TLS for stores on other machines, because the connections carry guests' texts and
//! identities.

use secrecy::ExposeSecret;
use serde::Deserialize;
use sqlx::postgres::{PgConnectOptions, PgSslMode};
use url::Url;

use super::{Settings, address::is_here};
use crate::error::Faults;

/// A store that `stores.plaintext` can exempt from TLS, for example because its network is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Store {
    Nats,
    Postgres,
    Redis,
}

/// Checks that every store on another machine uses TLS or is named in `stores.plaintext`.
pub(super) fn check(settings: &Settings, faults: &mut Faults) {
    let open = |store: Store| settings.stores.plaintext.contains(&store);
    let mut need = |good, key, expected| {
        faults.need(
            good,
            key,
            "it is on another machine and asks for no TLS",
            expected,
        );
    };
    // Parses an address without a scheme as nats://, as the NATS client does.
    let parsed = |url: &str| {
        Url::parse(url.trim()).or_else(|_| Url::parse(&format!("nats://{}", url.trim())))
    };
    let encrypted = |url: &str| parsed(url).is_ok_and(|url| url.scheme() == "tls" || is_here(&url));
    let nats = open(Store::Nats) || settings.nats.url.split(',').all(encrypted);
    need(
        nats,
        "nats.url",
        "tls://..., or \"nats\" in stores.plaintext",
    );
    let safe = |url: &Url| {
        matches!(
            url.scheme(),
            "rediss" | "valkeys" | "unix" | "redis+unix" | "valkey+unix"
        )
    };
    let redis = open(Store::Redis)
        || Url::parse(&settings.redis.url).is_ok_and(|url| safe(&url) || is_here(&url));
    need(
        redis,
        "redis.url",
        "rediss://..., or \"redis\" in stores.plaintext",
    );
    let postgres = open(Store::Postgres) || !is_plain(settings.postgres.url.expose_secret());
    let with_tls = "?sslmode=verify-full at its end, or \"postgres\" in stores.plaintext";
    need(postgres, "postgres.url", with_tls);
    let console = settings.console.postgres_url.as_ref();
    let console = console.is_none_or(|url| open(Store::Postgres) || !is_plain(url.expose_secret()));
    need(console, "console.postgres_url", with_tls);
}

/// Returns true for a connection to another machine that may be unencrypted. That includes
/// `prefer`, which connects without TLS if the server offers none.
fn is_plain(url: &str) -> bool {
    let Ok(options) = url.parse::<PgConnectOptions>() else {
        return false;
    };
    let here = options.get_socket().is_some()
        || options.get_host().starts_with('/')
        || Url::parse(&format!("http://{}", options.get_host())).is_ok_and(|url| is_here(&url));
    let encrypted = matches!(
        options.get_ssl_mode(),
        PgSslMode::Require | PgSslMode::VerifyCa | PgSslMode::VerifyFull
    );
    !here && !encrypted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // DATA-47
    fn a_store_on_another_machine_is_reached_through_tls() {
        let refused = |text: &str| {
            let error = Settings::parse(text).err().map(|error| error.to_string());
            error.map(|error| {
                error
                    .split(':')
                    .next()
                    .unwrap_or_default()
                    .trim_start_matches("setting ")
                    .to_owned()
            })
        };
        for (text, key) in [
            ("nats.url = \"nats://nats.example:4222\"", "nats.url"),
            (
                "nats.url = \"tls://a.example:4222,nats://b.example:4222\"",
                "nats.url",
            ),
            ("nats.url = \"10.20.0.5:4222\"", "nats.url"),
            ("redis.url = \"redis://redis.example:6379\"", "redis.url"),
            ("redis.url = \"valkey://redis.example:6379\"", "redis.url"),
            (
                "postgres.url = \"postgres://seven_app@db.example/seven\"",
                "postgres.url",
            ),
            (
                "console.postgres_url = \"postgres://seven_console@db.example/seven\"",
                "console.postgres_url",
            ),
            (
                "postgres.url = \"postgres://seven_app@db.example/seven?sslmode=prefer\"",
                "postgres.url",
            ),
            (
                "postgres.url = \"postgres://seven_app@10.20.0.5/seven?sslmode=disable\"",
                "postgres.url",
            ),
        ] {
            assert_eq!(refused(text).as_deref(), Some(key), "{text}");
            let open = format!("{text}\nstores.plaintext = [\"nats\", \"postgres\", \"redis\"]");
            assert_eq!(refused(&open), None, "{open}");
        }
        for text in [
            "nats.url = \"tls://a.example:4222, tls://b.example:4222\"",
            "redis.url = \"rediss://redis.example:6379\"",
            "redis.url = \"redis://localhost:6379\"",
            "postgres.url = \"postgres://seven_app@db.example/seven?sslmode=verify-full\"",
            "postgres.url = \"postgres://seven_app@db.example/seven?sslmode=require\"",
            "postgres.url = \"postgres://seven_app@127.0.0.1:5432/seven\"",
            "postgres.url = \"postgres://seven_app@localhost/seven?host=/run/postgresql\"",
        ] {
            assert_eq!(refused(text), None, "{text}");
        }
    }
}
