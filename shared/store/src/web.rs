//! Data for a guest's stream on the web (D33): the delivered messages of the conversation, in the
//! order in which they became visible, and whether an answer is being made.

use chrono::{DateTime, Utc};
use seven_domain::{ConversationId, Disposition, GuestHash, Language, TicketState};
use sqlx::{FromRow, types::Json};
use uuid::Uuid;

use crate::{Result, Tx};

/// A visible message of ours.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize)]
pub struct WebMessage {
    /// Number of the message in its conversation, from 1 without gaps.
    pub seq: i64,
    pub body: String,
    /// Name of the pack's text, `turn`, or `person`.
    pub kind: String,
    pub agent: String,
    pub intent: Option<String>,
    /// Categories of the content that the reply is made from.
    pub sources: Vec<String>,
    pub sent_at: DateTime<Utc>,
}

/// The guest's message whose answer a stream waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, FromRow)]
pub struct Asked {
    pub inbound_id: Uuid,
    pub disposition: Disposition,
}

/// The messages that a stream has not written yet, and the conversation's present state.
#[derive(Debug, Clone)]
pub struct WebNews {
    /// The guest's message that the stream follows; `None` until the gate has stored it.
    pub asked: Option<Asked>,
    /// Whether an answer is being made: a text is open, or a reply is not delivered yet.
    pub busy: bool,
    /// Whether the conversation waits for a person.
    pub paused: bool,
    pub language: Option<Language>,
    /// Number of the ticket that waits for a person.
    pub ticket: Option<i64>,
    pub messages: Vec<WebMessage>,
    /// Whether there may be more messages than were read.
    pub more: bool,
}

/// The place in the conversation from which a stream reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadFrom {
    /// The message with this number and all after it.
    Seq(i64),
    /// The messages that became visible since the guest's message was stored.
    Answer,
}

/// A message in the history of a conversation, written by the guest or by us.
#[derive(Debug, Clone, PartialEq, Eq, FromRow)]
pub struct WebLine {
    /// Number of our message; `None` for the guest's.
    pub seq: Option<i64>,
    /// `guest`, `host` or `person`.
    pub author: String,
    pub body: String,
    pub sources: Json<Vec<String>>,
    pub at: DateTime<Utc>,
}

impl Tx {
    /// Returns at most `most` messages for a visitor, from `from` on, and the conversation's state.
    /// `message` is the provider message id of the guest's message that the stream follows. Returns
    /// `None` if the visitor has written nothing yet.
    pub async fn web_news(
        &mut self,
        guest: &GuestHash,
        message: Option<&str>,
        from: ReadFrom,
        most: u8,
    ) -> Result<Option<WebNews>> {
        #[derive(FromRow)]
        struct Row {
            language: Option<Language>,
            ticket: Option<i64>,
            paused: bool,
            busy: bool,
            inbound_id: Option<Uuid>,
            disposition: Option<Disposition>,
            messages: Json<Vec<WebMessage>>,
        }
        let seq = match from {
            ReadFrom::Seq(seq) => Some(seq),
            ReadFrom::Answer => None,
        };
        let row: Option<Row> = sqlx::query_as(include_str!("../sql/web_news.sql"))
            .bind(guest.key_id)
            .bind(&guest.bytes[..])
            .bind(message)
            .bind(seq)
            .bind(i64::from(most))
            .fetch_optional(self.conn())
            .await?;
        Ok(row.map(|row| WebNews {
            asked: row
                .inbound_id
                .zip(row.disposition)
                .map(|(inbound_id, disposition)| Asked {
                    inbound_id,
                    disposition,
                }),
            busy: row.busy,
            paused: row.paused,
            language: row.language,
            ticket: row.ticket,
            more: row.messages.0.len() >= usize::from(most),
            messages: row.messages.0,
        }))
    }

    /// Returns the number (`seq`) of each visitor's newest visible message. Visitors without a
    /// visible message are left out.
    pub async fn web_heads(
        &mut self,
        key_id: i16,
        guests: &[[u8; 32]],
    ) -> Result<Vec<([u8; 32], i64)>> {
        let hashes: Vec<&[u8]> = guests.iter().map(|guest| &guest[..]).collect();
        let rows: Vec<(Vec<u8>, i64)> = sqlx::query_as(
            "select guest.phone_hash, newest.seq from guests guest
             join conversations talk on talk.guest_id = guest.guest_id and talk.channel = 'web'
             cross join lateral (select max(web_seq) as seq from outbound_messages message
               where message.conversation_id = talk.conversation_id and message.web_seq is not null) newest
             where guest.key_id = $1 and guest.phone_hash = any($2) and newest.seq is not null",
        )
        .bind(key_id)
        .bind(hashes)
        .fetch_all(self.conn())
        .await?;
        let guest = |(hash, seq): (Vec<u8>, i64)| Some((hash.try_into().ok()?, seq));
        Ok(rows.into_iter().filter_map(guest).collect())
    }

    /// Returns the newest lines of a visitor's conversation, in the order in which they were
    /// written.
    pub async fn web_history(&mut self, guest: &GuestHash, most: i64) -> Result<Vec<WebLine>> {
        Ok(sqlx::query_as(include_str!("../sql/web_history.sql"))
            .bind(guest.key_id)
            .bind(&guest.bytes[..])
            .bind(most)
            .fetch_all(self.conn())
            .await?)
    }

    /// Returns whether guest and host together have written more than `most` messages in the
    /// conversation. Always false while the conversation is paused, because a person answers there.
    pub async fn is_full(&mut self, conversation: ConversationId, most: i64) -> Result<bool> {
        Ok(sqlx::query_scalar(
            "select paused_at is null and (select count(*) from inbound_messages where conversation_id = $1)
               + (select count(*) from outbound_messages where conversation_id = $1 and web_seq is not null) > $2
             from conversations where conversation_id = $1",
        )
        .bind(conversation.0)
        .bind(most)
        .fetch_one(self.conn())
        .await?)
    }

    /// Returns number and state of a visitor's newest ticket.
    pub async fn web_ticket(&mut self, guest: &GuestHash) -> Result<Option<(i64, TicketState)>> {
        Ok(sqlx::query_as(
            "select ticket.number, ticket.state from guests guest
             join conversations talk on talk.guest_id = guest.guest_id and talk.channel = 'web'
             join tickets ticket on ticket.conversation_id = talk.conversation_id
             where guest.key_id = $1 and guest.phone_hash = $2 order by ticket.number desc limit 1",
        )
        .bind(guest.key_id)
        .bind(&guest.bytes[..])
        .fetch_optional(self.conn())
        .await?)
    }

    /// Records that the visitor's page has shown the messages up to this number. Returns how many
    /// had not been shown before.
    pub async fn web_shown(&mut self, guest: &GuestHash, seq: i64) -> Result<u64> {
        let done = sqlx::query(
            "update outbound_messages message set state = 'delivered', ended_at = now()
             from conversations talk, guests guest
             where guest.key_id = $1 and guest.phone_hash = $2 and talk.guest_id = guest.guest_id and talk.channel = 'web'
               and message.conversation_id = talk.conversation_id and message.web_seq <= $3 and message.state = 'sent'",
        )
        .bind(guest.key_id)
        .bind(&guest.bytes[..])
        .bind(seq)
        .execute(self.conn())
        .await?;
        Ok(done.rows_affected())
    }
}
