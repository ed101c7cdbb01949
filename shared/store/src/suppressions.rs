//! STOP and START of guests (D7). The guest's latest request is in force, by the provider's
//! `occurred_at`. If two requests have the same time, STOP is in force.

use chrono::{DateTime, Utc};
use seven_domain::{GuestHash, SuppressionState};
use sqlx::FromRow;

use crate::{Result, Tx};

/// Result of applying a STOP or START.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Applied {
    /// The state changed to the one that the guest requested.
    Changed,
    /// A newer request is in force; nothing changed.
    Superseded,
    /// The requested state was in force already.
    Repeat,
}

/// The way in which the guest asked for a STOP or START (SMS-20, C-6). The way decides whether one
/// START is enough to opt in again, and whether the provider blocks the number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Word<'a> {
    /// One of [`crate::consent::method`].
    pub method: &'a str,
    /// Whether the provider knows this word, too, and itself blocks or unblocks the number.
    pub provider_knows: bool,
}

/// The STOP or START in force for a guest.
#[derive(Debug, Clone, PartialEq, Eq, FromRow, serde::Serialize)]
pub struct Suppression {
    pub state: SuppressionState,
    pub as_of: DateTime<Utc>,
    pub method: String,
    pub provider_knows: bool,
    pub provider_blocked: bool,
    /// When the guest was asked whether they want no more texts; `None` if not asked or already
    /// answered. Until the guest answers, no proactive text is sent (D20).
    pub asked_at: Option<DateTime<Utc>>,
}

/// A STOP as it was received.
#[derive(Debug, Clone, FromRow)]
pub struct SaidStop {
    pub phone: String,
    pub casino_number: String,
    pub occurred_at: DateTime<Utc>,
    pub event_id: String,
    pub method: String,
}

/// Effect of the provider's report "this number opted out" (40300; C-6, C-10).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sync {
    /// The opt-out was new to us; the guest is suppressed now.
    Suppressed,
    /// The guest opted in again with a word that the provider does not know, so the provider still
    /// blocks the number. We report the block and send nothing.
    Blocked,
    /// The guest's opt-out was known already.
    Known,
    /// The guest made a newer request, which stays in force.
    Older,
}

impl Tx {
    /// Records a STOP. A STOP and a pre-send check of the same guest wait for each other, because
    /// both lock the guest's suppression row.
    pub async fn stop(
        &mut self,
        guest: &GuestHash,
        as_of: DateTime<Utc>,
        event_id: &str,
        word: Word<'_>,
    ) -> Result<Applied> {
        self.put_suppression(guest, SuppressionState::Stopped, as_of, event_id, word)
            .await
    }

    /// Records a START, which lifts the suppression. Only the gate calls this.
    pub async fn start(
        &mut self,
        guest: &GuestHash,
        as_of: DateTime<Utc>,
        event_id: &str,
        word: Word<'_>,
    ) -> Result<Applied> {
        self.put_suppression(guest, SuppressionState::OptedIn, as_of, event_id, word)
            .await
    }

    async fn put_suppression(
        &mut self,
        guest: &GuestHash,
        state: SuppressionState,
        as_of: DateTime<Utc>,
        event_id: &str,
        word: Word<'_>,
    ) -> Result<Applied> {
        let casino = self.casino_str();
        let before: Option<(SuppressionState, DateTime<Utc>, String)> = sqlx::query_as(
            "select state, as_of, event_id from suppressions where key_id = $1 and phone_hash = $2 for update",
        )
        .bind(guest.key_id)
        .bind(&guest.bytes[..])
        .fetch_optional(self.conn())
        .await?;
        let changed = sqlx::query(PUT)
            .bind(casino)
            .bind(guest.key_id)
            .bind(&guest.bytes[..])
            .bind(state)
            .bind(as_of)
            .bind(event_id)
            .bind(word.method)
            .bind(word.provider_knows)
            .execute(self.conn())
            .await?
            .rows_affected()
            == 1;
        Ok(match before {
            // If the row already has this event, ingress wrote the event before the gate. The gate
            // gets the result of that first write.
            Some((_, _, event)) if event == event_id => Applied::Changed,
            Some((was, ..)) if was == state => Applied::Repeat,
            _ if changed => Applied::Changed,
            _ => Applied::Superseded,
        })
    }

    /// Returns the STOP or START in force, and locks its row until the transaction ends.
    pub async fn suppression(&mut self, guest: &GuestHash) -> Result<Option<Suppression>> {
        Ok(
            sqlx::query_as("select state, as_of, method, provider_knows, provider_blocked, asked_at from suppressions where key_id = $1 and phone_hash = $2 for update")
                .bind(guest.key_id)
                .bind(&guest.bytes[..])
                .fetch_optional(self.conn())
                .await?,
        )
    }

    /// Records that the guest is asked whether they want no more texts; returns false if they were
    /// asked before or are opted out.
    pub async fn ask_about_opt_out(
        &mut self,
        guest: &GuestHash,
        at: DateTime<Utc>,
    ) -> Result<bool> {
        let asked = "update suppressions set asked_at = $3
                     where key_id = $1 and phone_hash = $2 and asked_at is null and state <> 'stopped'";
        let asked = sqlx::query(asked)
            .bind(guest.key_id)
            .bind(&guest.bytes[..])
            .bind(at)
            .execute(self.conn())
            .await?;
        Ok(asked.rows_affected() == 1)
    }

    /// Records the guest's answer that they still want texts; returns false if nothing was asked.
    pub async fn keep_texts(&mut self, guest: &GuestHash) -> Result<bool> {
        let kept = "update suppressions set asked_at = null where key_id = $1 and phone_hash = $2 and asked_at is not null";
        let kept = sqlx::query(kept)
            .bind(guest.key_id)
            .bind(&guest.bytes[..])
            .execute(self.conn())
            .await?;
        Ok(kept.rows_affected() == 1)
    }

    /// Applies the provider's report that a send, called at `called_at`, was refused because the
    /// guest opted out.
    pub async fn provider_says_stopped(
        &mut self,
        guest: &GuestHash,
        called_at: DateTime<Utc>,
    ) -> Result<Sync> {
        let sync = match self.suppression(guest).await? {
            Some(now) if now.state == SuppressionState::Stopped => Sync::Known,
            Some(now) if now.as_of >= called_at => Sync::Older,
            Some(now) if now.state == SuppressionState::OptedIn && !now.provider_knows => {
                Sync::Blocked
            }
            _ => Sync::Suppressed,
        };
        match sync {
            Sync::Older => {}
            Sync::Suppressed => {
                let word = Word {
                    method: crate::consent::method::PROVIDER_BLOCK,
                    provider_knows: true,
                };
                self.stop(
                    guest,
                    called_at,
                    &format!("provider-block:{called_at}"),
                    word,
                )
                .await?;
            }
            Sync::Known | Sync::Blocked => {
                sqlx::query(
                    "update suppressions set provider_knows = provider_knows or state = 'stopped', provider_blocked = (state <> 'stopped')
                     where key_id = $1 and phone_hash = $2",
                )
                .bind(guest.key_id)
                .bind(&guest.bytes[..])
                .execute(self.conn())
                .await?;
            }
        }
        Ok(sync)
    }

    /// Adds the suppression row of a new guest. Without this row, the pre-send check refuses texts
    /// with `safety_state_missing`.
    pub async fn ensure_suppression_row(&mut self, guest: &GuestHash) -> Result<()> {
        let casino = self.casino_str();
        sqlx::query(
            "insert into suppressions (casino_id, key_id, phone_hash, state, as_of, event_id) values ($1, $2, $3, 'clear', to_timestamp(0), '')
             on conflict do nothing",
        )
        .bind(casino)
        .bind(guest.key_id)
        .bind(&guest.bytes[..])
        .execute(self.conn())
        .await?;
        Ok(())
    }

    /// Returns the STOP in this inbound text; the caller applies it at other casinos. `None` if the
    /// guest was erased since, or has no phone.
    pub async fn said_stop(&mut self, inbound: uuid::Uuid) -> Result<Option<SaidStop>> {
        Ok(sqlx::query_as(
            "select g.phone, coalesce(i.casino_number, c.casino_number) as casino_number, i.occurred_at, i.event_id, s.method
             from inbound_messages i join guests g on g.guest_id = i.guest_id join conversations c on c.conversation_id = i.conversation_id
             join suppressions s on s.key_id = g.key_id and s.phone_hash = g.phone_hash
             where i.inbound_id = $1 and g.phone is not null",
        )
        .bind(inbound)
        .fetch_optional(self.conn())
        .await?)
    }

    /// Returns whether the STOP or START in force came with this event.
    pub async fn has_word(&mut self, guest: &GuestHash, event_id: &str) -> Result<bool> {
        let query = "select exists (select 1 from suppressions where key_id = $1 and phone_hash = $2 and event_id = $3)";
        let query = sqlx::query_scalar(query)
            .bind(guest.key_id)
            .bind(&guest.bytes[..])
            .bind(event_id);
        Ok(query.fetch_one(self.conn()).await?)
    }

    /// Returns whether the guest is opted out.
    pub async fn is_stopped(&mut self, guest: &GuestHash) -> Result<bool> {
        let state: Option<SuppressionState> = sqlx::query_scalar(
            "select state from suppressions where key_id = $1 and phone_hash = $2",
        )
        .bind(guest.key_id)
        .bind(&guest.bytes[..])
        .fetch_optional(self.conn())
        .await?;
        Ok(state == Some(SuppressionState::Stopped))
    }
}

/// Stores a request if it is later than the stored one, or if it is a STOP with the same time (D7).
/// If the guest repeats a request, the row keeps the event id of the first one, so that only the
/// first is confirmed. It also keeps the method `natural_language`, and that the provider knows of
/// the request.
const PUT: &str = include_str!("../sql/put_suppression.sql");
