//! Validated types that all other crates use: ids, phone, casino, language, message classes, clock.
//!
//! The crate does no I/O and never prints a phone number, name or message text (`Debug` of
//! [`PhoneE164`] is masked).

mod column;

pub mod address;
mod audit;
pub mod campaign;
pub mod case;
pub mod casino;
pub mod channel;
pub mod clock;
pub mod config;
pub mod contact;
pub mod content;
pub mod flags;
pub mod guest;
pub mod helpline;
pub mod ids;
pub mod incident;
pub mod language;
mod log_level;
pub mod message;
pub mod offer;
pub mod phone;
mod providers;
pub mod sending;
pub mod staff;
pub mod trace;
mod web_domains;

#[cfg(feature = "sqlx")]
#[doc(hidden)]
pub use sqlx;

pub use address::Address;
pub use audit::{AuditEvent, Severity};
pub use campaign::{CampaignState, ListedState};
pub use case::{CaseSeverity, CaseSource, TicketState};
pub use casino::{CasinoId, CasinoStatus, FLEET, UNKNOWN_CASINO};
pub use channel::{Channel, ChannelProfile, ReplyLength};
pub use clock::{Clock, TimeScale};
pub use config::CasinoConfig;
pub use contact::{ContactChannel, LetterKind, OutageKind};
pub use content::{ContentFinding, ContentSource, RevisionState};
pub use guest::{
    ConsentTier, DeletionState, DisclosureKind, GuestStatus, MaterialChange, NumberCheck,
    OptOutReason, PromptState, SuppressionState,
};
pub use ids::{
    AttemptId, CampaignId, ContactId, ConversationId, DeadId, GuestId, IdSource, InboundId,
    OfferId, OperatorId, OutboundId, TurnId,
};
pub use incident::{Containment, IncidentKind, IncidentSeverity, IncidentState};
pub use language::Language;
pub use log_level::LogLevel;
pub use message::{
    AttemptOutcome, DeadOrder, DeadState, Disposition, HeldDecision, Lane, MessageClass,
    OutboundState, Queue, Stage, TurnState,
};
pub use offer::{Offer, OfferCall, OfferStatus, OfferTier};
pub use phone::{GuestHash, HashKey, HashKeys, PhoneE164};
pub use providers::{PROVIDERS, TELNYX, TWILIO, WEB};
pub use staff::{LinkPurpose, OperatorStatus, Role};
pub use trace::TraceContext;
pub use web_domains::{BadDomain, Domains};

/// A value that could not be parsed, with the problem and the expected form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}: {problem}; expected {expected}")]
pub struct Invalid {
    pub what: &'static str,
    pub problem: String,
    pub expected: &'static str,
}

impl Invalid {
    pub fn new(what: &'static str, problem: impl Into<String>, expected: &'static str) -> Self {
        Self {
            what,
            problem: problem.into(),
            expected,
        }
    }
}
