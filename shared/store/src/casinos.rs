//! Casinos, their configuration documents and their numbers.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use seven_domain::{AttemptId, AuditEvent, CasinoConfig, CasinoId, CasinoStatus, PhoneE164};
use sqlx::types::Json;

use crate::{Result, Store, Tx, audit::Entry, documents::Held};

/// A casino's data as a worker needs it for one message.
#[derive(Debug, Clone)]
pub struct Casino {
    pub config: Arc<CasinoConfig>,
    pub content_version: i64,
}

/// A row of `casinos`, without the document if the cached one is still current.
#[derive(Debug, sqlx::FromRow)]
pub(crate) struct Document {
    document_version: i64,
    content_version: i64,
    config: Option<Json<CasinoConfig>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Added {
    New,
    Updated,
}

/// Why a casino could not be added, for example because its number belongs to another one.
#[derive(Debug, thiserror::Error)]
pub enum AddError {
    #[error("the number is routed to casino {0}; remove it there first")]
    NumberTaken(String),
    #[error(transparent)]
    Store(#[from] crate::Error),
}

impl Store {
    /// Adds a casino or replaces its document, with the routes of its numbers. Numbers that the
    /// document no longer names are retired. Numbers that another casino gave up are taken over.
    pub async fn put_casino(&self, config: &CasinoConfig, actor: &str) -> Result<Added, AddError> {
        let mut tx = self.bind(&config.casino_id).await?;
        let added = tx.put_casino(config, actor, &[]).await?;
        tx.commit().await?;
        Ok(added)
    }

    /// Returns the casino that made an attempt to send; needs no casino binding.
    pub async fn casino_of_attempt(&self, attempt: AttemptId) -> Result<Option<CasinoId>> {
        let query = "select casino_id from fleet_attempt_owner($1)";
        let owner: Option<String> = sqlx::query_scalar(query)
            .bind(attempt.0)
            .fetch_optional(&mut *self.fleet().await?)
            .await?;
        Ok(owner.map(|owner| CasinoId::trusted(&owner)).transpose()?)
    }

    /// Returns the casino that uses a number or was the last to use it; needs no casino binding.
    pub async fn casino_of_number(&self, number: &PhoneE164) -> Result<Option<CasinoId>> {
        let query = "select r.casino_id from routes r join fleet_roster() c using (casino_id) where r.number = $1";
        let owner: Option<String> = sqlx::query_scalar(query)
            .bind(number.as_str())
            .fetch_optional(&mut *self.fleet().await?)
            .await?;
        Ok(owner.map(|owner| CasinoId::trusted(&owner)).transpose()?)
    }

    /// Returns the casino to which a text to this number belongs. If the text was written before
    /// the number was handed on, this is the former casino (D40). Needs no casino binding.
    pub async fn casino_of_text(
        &self,
        number: &PhoneE164,
        written_at: DateTime<Utc>,
    ) -> Result<Option<CasinoId>> {
        match self.former_of_number(number).await? {
            Some((former, since)) if written_at < since => Ok(Some(former)),
            _ => self.casino_of_number(number).await,
        }
    }

    /// Returns the casino that had the number before, and when another casino took the number over;
    /// needs no casino binding.
    pub async fn former_of_number(
        &self,
        number: &PhoneE164,
    ) -> Result<Option<(CasinoId, DateTime<Utc>)>> {
        let handed_on = self.handed_on().await?.into_iter();
        let mut ours = handed_on.filter(|on| on.number == number.as_str());
        let former = ours.next();
        former
            .map(|on| Ok((CasinoId::trusted(&on.former_casino)?, on.since)))
            .transpose()
    }
}

impl Tx {
    /// Adds a casino or replaces its document within this transaction; `changed` names the fields
    /// that differ, for the audit log.
    ///
    /// # Errors
    /// Fails with [`AddError::NumberTaken`] if another casino sends from one of the document's
    /// numbers.
    pub async fn put_casino(
        &mut self,
        config: &CasinoConfig,
        actor: &str,
        changed: &[String],
    ) -> Result<Added, AddError> {
        let added = self.upsert_casino(config).await?;
        let numbers: Vec<&str> = config
            .operational
            .numbers()
            .map(PhoneE164::as_str)
            .collect();
        self.route(&numbers).await?;
        let detail = serde_json::json!({ "new": added == Added::New, "changed": changed });
        self.audit(&Entry::of(
            AuditEvent::CasinoChanged,
            actor,
            config.casino_id.as_str(),
            detail,
        ))
        .await?;
        Ok(added)
    }

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

    /// Returns the bound casino's document, if the casino exists.
    pub async fn casino_row(&mut self) -> Result<Option<Casino>> {
        let held = self.held_document();
        let row: Option<Document> = sqlx::query_as(include_str!("../sql/casino.sql"))
            .bind(held.as_ref().map(|held| held.version))
            .fetch_optional(self.conn())
            .await?;
        row.map(|row| self.casino_of(row, held)).transpose()
    }

    /// Returns the document that this process has cached. A statement that reads a [`Document`]
    /// takes the version number of the cached one, and returns the stored document only if its
    /// version differs.
    pub(crate) fn held_document(&self) -> Option<Held> {
        self.documents.held(&self.casino)
    }

    pub(crate) fn casino_of(&self, row: Document, held: Option<Held>) -> Result<Casino> {
        let read = row.config.map(|Json(config)| config);
        let config = self
            .documents
            .settle(&self.casino, row.document_version, read, held);
        let config = config.ok_or(sqlx::Error::RowNotFound)?;
        Ok(Casino {
            config,
            content_version: row.content_version,
        })
    }

    /// Sets the status; returns false when the casino does not exist.
    pub async fn set_casino_status(
        &mut self,
        status: CasinoStatus,
        actor: &str,
        reason: &str,
    ) -> Result<bool> {
        let query = sqlx::query("update casinos set status = $1, updated_at = now()").bind(status);
        let done = query.execute(self.conn()).await?;
        if status == CasinoStatus::Removed {
            self.retire_numbers(&[]).await?;
        }
        let casino = self.casino_str();
        let detail = serde_json::json!({ "status": status, "reason": reason });
        self.audit(&Entry::of(
            AuditEvent::CasinoChanged,
            actor,
            &casino,
            detail,
        ))
        .await?;
        Ok(done.rows_affected() == 1)
    }
}
