//! Data of a queued text that the sender reads before the pre-send check.

use std::{collections::HashMap, sync::Arc};

use chrono::{DateTime, Utc};
use seven_domain::{CasinoConfig, Channel, MessageClass, OutboundId, OutboundState};
use sqlx::{FromRow, types::Json};
use uuid::Uuid;

use crate::{Result, Tx, casinos::Document, providers::Stop};

/// Data of a queued text that the sender needs before the pre-send check: when to send, how many
/// segments, from which number.
#[derive(Debug, Clone, FromRow)]
pub struct Pending {
    pub outbound_id: Uuid,
    pub state: OutboundState,
    pub class: MessageClass,
    pub segments: i32,
    /// Seconds until `not_before`, never negative.
    pub wait: f64,
    pub channel: Channel,
    /// Empty on the web.
    pub casino_number: String,
    pub conversation_id: Uuid,
    pub tries: i32,
    pub key_id: i16,
    pub phone_hash: Vec<u8>,
    /// `None` for a guest of the website.
    pub phone: Option<String>,
    /// The time zone of the guest's home, from the guest's profile.
    pub zone: Option<String>,
    pub guest_state: Option<String>,
    /// When we received the inbound text that this text answers. `None` if the text answers no
    /// text, or if a person wrote it.
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

impl Tx {
    pub async fn pending(&mut self, outbound: OutboundId) -> Result<Option<Pending>> {
        Ok(sqlx::query_as(include_str!("../../sql/pending.sql"))
            .bind(outbound.0)
            .fetch_optional(self.conn())
            .await?)
    }

    /// Returns the texts that exist, each with all data needed before its pre-send check. Takes one
    /// query.
    pub async fn pending_here(
        &mut self,
        texts: &[OutboundId],
    ) -> Result<HashMap<OutboundId, PendingSend>> {
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
        let rows: Vec<Row> = sqlx::query_as(include_str!("../../sql/pending_here.sql"))
            .bind(ids)
            .bind(held.as_ref().map(|held| held.version))
            .bind(casino)
            .fetch_all(self.conn())
            .await?;
        let found = |row: Row| {
            let config = self.casino_of(row.document, held.clone())?.config;
            let text = OutboundId(row.pending.outbound_id);
            Ok((
                text,
                PendingSend {
                    pending: row.pending,
                    config,
                    stops: row.stops.0,
                },
            ))
        };
        rows.into_iter().map(found).collect()
    }
}
