//! Checks whether a casino's login can reach another casino's rows. Reads the database's catalog,
//! and tries to read and write such rows. Every write is rolled back.

mod attempts;
mod catalog;

use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;
use seven_domain::CasinoId;
use sqlx::{AssertSqlSafe, Connection, PgConnection, Row};

use crate::{Result, Store};

/// Name prefix of logins that are pinned to their casino (migration 0017). The database lets such a
/// login bind no other casino.
pub const LOGIN_PREFIX: &str = "seven_casino_";

/// Tables without a row policy per casino; they hold no guest data. The list in
/// `tests/it/tenancy/catalog.rs` gives the reason for each.
pub const FLEET_TABLES: &[&str] = &[
    "routes",
    "due",
    "fleet_controls",
    "provider_stops",
    "alerts",
    "alert_deliveries",
    "fleet_flags",
    "log_levels",
    "outbound_transitions",
    "former_routes",
    "handed_on_texts",
    "operators",
    "operator_roles",
    "operator_sessions",
    "operator_links",
    "operator_keys",
    "operator_failures",
    "workers",
    "ack_floors",
    "send_policy",
    "_sqlx_migrations",
];

/// Result of one check or attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// `login`, `logins`, `fleet tables`, or a table's name.
    pub what: String,
    pub ok: bool,
    /// Description of the finding; if it is not ok, what has to be fixed.
    pub found: String,
}

/// The other casinos whose rows the attempts try to reach, and the connection that counts those
/// rows.
#[derive(Debug)]
pub struct Against<'a> {
    pub others: &'a [CasinoId],
    /// The owner's connection, which may bind any casino; needed if the tested login is pinned.
    pub witness: Option<&'a SecretString>,
}

/// The login with which this store's connections are opened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Login {
    pub name: String,
    /// The only casino that this login can bind; `None` if the login can bind every casino.
    pub pinned: Option<String>,
}

// === impl Finding ===

impl Finding {
    pub(crate) fn of(what: &str, problems: &[String], good: impl Into<String>) -> Self {
        match problems.is_empty() {
            true => Self {
                what: what.to_owned(),
                ok: true,
                found: good.into(),
            },
            false => Self {
                what: what.to_owned(),
                ok: false,
                found: problems.join("; "),
            },
        }
    }
}

// === impl Login ===

impl Login {
    pub fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            pinned: name.strip_prefix(LOGIN_PREFIX).map(str::to_owned),
        }
    }

    /// Returns the name of a casino's login.
    pub fn name_of(casino: &CasinoId) -> String {
        format!("{LOGIN_PREFIX}{casino}")
    }
}

impl Store {
    /// Returns the login under which the database knows this store's connections.
    pub async fn login(&self) -> Result<Login> {
        let name: String = sqlx::query_scalar("select session_user::text")
            .fetch_one(&mut *self.fleet().await?)
            .await?;
        Ok(Login::named(&name))
    }

    /// Runs all checks with this store's connection, as `casino`, against the other casinos' rows.
    ///
    /// # Errors
    /// Fails when the database cannot be queried. A fault in the isolation is a finding, not an
    /// error.
    pub async fn isolation(
        &self,
        casino: &CasinoId,
        against: &Against<'_>,
    ) -> Result<Vec<Finding>> {
        let pinned = self.login().await?.pinned.is_some();
        let mut conn = self.fleet().await?;
        let mut findings = catalog::login(&mut conn).await?;
        let tables = catalog::tables(&mut conn).await?;
        findings.push(catalog::fleet_tables(&tables));
        let mut witness = match against.witness {
            Some(url) => PgConnection::connect(url.expose_secret()).await?,
            None => PgConnection::connect_with(self.options()).await?,
        };
        for table in tables.iter().filter(|table| !table.is_fleet()) {
            let mut rows = 0;
            for other in against.others {
                rows += rows_of(&mut witness, &table.name, other).await?;
            }
            let mut problems = table.problems();
            problems.extend(attempts::on(&mut conn, &table.name, casino, against.others).await?);
            if pinned {
                for other in against.others {
                    if attempts::bound_to_another(&mut conn, &table.name, other).await? {
                        problems.push(format!("the pinned login reads {other} by naming it"));
                    }
                }
            }
            let good = match rows {
                0 => "nothing of others to read there; writing was refused".to_owned(),
                _ => format!(
                    "none of {rows} row(s) of others read, changed or deleted; writing was refused"
                ),
            };
            findings.push(Finding::of(&table.name, &problems, good));
        }
        witness.close().await?;
        Ok(findings)
    }
}

async fn rows_of(witness: &mut PgConnection, table: &str, casino: &CasinoId) -> Result<i64> {
    let mut tx = witness.begin().await?;
    attempts::bind(&mut tx, casino.as_str()).await?;
    let query = format!("select count(*) from \"{table}\" where casino_id = $1");
    let rows = sqlx::query(AssertSqlSafe(query))
        .bind(casino.as_str())
        .fetch_one(&mut *tx)
        .await?;
    tx.rollback().await?;
    Ok(rows.try_get(0)?)
}
