//! Inbound texts from guests, each ending in one disposition (D4).

use std::{collections::BTreeMap, time::Duration};

use chrono::{DateTime, Utc};
use serde::Deserialize;
use seven_domain::{
    Channel, ConversationId, Disposition, GuestHash, InboundId, OutboundId, flags::Rule,
};
use sqlx::{FromRow, types::Json};
use uuid::Uuid;

use crate::{
    Result, Tx,
    audit::Entry,
    casinos::{Casino, Document},
    controls::Switch,
    flags,
    guests::Party,
};

/// An inbound text to store.
#[derive(Debug, Clone)]
pub struct NewInbound {
    pub inbound_id: InboundId,
    pub channel: Channel,
    pub provider: String,
    pub provider_message_id: String,
    /// The casino's number that the guest wrote to.
    pub casino_number: String,
    pub event_id: String,
    pub body: String,
    pub media_count: i32,
    pub autoresponse: Option<String>,
    pub occurred_at: DateTime<Utc>,
    pub received_at: DateTime<Utc>,
    pub stream_seq: Option<i64>,
    pub verdict: String,
    pub pattern_id: Option<String>,
    /// A silence longer than this begins a new session (CONV-22, C-16).
    pub session_hours: i32,
    pub trace: String,
}

/// A stored text that a webhook delivers once more.
#[derive(Debug, Clone)]
pub struct Known {
    pub inbound_id: InboundId,
    pub conversation_id: ConversationId,
    pub disposition: Disposition,
    pub disposition_ref: Option<Uuid>,
    pub trace: String,
}

/// One text waiting for its answer.
#[derive(Debug, Clone, FromRow, Deserialize)]
pub struct OpenText {
    pub inbound_id: Uuid,
    pub body: String,
    /// The time since which the guest has waited for the host. This is when the text was received,
    /// or when it was handed back to the host after a pause.
    pub since: DateTime<Utc>,
    pub tries: i32,
    pub trace: String,
    /// Seconds since the text was stored, by the database's clock.
    pub age: f64,
    /// Whether the text was kept for a person and then handed back to the host.
    pub released: bool,
}

/// A text that the guest sent before the current one.
#[derive(Debug, Clone, FromRow)]
pub struct Earlier {
    pub body: String,
    pub disposition: Disposition,
    pub reason: Option<String>,
    /// Seconds from our last text before this one to this text; `None` if we had sent none.
    pub after_ours: Option<f64>,
    /// Whether we sent the guest a text after this one.
    pub sent_since: bool,
}

/// The casino and the open texts of a conversation for which a signal arrived.
#[derive(Debug)]
pub struct Waiting {
    pub casino: Casino,
    /// `None` if there is no such conversation.
    pub channel: Option<Channel>,
    pub open: Vec<OpenText>,
    /// Switches that are on for the casino (D14).
    pub switched: Vec<Switch>,
    /// The flag rules in force for the casino (DEP-23).
    pub flags: BTreeMap<String, Rule>,
}

const INSERT_INBOUND: &str = include_str!("../sql/insert_inbound.sql");

impl Tx {
    /// Stores the text with its audit entry and its session. Returns false when (casino, provider,
    /// provider message id) is already stored; this key alone decides what is a duplicate (D2).
    pub async fn insert_inbound(
        &mut self,
        party: &Party,
        text: &NewInbound,
        entry: &Entry<'_>,
    ) -> Result<bool> {
        let (casino, base) = (self.casino_str(), self.sweep_base());
        Ok(sqlx::query_scalar(INSERT_INBOUND)
            .bind(casino)
            .bind(text.inbound_id.0)
            .bind(party.conversation_id.0)
            .bind(party.guest_id.0)
            .bind(text.channel)
            .bind(&text.provider)
            .bind(&text.provider_message_id)
            .bind(&text.event_id)
            .bind(&text.body)
            .bind(text.media_count)
            .bind(&text.autoresponse)
            .bind(text.occurred_at)
            .bind(text.received_at)
            .bind(text.stream_seq)
            .bind(&text.verdict)
            .bind(&text.pattern_id)
            .bind(&text.trace)
            .bind(base)
            .bind(&text.casino_number)
            .bind(text.session_hours)
            .bind(entry.actor)
            .bind(entry.event)
            .bind(entry.event.severity().as_str())
            .bind(entry.guest.map(GuestHash::tag))
            .bind(&entry.detail)
            .fetch_one(self.conn())
            .await?)
    }

    /// Returns the stored row of a provider message.
    pub async fn known_inbound(
        &mut self,
        provider: &str,
        provider_message_id: &str,
    ) -> Result<Option<Known>> {
        let row: Option<(Uuid, Uuid, Disposition, Option<Uuid>, String)> = sqlx::query_as(
            "select inbound_id, conversation_id, disposition, disposition_ref, trace from inbound_messages where provider = $1 and provider_message_id = $2",
        )
        .bind(provider)
        .bind(provider_message_id)
        .fetch_optional(self.conn())
        .await?;
        Ok(row.map(
            |(id, conversation, disposition, disposition_ref, trace)| Known {
                inbound_id: InboundId(id),
                conversation_id: ConversationId(conversation),
                disposition,
                disposition_ref,
                trace,
            },
        ))
    }

    /// Returns at most four of the guest's texts received since `since`, newest first, without the
    /// text `except`. Searches only the newest twenty texts of the guest in the conversation, so
    /// that a long conversation costs no more than a short one.
    pub async fn earlier_texts(
        &mut self,
        conversation: ConversationId,
        except: InboundId,
        since: DateTime<Utc>,
    ) -> Result<Vec<Earlier>> {
        Ok(sqlx::query_as(
            "select i.body, i.disposition, i.reason,
               (select extract(epoch from i.received_at - o.sent_at)::float8 from outbound_messages o
                where o.conversation_id = $1 and o.sent_at <= i.received_at order by o.seq desc limit 1) as after_ours,
               coalesce((select o.sent_at from outbound_messages o where o.conversation_id = $1 and o.sent_at is not null
                         order by o.seq desc limit 1) > i.received_at, false) as sent_since
             from (select * from inbound_messages where conversation_id = $1 and inbound_id <> $2
                   order by arrival desc limit 20) i
             where i.received_at >= $3 order by i.received_at desc, i.arrival desc limit 4",
        )
        .bind(conversation.0)
        .bind(except.0)
        .bind(since)
        .fetch_all(self.conn())
        .await?)
    }

    /// Returns the seconds from our last text to the guest until `at`; `None` if we sent none.
    pub async fn seconds_since_ours(
        &mut self,
        conversation: ConversationId,
        at: DateTime<Utc>,
    ) -> Result<Option<f64>> {
        let query = "select extract(epoch from $2 - sent_at)::float8 from outbound_messages
                     where conversation_id = $1 and sent_at <= $2 order by seq desc limit 1";
        Ok(sqlx::query_scalar(query)
            .bind(conversation.0)
            .bind(at)
            .fetch_optional(self.conn())
            .await?)
    }

    /// Returns the kind of our last text that was sent or is about to be sent.
    pub async fn last_said(&mut self, conversation: ConversationId) -> Result<Option<String>> {
        let query = "select kind from outbound_messages where conversation_id = $1 and state not in ('suppressed', 'expired')
                     order by seq desc limit 1";
        Ok(sqlx::query_scalar(query)
            .bind(conversation.0)
            .fetch_optional(self.conn())
            .await?)
    }

    /// Returns whether a text of this kind was created within the last `within`, and was sent or is
    /// about to be sent.
    pub async fn said_within(
        &mut self,
        conversation: ConversationId,
        kind: &str,
        within: Duration,
    ) -> Result<bool> {
        let query = "select exists (select 1 from outbound_messages where conversation_id = $1 and kind = $2
                     and created_at > now() - make_interval(secs => $3) and state not in ('suppressed', 'expired', 'failed', 'undelivered'))";
        let query = sqlx::query_scalar(query)
            .bind(conversation.0)
            .bind(kind)
            .bind(within.as_secs_f64());
        Ok(query.fetch_one(self.conn()).await?)
    }

    /// Returns the bodies of our last texts to the guest, newest first.
    pub async fn last_texts(&mut self, guest: &GuestHash, most: i64) -> Result<Vec<String>> {
        let query = "select o.body from outbound_messages o join guests g on g.guest_id = o.guest_id
                     where g.key_id = $1 and g.phone_hash = $2 and o.sent_at is not null order by o.created_at desc limit $3";
        Ok(sqlx::query_scalar(query)
            .bind(guest.key_id)
            .bind(&guest.bytes[..])
            .bind(most)
            .fetch_all(self.conn())
            .await?)
    }

    /// Returns the bodies of our last texts in the conversation until `before`, newest first.
    pub async fn last_texts_in(
        &mut self,
        conversation: ConversationId,
        before: DateTime<Utc>,
        most: i64,
    ) -> Result<Vec<String>> {
        let query = "select body from outbound_messages where conversation_id = $1 and sent_at <= $2 order by created_at desc limit $3";
        Ok(sqlx::query_scalar(query)
            .bind(conversation.0)
            .bind(before)
            .bind(most)
            .fetch_all(self.conn())
            .await?)
    }

    /// Returns all open texts of a conversation in the order in which the guest wrote them.
    /// Webhooks can arrive, and be stored, out of order.
    pub async fn open_texts(&mut self, conversation: ConversationId) -> Result<Vec<OpenText>> {
        Ok(sqlx::query_as(include_str!("../sql/open_texts.sql"))
            .bind(conversation.0)
            .fetch_all(self.conn())
            .await?)
    }

    /// Closes one open text with this disposition. Returns false if the text was not open.
    pub async fn close_inbound(
        &mut self,
        id: InboundId,
        disposition: Disposition,
        reference: Option<Uuid>,
        reason: Option<&str>,
    ) -> Result<bool> {
        let done = sqlx::query(
            "update inbound_messages set disposition = $2, disposition_ref = $3, reason = $4, closed_at = now()
             where inbound_id = $1 and disposition = 'open'",
        )
        .bind(id.0)
        .bind(disposition)
        .bind(reference)
        .bind(reason)
        .execute(self.conn())
        .await?;
        Ok(done.rows_affected() == 1)
    }

    /// Closes every open text of a conversation except `except` (after STOP, DELETE or a crisis).
    /// Texts kept for a person are closed too.
    pub async fn close_open_texts(
        &mut self,
        conversation: ConversationId,
        except: InboundId,
        reason: &str,
    ) -> Result<u64> {
        let done = sqlx::query(
            "update inbound_messages set disposition = 'closed', reason = $3, closed_at = now()
             where conversation_id = $1 and inbound_id <> $2 and disposition in ('open', 'held')",
        )
        .bind(conversation.0)
        .bind(except.0)
        .bind(reason)
        .execute(self.conn())
        .await?;
        Ok(done.rows_affected())
    }

    /// Returns the bound casino, if it exists, and the open texts of a conversation. Also returns
    /// the switches and flags that operators set.
    pub async fn waiting(&mut self, conversation: ConversationId) -> Result<Option<Waiting>> {
        #[derive(FromRow)]
        struct Row {
            #[sqlx(flatten)]
            document: Document,
            channel: Option<Channel>,
            open: Json<Vec<OpenText>>,
            switched: Vec<Switch>,
            flags: Option<Json<BTreeMap<String, serde_json::Value>>>,
        }
        let held = self.held_document();
        let row: Option<Row> = sqlx::query_as(include_str!("../sql/waiting.sql"))
            .bind(conversation.0)
            .bind(held.as_ref().map(|held| held.version))
            .fetch_optional(self.conn())
            .await?;
        let Some(row) = row else { return Ok(None) };
        Ok(Some(Waiting {
            casino: self.casino_of(row.document, held)?,
            channel: row.channel,
            open: row.open.0,
            switched: row.switched,
            flags: flags::read(row.flags.map(|Json(rules)| rules).unwrap_or_default()),
        }))
    }

    /// Marks open texts as parked: the guest gets the text `fallback` in place of an answer.
    /// `reason` is the error that prevented the answer. Returns how many were parked.
    pub async fn park_texts(
        &mut self,
        ids: &[Uuid],
        fallback: OutboundId,
        reason: &str,
    ) -> Result<u64> {
        let done = sqlx::query(
            "update inbound_messages set disposition = 'parked', disposition_ref = $2, reason = $3, closed_at = now()
             where inbound_id = any($1) and disposition = 'open'",
        )
        .bind(ids)
        .bind(fallback.0)
        .bind(reason)
        .execute(self.conn())
        .await?;
        Ok(done.rows_affected())
    }

    /// Counts a failure that concerns only these texts (D16); returns the number of tries so far.
    pub async fn count_try(&mut self, ids: &[Uuid], error: &str) -> Result<i32> {
        let tries: Option<i32> =
            sqlx::query_scalar("with t as (update inbound_messages set tries = tries + 1, last_error = $2 where inbound_id = any($1) returning tries) select max(tries) from t")
                .bind(ids)
                .bind(error)
                .fetch_one(self.conn())
                .await?;
        Ok(tries.unwrap_or_default())
    }
}
