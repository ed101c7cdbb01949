//! Orders that somebody gave on a page: to replay or to discard dead letters. The scheduler carries
//! them out.

use seven_domain::{CasinoId, DeadId, DeadOrder, Stage};
use sqlx::FromRow;
use uuid::Uuid;

use crate::{Result, Store, Tx, controls::Order};

/// The letters that an order is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ordered {
    /// One letter in any state but discarded.
    One(DeadId),
    /// All open letters of one stage and reason.
    Kind { stage: Stage, reason: String },
}

/// An order that waits to be carried out.
#[derive(Debug, Clone, FromRow)]
pub struct Waiting {
    pub dead_id: Uuid,
    pub asked: DeadOrder,
    pub asked_by: String,
    pub asked_reason: String,
}

impl Store {
    /// Returns the casinos whose letters wait for an order to be carried out.
    pub async fn dead_order_owners(&self) -> Result<Vec<CasinoId>> {
        self.owners("select casino_id from fleet_dead_orders() order by 1")
            .await
    }
}

impl Tx {
    /// Orders dead letters to be replayed or discarded, and returns the number of letters. A letter
    /// that already has a waiting order keeps that order.
    pub async fn order_dead(
        &mut self,
        letters: &Ordered,
        what: DeadOrder,
        order: Order<'_>,
    ) -> Result<u64> {
        let (id, stage, reason) = match letters {
            Ordered::One(id) => (Some(id.0), None, None),
            Ordered::Kind { stage, reason } => (None, Some(*stage), Some(reason.as_str())),
        };
        let casino = self.casino_str();
        let done = sqlx::query(
            "update dead_letters set asked = $5, asked_by = $6, asked_at = now(), asked_reason = $7, refused = null
             where casino_id = $1 and asked is null and state <> 'discarded'
               and (dead_id = $2 or ($2 is null and state = 'open' and stage = $3 and reason = $4))",
        )
        .bind(casino)
        .bind(id)
        .bind(stage)
        .bind(reason)
        .bind(what)
        .bind(order.by)
        .bind(order.reason)
        .execute(self.conn())
        .await?;
        Ok(done.rows_affected())
    }

    /// Returns at most `most` waiting orders, in the order in which the letters' messages first
    /// failed. A guest's texts thus keep their order.
    pub async fn dead_orders(&mut self, most: i64) -> Result<Vec<Waiting>> {
        let query = "select dead_id, asked, asked_by, asked_reason from dead_letters
                     where casino_id = $1 and asked is not null order by first_at, dead_id limit $2";
        let casino = self.casino_str();
        Ok(sqlx::query_as(query)
            .bind(casino)
            .bind(most)
            .fetch_all(self.conn())
            .await?)
    }

    /// Returns how many letters wait for an order to be carried out.
    pub async fn dead_orders_waiting(&mut self) -> Result<i64> {
        let query = "select count(*) from dead_letters where casino_id = $1 and asked is not null";
        let casino = self.casino_str();
        Ok(sqlx::query_scalar(query)
            .bind(casino)
            .fetch_one(self.conn())
            .await?)
    }

    /// Refuses an order that would have no effect, and stores the code of the reason.
    pub async fn refuse_dead_order(&mut self, id: DeadId, refused: &str) -> Result<()> {
        sqlx::query(
            "update dead_letters set asked = null, asked_by = null, asked_at = null, asked_reason = null, refused = $2 where dead_id = $1",
        )
        .bind(id.0)
        .bind(refused)
        .execute(self.conn())
        .await?;
        Ok(())
    }
}
