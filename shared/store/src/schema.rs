//! Which schema a database has and which one this build needs (PROD-27): migrations only add, so that workers of the release before go on
//! while a newer one's migrations are in place. `tests.rs` beside reads every migration for that.

use secrecy::{ExposeSecret, SecretString};
use sqlx::{Connection, PgConnection, Row};

use crate::{Error, MIGRATIONS, Result, Store};

/// How a database's schema stands to this build.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    Same,
    /// The database has this newer version; what it adds is not ours to know.
    Newer(i64),
    /// The database has this version and lacks some that we need; 0 is before all.
    Older(i64),
}

/// A migration that a database has not had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pending {
    pub version: i64,
    /// From its file's name.
    pub name: String,
}

/// The newest schema this build knows, and the least its workers run on.
pub fn needed() -> i64 {
    MIGRATIONS.iter().map(|migration| migration.version).max().unwrap_or_default()
}

impl Standing {
    fn of(there: &[i64]) -> Self {
        let newest = there.iter().copied().max().unwrap_or_default();
        match MIGRATIONS.iter().all(|migration| there.contains(&migration.version)) {
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
    /// When the database cannot be asked.
    pub async fn schema(&self) -> Result<Standing> {
        let versions = "select version from _sqlx_migrations where success";
        match sqlx::query_scalar(versions).fetch_all(&mut *self.fleet().await?).await.map_err(Error::from) {
            Ok(there) => Ok(Standing::of(&there)),
            // Before 0017 workers may not look; with no migration at all there is nothing to look at.
            Err(Error::Query(sqlx::Error::Database(e))) if e.code().is_some_and(|c| c == "42501" || c == "42P01") => {
                Ok(Standing::Older(0))
            }
            Err(error) => Err(error),
        }
    }

    /// Returns the migrations [`Store::migrate`] would apply, in order; the database is only read.
    ///
    /// # Errors
    /// When the database cannot be asked.
    pub async fn pending(owner: &SecretString) -> Result<Vec<Pending>> {
        let mut conn = PgConnection::connect(owner.expose_secret()).await?;
        let begun: bool = sqlx::query_scalar("select to_regclass('public._sqlx_migrations') is not null")
            .fetch_one(&mut conn)
            .await?;
        let mut there: Vec<i64> = Vec::new();
        if begun {
            let rows = sqlx::query("select version from _sqlx_migrations where success").fetch_all(&mut conn).await?;
            for row in rows {
                there.push(row.try_get(0)?);
            }
        }
        conn.close().await?;
        let missing = MIGRATIONS.iter().filter(|migration| !there.contains(&migration.version));
        Ok(missing.map(|m| Pending { version: m.version, name: m.description.to_string() }).collect())
    }
}

#[cfg(test)]
mod tests;
