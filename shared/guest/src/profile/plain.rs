//! The parts of a profile that we record ourselves, as opposed to facts that were observed about
//! the guest.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::VERSION;
use crate::{Confidence, Phase, Topic, escalation::Mood};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lifecycle {
    #[default]
    Active,
    Warm,
    Archived,
    PendingDeletion,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Meta {
    #[serde(rename = "_version", default = "current")]
    pub version: u32,
    #[serde(rename = "_created_at", default)]
    pub created_at: DateTime<Utc>,
    #[serde(rename = "_updated_at", default)]
    pub updated_at: DateTime<Utc>,
    #[serde(rename = "_lifecycle_status", default)]
    pub lifecycle: Lifecycle,
    #[serde(rename = "_lifecycle_transitioned_at", default)]
    pub lifecycle_at: Option<DateTime<Utc>>,
    #[serde(rename = "_archive_gcs_uri", default)]
    pub archive_uri: Option<String>,
    #[serde(default)]
    pub deletion_requested_at: Option<DateTime<Utc>>,
    /// The proof of age, kept in place of a date of birth, which is never stored.
    #[serde(default)]
    pub age_verified: Option<AgeVerified>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgeVerified {
    /// The age that was verified: over 18 or over 21.
    pub over: u8,
    pub at: DateTime<Utc>,
}

/// A copy of the guest's consents, for the agents; the consent chain is authoritative.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Consent {
    pub sms_opt_in: bool,
    pub sms_opt_in_method: Option<String>,
    pub sms_opt_in_timestamp: Option<DateTime<Utc>>,
    pub ai_disclosure_sent: bool,
    pub ai_disclosure_timestamp: Option<DateTime<Utc>>,
    pub marketing_consent: bool,
    pub data_retention_consent: bool,
    pub privacy_policy_link_sent: bool,
    pub consent_version: String,
}

/// Counters, and the state of the conversation with the guest.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Engagement {
    pub total_conversations: i64,
    pub total_messages_sent: i64,
    pub total_messages_received: i64,
    pub last_message_at: Option<DateTime<Utc>>,
    pub profile_completeness: Confidence,
    pub offers_sent: i64,
    pub offers_redeemed: i64,
    pub escalations: i64,
    pub sentiment_trend: Option<String>,
    pub conversation_phase: Phase,
    pub phase_entered_at: Option<DateTime<Utc>>,
    pub last_profiling_topic: Option<Topic>,
    /// Whether the guest showed a gambling problem. Only a person resets it, never the program.
    pub responsible_gaming_triggered: bool,
}

/// The amounts that one turn adds to a guest's counters.
#[derive(Debug, Clone, Copy)]
pub struct Counted {
    pub now: DateTime<Utc>,
    pub texts: usize,
    /// Whether this was the first turn of a session.
    pub fresh: bool,
    pub offers: usize,
    pub redeemed: usize,
    pub escalations: usize,
    pub mood: Option<Mood>,
}

impl Engagement {
    pub(super) fn count(&mut self, turn: &Counted, completeness: Confidence) {
        let add = |slot: &mut i64, more: usize| {
            *slot = slot.saturating_add(i64::try_from(more).unwrap_or(i64::MAX));
        };
        add(&mut self.total_conversations, usize::from(turn.fresh));
        add(&mut self.total_messages_received, turn.texts);
        add(&mut self.total_messages_sent, 1);
        add(&mut self.offers_sent, turn.offers);
        add(&mut self.offers_redeemed, turn.redeemed);
        add(&mut self.escalations, turn.escalations);
        self.last_message_at = Some(turn.now);
        self.sentiment_trend = turn
            .mood
            .map(|mood| mood.as_str().to_owned())
            .or(self.sentiment_trend.take());
        self.profile_completeness = completeness;
    }
}

impl Meta {
    pub(super) fn new(at: DateTime<Utc>) -> Self {
        Self {
            version: VERSION,
            created_at: at,
            updated_at: at,
            lifecycle: Lifecycle::Active,
            lifecycle_at: None,
            archive_uri: None,
            deletion_requested_at: None,
            age_verified: None,
        }
    }
}

fn current() -> u32 {
    VERSION
}
