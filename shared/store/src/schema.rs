//! The schema version of a database and the one that this build needs. Migrations only add, so that
//! workers of the previous release keep running; `tests.rs` checks this.

use secrecy::{ExposeSecret, SecretString};
use sqlx::{Connection, PgConnection, Row};

use crate::{Error, MIGRATIONS, Result, Store};

/// How a database's schema compares with this build's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    Same,
    /// The database has this newer version; its additions are unknown to this build.
    Newer(i64),
    /// The database has this version and lacks migrations that this build needs. The version is 0
    /// if the database has no migrations, or if the worker may not read the version.
    Older(i64),
}

/// A migration that is not applied to a database yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pending {
    pub version: i64,
    /// The name, from the migration's file name.
    pub name: String,
}

/// Returns the newest schema version that this build knows. The build's workers need at least this
/// version.
pub fn needed() -> i64 {
    MIGRATIONS
        .iter()
        .map(|migration| migration.version)
        .max()
        .unwrap_or_default()
}

impl Standing {
    fn of(there: &[i64]) -> Self {
        let newest = there.iter().copied().max().unwrap_or_default();
        match MIGRATIONS
            .iter()
            .all(|migration| there.contains(&migration.version))
        {
            false => Self::Older(newest),
            true if newest > needed() => Self::Newer(newest),
            true => Self::Same,
        }
    }
}

impl Store {
    /// Returns the state of the schema, as far as the workers' own connection can tell.
    ///
    /// # Errors
    /// Fails when the database cannot be queried.
    pub async fn schema(&self) -> Result<Standing> {
        let versions = "select version from _sqlx_migrations where success";
        match sqlx::query_scalar(versions)
            .fetch_all(&mut *self.fleet().await?)
            .await
            .map_err(Error::from)
        {
            Ok(there) => Ok(Standing::of(&there)),
            // Before migration 0017, workers have no right to read this table. Before the first
            // migration, the table does not exist.
            Err(Error::Query(sqlx::Error::Database(e)))
                if e.code().is_some_and(|c| c == "42501" || c == "42P01") =>
            {
                Ok(Standing::Older(0))
            }
            Err(error) => Err(error),
        }
    }

    /// Returns the migrations that [`Store::migrate`] would apply, in order; only reads the
    /// database.
    ///
    /// # Errors
    /// Fails when the database cannot be queried.
    pub async fn pending(owner: &SecretString) -> Result<Vec<Pending>> {
        let mut conn = PgConnection::connect(owner.expose_secret()).await?;
        let begun: bool =
            sqlx::query_scalar("select to_regclass('public._sqlx_migrations') is not null")
                .fetch_one(&mut conn)
                .await?;
        let mut there: Vec<i64> = Vec::new();
        if begun {
            let rows = sqlx::query("select version from _sqlx_migrations where success")
                .fetch_all(&mut conn)
                .await?;
            for row in rows {
                there.push(row.try_get(0)?);
            }
        }
        conn.close().await?;
        let missing = MIGRATIONS
            .iter()
            .filter(|migration| !there.contains(&migration.version));
        Ok(missing
            .map(|m| Pending {
                version: m.version,
                name: m.description.to_string(),
            })
            .collect())
    }
}

#[cfg(test)]
mod tests;
