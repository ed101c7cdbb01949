//! Errors of the database, and whether waiting helps.

use seven_domain::Invalid;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The database is unreachable or refuses connections. The message in work is not at fault and
    /// waits.
    #[error("reaching the database")]
    Unavailable(#[source] sqlx::Error),
    #[error("querying the database")]
    Query(#[source] sqlx::Error),
    #[error("migrating the database")]
    Migrate(#[from] sqlx::migrate::MigrateError),
    #[error(
        "the owner's connection is bound by row policies and would see no row; give its role BYPASSRLS, or use a superuser"
    )]
    BoundByPolicies,
    /// A stored value that this build does not know, such as a state of a newer release.
    #[error("reading a row")]
    Row(#[from] Invalid),
    #[error("reading a JSON column")]
    Json(#[from] serde_json::Error),
}

impl Error {
    pub fn is_unavailable(&self) -> bool {
        matches!(self, Self::Unavailable(_))
    }

    /// Returns whether two transactions conflicted, or a lock timed out (55P03). The failed
    /// transaction is then simply retried.
    pub fn is_contended(&self) -> bool {
        let met = |code: &str| code.starts_with("40") || code == "55P03";
        matches!(
            self,
            Self::Query(sqlx::Error::Database(e)) if e.code().is_some_and(|code| met(&code))
        )
    }
}

impl From<sqlx::Error> for Error {
    fn from(source: sqlx::Error) -> Self {
        match source {
            source if is_away(&source) => Self::Unavailable(source),
            sqlx::Error::ColumnDecode { index, source } => match source.downcast::<Invalid>() {
                Ok(invalid) => Self::Row(*invalid),
                Err(source) => Self::Query(sqlx::Error::ColumnDecode { index, source }),
            },
            source => Self::Query(source),
        }
    }
}

/// Returns whether the database cannot be used for the moment. The SQLSTATE classes are connection
/// (08), resources (53), operator (57) and disk (58); 25006 means that the server refuses writes.
fn is_away(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(_)
        | sqlx::Error::PoolTimedOut
        | sqlx::Error::PoolClosed
        | sqlx::Error::Protocol(_)
        | sqlx::Error::WorkerCrashed => true,
        sqlx::Error::Database(e) => e.code().is_some_and(|c| {
            ["08", "53", "57", "58", "25006"]
                .iter()
                .any(|class| c.starts_with(class))
        }),
        _ => false,
    }
}

pub(crate) fn is_dead_connection(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(e) => e.kind() != std::io::ErrorKind::ConnectionRefused,
        sqlx::Error::Database(e) => e.code().is_some_and(|c| c == "57P01" || c == "25P03"),
        _ => false,
    }
}

/// Returns whether the server is not listening, has no free connection (53300), or is still
/// starting (57P03).
pub(crate) fn is_not_taking_connections(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(e) => e.kind() == std::io::ErrorKind::ConnectionRefused,
        sqlx::Error::Database(e) => e.code().is_some_and(|c| c == "53300" || c == "57P03"),
        _ => false,
    }
}
