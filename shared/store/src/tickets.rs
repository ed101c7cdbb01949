//! Tickets of website guests who wait for a person (WID-20, WID-21). The database refuses every
//! change of state that the design does not allow.

use chrono::{DateTime, Utc};
use seven_domain::{ConversationId, TicketState};
use sqlx::FromRow;
use uuid::Uuid;

use crate::{Result, Tx};

#[derive(Debug, Clone, PartialEq, Eq, FromRow)]
pub struct Ticket {
    pub ticket_id: Uuid,
    /// The number that the guest reads.
    pub number: i64,
    pub conversation_id: Uuid,
    pub state: TicketState,
    pub reason: String,
    pub opened_at: DateTime<Utc>,
    pub resolved_by: Option<String>,
    pub resolve_key: Option<String>,
}

impl Tx {
    /// Makes the conversation's ticket wait for a person, or opens a ticket with the casino's next
    /// number. Returns the ticket's number. The caller must have locked the conversation.
    pub async fn await_person(
        &mut self,
        ticket: Uuid,
        conversation: ConversationId,
        reason: &str,
    ) -> Result<i64> {
        let casino = self.casino_str();
        // The ticket may be resolved already when a message that was held is handled. The database
        // refuses the move from resolved to waiting, so a resolved ticket is reopened first.
        self.reopen_ticket(conversation).await?;
        let known: Option<i64> = sqlx::query_scalar(
            "update tickets set state = 'pending_human', reason = $2, resolved_at = null, resolved_by = null, resolve_key = null
             where conversation_id = $1 and state <> 'closed' returning number",
        )
        .bind(conversation.0)
        .bind(reason)
        .fetch_optional(self.conn())
        .await?;
        if let Some(number) = known {
            return Ok(number);
        }
        // Two conversations may open a ticket at the same time. The lock makes them take different
        // numbers.
        sqlx::query("select pg_advisory_xact_lock(hashtextextended('ticket ' || $1, 0))")
            .bind(&casino)
            .execute(self.conn())
            .await?;
        Ok(sqlx::query_scalar(
            "insert into tickets (casino_id, ticket_id, number, conversation_id, state, reason)
             select $1, $2, coalesce(max(number), 0) + 1, $3, 'pending_human', $4 from tickets returning number",
        )
        .bind(casino)
        .bind(ticket)
        .bind(conversation.0)
        .bind(reason)
        .fetch_one(self.conn())
        .await?)
    }

    /// Returns the ticket with this id; `None` if the bound casino has none.
    pub async fn ticket(&mut self, ticket: Uuid) -> Result<Option<Ticket>> {
        Ok(sqlx::query_as("select ticket_id, number, conversation_id, state, reason, opened_at, resolved_by, resolve_key from tickets where ticket_id = $1")
            .bind(ticket)
            .fetch_optional(self.conn())
            .await?)
    }

    /// Resolves the conversation's ticket, if it waits for a person. `by` is the person who
    /// answered, or `None` if the pause ended without an answer.
    pub async fn resolve_ticket(
        &mut self,
        conversation: ConversationId,
        by: Option<&str>,
        key: Option<&str>,
    ) -> Result<()> {
        sqlx::query(
            "update tickets set state = 'resolved', resolved_at = now(), resolved_by = $2, resolve_key = $3
             where conversation_id = $1 and state = 'pending_human'",
        )
        .bind(conversation.0)
        .bind(by)
        .bind(key)
        .execute(self.conn())
        .await?;
        Ok(())
    }

    /// Opens a resolved ticket again, because the guest wrote.
    pub async fn reopen_ticket(&mut self, conversation: ConversationId) -> Result<()> {
        sqlx::query(
            "update tickets set state = 'open' where conversation_id = $1 and state = 'resolved'",
        )
        .bind(conversation.0)
        .execute(self.conn())
        .await?;
        Ok(())
    }

    /// Closes open tickets whose guest wrote nothing for a day; returns how many. A ticket that
    /// waits for a person stays as it is.
    pub async fn close_idle_tickets(&mut self) -> Result<u64> {
        let done = sqlx::query(
            "update tickets ticket set state = 'closed' from conversations talk
             where talk.conversation_id = ticket.conversation_id and ticket.state = 'open'
               and talk.last_inbound_at < now() - interval '24 hours' and ticket.opened_at < now() - interval '24 hours'",
        )
        .execute(self.conn())
        .await?;
        Ok(done.rows_affected())
    }
}
