//! Answers a ticket in a person's name: takes the conversation over, writes, and gives it back to
//! the host.

use seven_domain::{CasinoId, ConversationId, TicketState};
use seven_runtime::Fleet;
use uuid::Uuid;

use crate::desk::{self, Write, announce, go_on, take_over, write_down};

/// An answer to a ticket.
#[derive(Debug)]
pub struct Answer<'a> {
    pub casino: &'a CasinoId,
    pub ticket: Uuid,
    /// The person's name in the audit log.
    pub by: &'a str,
    pub words: &'a str,
    /// The caller's idempotency key of this answer; a repeated call with the same key changes
    /// nothing.
    pub key: Option<&'a str>,
}

/// The result of answering a ticket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resolved {
    pub number: i64,
    /// Whether an earlier call with the same key answered the ticket.
    pub repeated: bool,
}

/// Why a ticket was not answered.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    #[error("no such ticket")]
    Unknown,
    #[error("the ticket waits for nobody")]
    NotWaiting,
    /// The words cannot be sent.
    #[error(transparent)]
    Words(desk::Refused),
    #[error(transparent)]
    Store(#[from] seven_store::Error),
}

impl From<desk::Refused> for Refused {
    fn from(refused: desk::Refused) -> Self {
        match refused {
            desk::Refused::Store(error) => Self::Store(error),
            refused => Self::Words(refused),
        }
    }
}

/// Answers a ticket in one transaction. A call that is repeated after a crash then finds either the
/// whole answer or nothing.
///
/// # Errors
/// Fails when the ticket does not wait for a person, or the words cannot be sent; nothing is stored
/// then.
pub async fn resolve(fleet: &Fleet, answer: &Answer<'_>) -> Result<Resolved, Refused> {
    let mut tx = fleet.store.bind(answer.casino).await?;
    let ticket = tx.ticket(answer.ticket).await?.ok_or(Refused::Unknown)?;
    let conversation = ConversationId(ticket.conversation_id);
    // The ticket is read again under the conversation's lock, because another call may have
    // answered it first.
    tx.lock_conversation(conversation).await?;
    let ticket = tx.ticket(answer.ticket).await?.ok_or(Refused::Unknown)?;
    let number = ticket.number;
    if answer.key.is_some() && ticket.resolve_key.as_deref() == answer.key {
        return Ok(Resolved {
            number,
            repeated: true,
        });
    }
    if ticket.state != TicketState::PendingHuman {
        return Err(Refused::NotWaiting);
    }
    take_over(&mut tx, conversation, answer.by, "answers a ticket").await?;
    let write = Write {
        casino: answer.casino,
        conversation,
        by: answer.by,
        text: answer.words,
        read: None,
    };
    let written = write_down(fleet, &mut tx, &write).await?;
    tx.resolve_ticket(conversation, Some(answer.by), answer.key)
        .await?;
    let resumed = go_on(&mut tx, conversation, answer.by).await?;
    tx.commit().await?;
    written.signal(fleet, answer.casino).await;
    if let Some(resumed) = &resumed {
        announce(fleet, answer.casino, conversation, resumed).await;
    }
    Ok(Resolved {
        number,
        repeated: false,
    })
}
