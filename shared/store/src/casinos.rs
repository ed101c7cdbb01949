//! Casinos, their configuration documents and their numbers.

use std::sync::Arc;

use seven_domain::{AttemptId, AuditEvent, CasinoConfig, CasinoId, PhoneE164};
use sqlx::{PgConnection, types::Json};

use crate::{Result, Store, Tx, audit::Entry, documents::Held};

/// A casino as a worker needs it for one message.
#[derive(Debug, Clone)]
pub struct Casino {
    pub config: Arc<CasinoConfig>,
    pub content_version: i64,
}

/// A row of `casinos` without the document where ours still holds.
#[derive(Debug, sqlx::FromRow)]
pub(crate) struct Document {
    document_version: i64,
    content_version: i64,
    config: Option<Json<CasinoConfig>>,
}

/// The columns of [`Document`]; the parameter is the version this process holds.
macro_rules! document {
    ($known:literal) => {
        concat!(
            "casinos.xmin::text::bigint as document_version, casinos.content_version, case when casinos.xmin::text::bigint = ",
            $known,
            " then null else casinos.config end as config"
        )
    };
}
pub(crate) use document;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Added {
    New,
    Updated,
}

/// The number belongs to another casino already.
#[derive(Debug, thiserror::Error)]
pub enum AddError {
    #[error("the number is routed to casino {0}; remove it there first")]
    NumberTaken(String),
    #[error(transparent)]
    Store(#[from] crate::Error),
}

impl Store {
    /// Adds a casino or replaces its document, in one transaction with the routes of its numbers.
    pub async fn put_casino(&self, config: &CasinoConfig, actor: &str) -> Result<Added, AddError> {
        let mut tx = self.bind(&config.casino_id).await?;
        let numbers: Vec<String> = config.operational.numbers().map(|n| n.as_str().to_owned()).collect();
        for number in config.operational.numbers() {
            if let Some(owner) = owner_of(number, tx.conn()).await?
                && owner != config.casino_id
            {
                return Err(AddError::NumberTaken(owner.to_string()));
            }
        }
        let added = tx.upsert_casino(config).await?;
        let casino = config.casino_id.as_str();
        sqlx::query("delete from routes where casino_id = $1 and number <> all($2)")
            .bind(casino)
            .bind(&numbers)
            .execute(tx.conn())
            .await
            .map_err(crate::Error::from)?;
        let routed = sqlx::query(
            "insert into routes (number, casino_id) select n, $2 from unnest($1::text[]) n
             on conflict (number) do update set casino_id = excluded.casino_id where routes.casino_id = excluded.casino_id",
        )
        .bind(&numbers)
        .bind(casino)
        .execute(tx.conn())
        .await
        .map_err(crate::Error::from)?;
        if routed.rows_affected() < numbers.len() as u64 {
            return Err(AddError::NumberTaken("that was added at the same moment".to_owned()));
        }
        let detail = serde_json::json!({ "new": added == Added::New });
        tx.audit(&Entry::of(AuditEvent::CasinoChanged, actor, casino, detail)).await?;
        tx.commit().await?;
        Ok(added)
    }

    /// Whose attempt to send it is; needs no casino binding.
    pub async fn casino_of_attempt(&self, attempt: AttemptId) -> Result<Option<CasinoId>> {
        let query = "select casino_id from fleet_attempt_owner($1)";
        let owner: Option<String> =
            sqlx::query_scalar(query).bind(attempt.0).fetch_optional(&mut *self.fleet().await?).await?;
        Ok(owner.map(|owner| CasinoId::trusted(&owner)).transpose()?)
    }

    /// Who owns a number; needs no casino binding.
    pub async fn casino_of_number(&self, number: &PhoneE164) -> Result<Option<CasinoId>> {
        let mut tx = self.fleet_begin().await?;
        let owner = owner_of(number, &mut tx).await?;
        tx.commit().await?;
        Ok(owner)
    }
}

async fn owner_of(number: &PhoneE164, conn: &mut PgConnection) -> Result<Option<CasinoId>> {
    let query = sqlx::query_scalar("select casino_id from routes where number = $1");
    let found: Option<String> = query.bind(number.as_str()).fetch_optional(conn).await?;
    Ok(found.map(|c| CasinoId::trusted(&c)).transpose()?)
}

impl Tx {
    async fn upsert_casino(&mut self, config: &CasinoConfig) -> Result<Added> {
        let inserted: bool = sqlx::query_scalar(
            "insert into casinos (casino_id, timezone, state, config) values ($1, $2, $3, $4)
             on conflict (casino_id) do update set timezone = excluded.timezone, state = excluded.state, config = excluded.config,
               config_version = casinos.config_version + 1, updated_at = now(),
               status = case when casinos.status = 'removed' then 'active' else casinos.status end
             returning (xmax = 0)",
        )
        .bind(config.casino_id.as_str())
        .bind(config.operational.timezone.name())
        .bind(&config.regulations.state)
        .bind(Json(config))
        .fetch_one(self.conn())
        .await?;
        Ok(if inserted { Added::New } else { Added::Updated })
    }

    /// The bound casino's document, or none.
    pub async fn casino_row(&mut self) -> Result<Option<Casino>> {
        let held = self.held_document();
        let row: Option<Document> = sqlx::query_as(concat!("select ", document!("$1"), " from casinos"))
            .bind(held.as_ref().map(|held| held.version))
            .fetch_optional(self.conn())
            .await?;
        row.map(|row| self.casino_of(row, held)).transpose()
    }

    /// What this process holds, whose version a statement with `document!` is told.
    pub(crate) fn held_document(&self) -> Option<Held> {
        self.documents.held(&self.casino)
    }

    pub(crate) fn casino_of(&self, row: Document, held: Option<Held>) -> Result<Casino> {
        let read = row.config.map(|Json(config)| config);
        let config = self.documents.settle(&self.casino, row.document_version, read, held);
        let config = config.ok_or(sqlx::Error::RowNotFound)?;
        Ok(Casino { config, content_version: row.content_version })
    }

    /// Sets `active`, `suspended` or `removed`; false when the casino is not there.
    pub async fn set_casino_status(&mut self, status: &str, actor: &str, reason: &str) -> Result<bool> {
        let done =
            sqlx::query("update casinos set status = $1, updated_at = now()").bind(status).execute(self.conn()).await?;
        if status == "removed" {
            let casino = self.casino_str();
            sqlx::query("delete from routes where casino_id = $1").bind(casino).execute(self.conn()).await?;
        }
        let casino = self.casino_str();
        let detail = serde_json::json!({ "status": status, "reason": reason });
        self.audit(&Entry::of(AuditEvent::CasinoChanged, actor, &casino, detail)).await?;
        Ok(done.rows_affected() == 1)
    }
}
