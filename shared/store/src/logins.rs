//! Database logins, each for one casino (DEP-14, SEC-160). They are created, changed and dropped
//! with the owner's connection.

use secrecy::{ExposeSecret, SecretString};
use seven_domain::CasinoId;
use sqlx::{AssertSqlSafe, Connection, PgConnection};

use crate::{Result, isolation::Login};

/// Result of creating a login.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Made {
    New,
    /// The login existed and has another password now; open connections stay open.
    Changed,
}

/// Creates the casino's login or changes its password. `verifier` is the hash that the server
/// stores (`SCRAM-SHA-256$...`). The password itself is not sent, so it cannot appear in the
/// server's log.
///
/// # Errors
/// Fails when the database cannot be queried or the connection may not create roles.
pub async fn put_login(owner: &SecretString, casino: &CasinoId, verifier: &str) -> Result<Made> {
    let mut conn = PgConnection::connect(owner.expose_secret()).await?;
    let name = Login::name_of(casino);
    let there: bool = sqlx::query_scalar("select exists (select from pg_roles where rolname = $1)")
        .bind(&name)
        .fetch_one(&mut conn)
        .await?;
    let (verb, made) = if there {
        ("alter", Made::Changed)
    } else {
        ("create", Made::New)
    };
    // Role statements take no parameters. Inlining is safe: a casino id consists of a-z, 0-9 and _,
    // a verifier of base64 and $.
    let mut statements = vec![format!(
        "{verb} role {name} login nosuperuser nobypassrls nocreatedb nocreaterole noreplication \
         password '{verifier}'"
    )];
    statements.push(format!("grant seven_pinned to {name}"));
    for statement in statements {
        sqlx::query(AssertSqlSafe(statement))
            .execute(&mut conn)
            .await?;
    }
    conn.close().await?;
    Ok(made)
}

/// Drops the casino's login and ends its connections; returns false when there was none.
///
/// # Errors
/// Fails when the database cannot be queried, or the role owns something in another database of the
/// server.
pub async fn drop_login(owner: &SecretString, casino: &CasinoId) -> Result<bool> {
    let mut conn = PgConnection::connect(owner.expose_secret()).await?;
    let name = Login::name_of(casino);
    let there: bool = sqlx::query_scalar("select exists (select from pg_roles where rolname = $1)")
        .bind(&name)
        .fetch_one(&mut conn)
        .await?;
    if there {
        sqlx::query(AssertSqlSafe(format!("drop role {name}")))
            .execute(&mut conn)
            .await?;
        sqlx::query("select pg_terminate_backend(pid) from pg_stat_activity where usename = $1")
            .bind(&name)
            .execute(&mut conn)
            .await?;
    }
    conn.close().await?;
    Ok(there)
}

/// Returns the casinos that have a login of their own.
///
/// # Errors
/// Fails when the database cannot be queried.
pub async fn logins(owner: &SecretString) -> Result<Vec<String>> {
    let mut conn = PgConnection::connect(owner.expose_secret()).await?;
    let names: Vec<String> = sqlx::query_scalar(
        "select rolname::text from pg_roles where starts_with(rolname::text, $1) order by 1",
    )
    .bind(crate::isolation::LOGIN_PREFIX)
    .fetch_all(&mut conn)
    .await?;
    conn.close().await?;
    Ok(names
        .into_iter()
        .filter_map(|name| Login::named(&name).pinned)
        .collect())
}
