//! What the sender reads of a queued text before it looks.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use seven_domain::{CasinoConfig, OutboundId};
use sqlx::{FromRow, types::Json};
use uuid::Uuid;

use crate::{
    Result, Tx,
    casinos::{Document, document},
    providers::{Stop, stops},
};

/// What the sender must know before it looks: when, how much, from which number.
#[derive(Debug, Clone, FromRow)]
pub struct Pending {
    pub state: String,
    pub class: String,
    pub segments: i32,
    /// Seconds until `not_before`, never negative.
    pub wait: f64,
    pub casino_number: String,
    pub conversation_id: Uuid,
    pub tries: i32,
    pub key_id: i16,
    pub phone_hash: Vec<u8>,
    pub phone: String,
    /// Where the guest's profile says the guest lives.
    pub zone: Option<String>,
    pub guest_state: Option<String>,
    /// When the text that a turn or the gate answers with this reached us.
    pub answers_at: Option<DateTime<Utc>>,
    /// Seconds between its making and `not_before`.
    pub delay: f64,
    pub of_turn: bool,
    pub trace: String,
}

macro_rules! pending {
    () => {
        "select o.state, o.class, o.segments, greatest(0, extract(epoch from o.not_before - now()))::float8 as wait, c.casino_number,
           o.conversation_id, o.tries, g.key_id, g.phone_hash, g.phone, g.zone, g.state as guest_state,
           case when o.turn_id is null and o.inbound_id is null then null else o.answers_at end as answers_at,
           greatest(0, extract(epoch from o.not_before - o.created_at))::float8 as delay, o.turn_id is not null as of_turn, o.trace
         from outbound_messages o
         join conversations c on c.conversation_id = o.conversation_id
         join guests g on g.guest_id = o.guest_id
         where o.outbound_id = $1"
    };
}

impl Tx {
    pub async fn pending(&mut self, outbound: OutboundId) -> Result<Option<Pending>> {
        Ok(sqlx::query_as(pending!()).bind(outbound.0).fetch_optional(self.conn()).await?)
    }

    /// A text with its casino's document and the stops that stand before it, in one query.
    pub async fn pending_here(
        &mut self,
        outbound: OutboundId,
    ) -> Result<Option<(Pending, Arc<CasinoConfig>, Vec<Stop>)>> {
        #[derive(FromRow)]
        struct Row {
            #[sqlx(flatten)]
            pending: Pending,
            #[sqlx(flatten)]
            document: Document,
            stops: Json<Vec<Stop>>,
        }
        let (casino, held) = (self.casino_str(), self.held_document());
        let row: Option<Row> = sqlx::query_as(concat!(
            "select p.*, ",
            document!("$2"),
            ", coalesce((select jsonb_agg(to_jsonb(s)) from (",
            stops!("$3"),
            ") s), '[]') as stops from casinos, lateral (",
            pending!(),
            ") p"
        ))
        .bind(outbound.0)
        .bind(held.as_ref().map(|held| held.version))
        .bind(casino)
        .fetch_optional(self.conn())
        .await?;
        let Some(row) = row else { return Ok(None) };
        Ok(Some((row.pending, self.casino_of(row.document, held)?.config, row.stops.0)))
    }
}
