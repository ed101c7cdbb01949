//! A text to queue: its recipient, its origin and its words.

use std::time::Duration;

use chrono::{DateTime, Utc};
use seven_domain::{
    CampaignId, ConversationId, GuestId, InboundId, MessageClass, OutboundId, TurnId,
};
use uuid::Uuid;

/// The guest who gets a text, and the conversation that it belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recipient {
    pub conversation_id: ConversationId,
    pub guest_id: GuestId,
}

/// Where a text comes from. No two rows have the same origin and part number, so a stage that is
/// repeated does not write a second row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    Turn(TurnId),
    /// A text of the pack, named by `key`, that answers an inbound text without a turn.
    Canned {
        inbound: InboundId,
        key: &'static str,
    },
    /// A text that a person wrote; no stage repeats it.
    Person,
    /// A code or a notice to a phone of staff; the string is its kind. The caller stores the row's
    /// id.
    Staff(&'static str),
    /// A campaign, which sends each guest one text.
    Campaign(CampaignId),
}

/// An outbound text to queue. [`NewOutbound::new`] takes what every text needs; the setters change
/// the rest.
#[derive(Debug, Clone)]
pub struct NewOutbound {
    pub outbound_id: OutboundId,
    pub to: Recipient,
    pub origin: Origin,
    pub class: MessageClass,
    pub body: String,
    /// Time from now after which the text is not worth sending, by the database's clock.
    pub useful_for: Duration,
    /// The part's number, from 1, and the number of parts.
    pub part: i32,
    pub parts: i32,
    /// The author of the text: an agent, a worker, or the kind of the origin.
    pub agent: String,
    /// When we received the inbound text that this text answers; `None` if it answers no text.
    pub answers_at: Option<DateTime<Utc>>,
    /// Delay from now until the text may be sent, by the database's clock.
    pub delay: Duration,
    pub trace: String,
}

// === impl Origin ===

impl Origin {
    /// Returns the value of the row's column `kind`.
    pub fn kind(self) -> &'static str {
        match self {
            Self::Turn(_) => "turn",
            Self::Canned { key, .. } => key,
            Self::Person => "person",
            Self::Staff(kind) => kind,
            Self::Campaign(_) => "campaign",
        }
    }

    /// Returns the ids of turn, inbound text and campaign, as the row has them.
    pub(super) fn ids(self) -> (Option<Uuid>, Option<Uuid>, Option<Uuid>) {
        match self {
            Self::Turn(turn) => (Some(turn.0), None, None),
            Self::Canned { inbound, .. } => (None, Some(inbound.0), None),
            Self::Person | Self::Staff(_) => (None, None, None),
            Self::Campaign(campaign) => (None, None, Some(campaign.0)),
        }
    }
}

// === impl NewOutbound ===

impl NewOutbound {
    /// Creates a text in one part that is due at once and answers no inbound text.
    pub fn new(
        outbound_id: OutboundId,
        to: Recipient,
        origin: Origin,
        class: MessageClass,
        body: String,
        useful_for: Duration,
    ) -> Self {
        Self {
            outbound_id,
            to,
            origin,
            class,
            body,
            useful_for,
            part: 1,
            parts: 1,
            agent: origin.kind().to_owned(),
            answers_at: None,
            delay: Duration::ZERO,
            trace: String::new(),
        }
    }

    #[must_use]
    pub fn part(self, part: i32, parts: i32) -> Self {
        Self {
            part,
            parts,
            ..self
        }
    }

    #[must_use]
    pub fn agent(self, agent: &str) -> Self {
        Self {
            agent: agent.to_owned(),
            ..self
        }
    }

    #[must_use]
    pub fn answers_at(self, received: Option<DateTime<Utc>>) -> Self {
        Self {
            answers_at: received,
            ..self
        }
    }

    #[must_use]
    pub fn delay(self, delay: Duration) -> Self {
        Self { delay, ..self }
    }

    #[must_use]
    pub fn trace(self, trace: &str) -> Self {
        Self {
            trace: trace.to_owned(),
            ..self
        }
    }
}
