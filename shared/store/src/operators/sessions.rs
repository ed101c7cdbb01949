//! Sessions of operators, timed by the database's clock. A row holds the SHA-256 of the session's
//! token, not the token.

use seven_domain::{CasinoId, OperatorId, Role};
use sqlx::FromRow;
use uuid::Uuid;

use crate::{Error, Result, Store, Tx};

/// Maximum duration of a session.
pub const SESSION_HOURS: i32 = 12;
/// Time without an action of the person after which a session ends.
pub const SESSION_IDLE_MINUTES: i32 = 30;
/// Time from entering the password within which the second factor must be entered.
const FACTOR_MINUTES: i32 = 5;

/// A session that is in force, with its operator.
#[derive(Debug, Clone)]
pub struct Session {
    pub operator: OperatorId,
    pub name: String,
    pub email: String,
    pub language: String,
    /// False after the password was entered and before the second factor is.
    pub complete: bool,
    /// The person's current roles, each with its casino; `None` means every casino.
    pub roles: Vec<(Option<CasinoId>, Role)>,
}

#[derive(FromRow)]
struct Found {
    operator_id: Uuid,
    name: String,
    email: String,
    language: String,
    complete: bool,
    casinos: Vec<String>,
    roles: Vec<Role>,
}

/// Selects the session with hash $1, unless it was idle for $2 minutes. If $3 is true, a key with
/// hash $1 is treated as a session.
const SESSION: &str = "select o.operator_id, o.name, o.email, o.language, s.complete,
     coalesce((select array_agg(r.casino_id order by r.casino_id, r.role) from operator_roles r where r.operator_id = o.operator_id and coalesce(r.ends_on >= (now() at time zone 'utc')::date, true)), '{}') as casinos,
     coalesce((select array_agg(r.role order by r.casino_id, r.role) from operator_roles r where r.operator_id = o.operator_id and coalesce(r.ends_on >= (now() at time zone 'utc')::date, true)), '{}') as roles
   from (
     select operator_id, complete from operator_sessions
     where token_hash = $1 and ends_at > now() and seen_at > now() - make_interval(mins => $2)
     union all select operator_id, true from operator_keys where $3 and key_hash = $1 and ends_at > now()
   ) s join operators o on o.operator_id = s.operator_id where o.status = 'active'";

impl Store {
    /// Works like [`Tx::session`] with `touch` false, but takes only one round trip. Every open
    /// page calls this each second.
    pub async fn session(&self, hash: &[u8]) -> Result<Option<Session>> {
        let found: Option<Found> = sqlx::query_as(SESSION)
            .bind(hash)
            .bind(SESSION_IDLE_MINUTES)
            .bind(false)
            .fetch_optional(&mut *self.fleet().await?)
            .await?;
        found.map(Session::of).transpose()
    }
}

impl Tx {
    /// Begins a session: a complete one, or one that waits for the second factor.
    pub async fn put_session(
        &mut self,
        hash: &[u8],
        operator: OperatorId,
        complete: bool,
    ) -> Result<()> {
        sqlx::query("delete from operator_sessions where ends_at < now()")
            .execute(self.conn())
            .await?;
        sqlx::query(
            "insert into operator_sessions (token_hash, operator_id, complete, ends_at)
             values ($1, $2, $3, now() + case when $3 then make_interval(hours => $4) else make_interval(mins => $5) end)",
        )
        .bind(hash)
        .bind(operator.0)
        .bind(complete)
        .bind(SESSION_HOURS)
        .bind(FACTOR_MINUTES)
        .execute(self.conn())
        .await?;
        Ok(())
    }

    /// Returns the session in force with this hash, with the person's current roles. `touch` is
    /// true if a person did something, which keeps the session alive, and false if a page fetches
    /// by itself.
    pub async fn session(&mut self, hash: &[u8], touch: bool) -> Result<Option<Session>> {
        if touch {
            // `seen_at` is written at most once a minute, so that not every call writes.
            sqlx::query(
                "update operator_sessions set seen_at = now() where token_hash = $1 and seen_at < now() - interval '1 minute'
                   and seen_at > now() - make_interval(mins => $2) and ends_at > now()",
            )
            .bind(hash)
            .bind(SESSION_IDLE_MINUTES)
            .execute(self.conn())
            .await?;
        }
        self.session_under(hash, false).await
    }

    pub(super) async fn session_under(
        &mut self,
        hash: &[u8],
        keys: bool,
    ) -> Result<Option<Session>> {
        let found: Option<Found> = sqlx::query_as(SESSION)
            .bind(hash)
            .bind(SESSION_IDLE_MINUTES)
            .bind(keys)
            .fetch_optional(self.conn())
            .await?;
        found.map(Session::of).transpose()
    }

    pub async fn end_session(&mut self, hash: &[u8]) -> Result<()> {
        sqlx::query("delete from operator_sessions where token_hash = $1")
            .bind(hash)
            .execute(self.conn())
            .await?;
        Ok(())
    }

    /// Ends every session of the person; returns how many.
    pub async fn end_sessions(&mut self, operator: OperatorId) -> Result<u64> {
        let done = sqlx::query("delete from operator_sessions where operator_id = $1")
            .bind(operator.0)
            .execute(self.conn())
            .await?;
        Ok(done.rows_affected())
    }
}

impl Session {
    fn of(found: Found) -> Result<Self> {
        let roles = found.casinos.iter().zip(found.roles).map(|(casino, role)| {
            let casino = match casino.as_str() {
                "" => None,
                casino => Some(CasinoId::trusted(casino)?),
            };
            Ok::<_, Error>((casino, role))
        });
        Ok(Self {
            operator: OperatorId(found.operator_id),
            roles: roles.collect::<Result<_, _>>()?,
            name: found.name,
            email: found.email,
            language: found.language,
            complete: found.complete,
        })
    }
}
