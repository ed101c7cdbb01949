//! Data of a queued text that the sender reads before the pre-send check.

use std::{collections::HashMap, sync::Arc};

use chrono::{DateTime, Utc};
use seven_domain::{CasinoConfig, OutboundId};
use sqlx::{FromRow, types::Json};
use uuid::Uuid;

use crate::{
    Result, Tx,
    casinos::{Document, document},
    providers::{Stop, stops},
};

/// Data of a queued text that the sender needs before the pre-send check: when to send, how many
/// segments, from which number.
#[derive(Debug, Clone, FromRow)]
pub struct Pending {
    pub outbound_id: Uuid,
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
    /// The time zone of the guest's home, from the guest's profile.
    pub zone: Option<String>,
    pub guest_state: Option<String>,
    /// When the inbound text that this one answers was received; set for answers of a turn or the
    /// gate.
    pub answers_at: Option<DateTime<Utc>>,
    /// Seconds between the creation of the text and `not_before`.
    pub delay: f64,
    pub of_turn: bool,
    pub trace: String,
}

/// A queued text with its casino's document and the provider stops that concern it.
#[derive(Debug, Clone)]
pub struct PendingSend {
    pub pending: Pending,
    pub config: Arc<CasinoConfig>,
    pub stops: Vec<Stop>,
}

macro_rules! pending {
    ($which:literal) => {
        concat!(
            "select o.outbound_id, o.state, o.class, o.segments, greatest(0, extract(epoch from o.not_before - now()))::float8 as wait, c.casino_number,
           o.conversation_id, o.tries, g.key_id, g.phone_hash, g.phone, g.zone, g.state as guest_state,
           case when o.turn_id is null and o.inbound_id is null then null else o.answers_at end as answers_at,
           greatest(0, extract(epoch from o.not_before - o.created_at))::float8 as delay, o.turn_id is not null as of_turn, o.trace
         from outbound_messages o
         join conversations c on c.conversation_id = o.conversation_id
         join guests g on g.guest_id = o.guest_id
         where o.outbound_id ",
            $which
        )
    };
}

impl Tx {
    pub async fn pending(&mut self, outbound: OutboundId) -> Result<Option<Pending>> {
        Ok(sqlx::query_as(pending!("= $1")).bind(outbound.0).fetch_optional(self.conn()).await?)
    }

    /// Returns those of the texts that exist, each with all data needed before its pre-send check,
    /// in one query.
    pub async fn pending_here(&mut self, texts: &[OutboundId]) -> Result<HashMap<OutboundId, PendingSend>> {
        #[derive(FromRow)]
        struct Row {
            #[sqlx(flatten)]
            pending: Pending,
            #[sqlx(flatten)]
            document: Document,
            stops: Json<Vec<Stop>>,
        }
        let (casino, held) = (self.casino_str(), self.held_document());
        let ids: Vec<Uuid> = texts.iter().map(|text| text.0).collect();
        let rows: Vec<Row> = sqlx::query_as(concat!(
            "select p.*, ",
            document!("$2"),
            ", coalesce((select jsonb_agg(to_jsonb(s)) from (",
            stops!("$3"),
            ") s), '[]') as stops from casinos, lateral (",
            pending!("= any($1)"),
            ") p"
        ))
        .bind(ids)
        .bind(held.as_ref().map(|held| held.version))
        .bind(casino)
        .fetch_all(self.conn())
        .await?;
        let found = |row: Row| {
            let config = self.casino_of(row.document, held.clone())?.config;
            let text = OutboundId(row.pending.outbound_id);
            Ok((text, PendingSend { pending: row.pending, config, stops: row.stops.0 }))
        };
        rows.into_iter().map(found).collect()
    }
}
