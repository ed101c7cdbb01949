//! Short-term storage for authentic events that JetStream did not accept in time (D2).

use serde_json::Value;
use seven_domain::CasinoId;
use sqlx::FromRow;
use uuid::Uuid;

use crate::{Result, Store, Tx};

/// A message exactly as it would have been published.
#[derive(Debug, Clone, FromRow)]
pub struct Spooled {
    pub spool_id: Uuid,
    pub subject: String,
    pub message_key: String,
    pub headers: Value,
    pub payload: Vec<u8>,
}

impl Tx {
    pub async fn spool(&mut self, message: &Spooled) -> Result<()> {
        let casino = self.casino_str();
        sqlx::query("insert into spool (casino_id, spool_id, subject, message_key, headers, payload) values ($1, $2, $3, $4, $5, $6)")
            .bind(casino)
            .bind(message.spool_id)
            .bind(&message.subject)
            .bind(&message.message_key)
            .bind(&message.headers)
            .bind(&message.payload)
            .execute(self.conn())
            .await?;
        Ok(())
    }

    /// Locks these spooled messages until the transaction ends and returns them, oldest first.
    /// Leaves out messages that another scheduler has locked.
    pub async fn take_spooled(&mut self, ids: &[Uuid]) -> Result<Vec<Spooled>> {
        Ok(sqlx::query_as(
            "select spool_id, subject, message_key, headers, payload from spool
             where spool_id = any($1) order by received_at, spool_id for update skip locked",
        )
        .bind(ids)
        .fetch_all(self.conn())
        .await?)
    }

    pub async fn drop_spooled(&mut self, ids: &[Uuid]) -> Result<()> {
        sqlx::query("delete from spool where spool_id = any($1)")
            .bind(ids)
            .execute(self.conn())
            .await?;
        Ok(())
    }
}

impl Store {
    /// Returns the oldest spooled messages of all casinos, ids only.
    pub async fn spooled(&self, most: i32) -> Result<Vec<(CasinoId, Uuid)>> {
        let rows: Vec<(String, Uuid)> =
            sqlx::query_as("select casino_id, spool_id from fleet_spool($1)")
                .bind(most)
                .fetch_all(&mut *self.fleet().await?)
                .await?;
        rows.into_iter()
            .map(|(casino, id)| Ok((CasinoId::trusted(&casino)?, id)))
            .collect()
    }
}
