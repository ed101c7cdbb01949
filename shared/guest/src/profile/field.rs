//! One profile field, with its confidence, source, consent and history.

use std::{collections::BTreeMap, fmt, str::FromStr};

use chrono::{DateTime, Utc};
use serde::{Deserialize, Deserializer, Serialize, de::Error};
use seven_domain::Invalid;
use uuid::Uuid;

use super::{Source, Value, merge::Evidence};
use crate::Confidence;

/// How many changes are kept per field; older ones are in the audit log.
pub(super) const HISTORY: usize = 20;

/// The use of a field to which the guest agreed. Nothing is shared with others, whatever the scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    #[default]
    Personalization,
    Marketing,
    Analytics,
    Sharing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConsentStatus {
    #[default]
    Granted,
    Withdrawn,
}

/// Reference to a consent grant, written as `consent_grant:{uuid}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct GrantRef(pub Uuid);

/// The consent under which an observation is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    pub scope: Scope,
    /// The data or the use that the consent names, such as `dining_preferences` or
    /// `email_campaigns`; may be empty.
    pub detail: String,
    pub reference: GrantRef,
    pub version: u32,
}

/// The version of the privacy notice under which a guest's words are kept.
pub const NOTICE: u32 = 1;

/// The kind of change to a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    Added,
    Confirmed,
    Extended,
    Contradicted,
    Replaced,
    Withdrawn,
    Resolved,
}

/// One entry of a field's history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Change {
    pub at: DateTime<Utc>,
    pub what: What,
    pub source: Source,
    /// The field's confidence after the change.
    pub confidence: Confidence,
    /// The replaced value, or the value that contradicts the stored one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
}

/// A value that contradicts the stored one and waits for a person's decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    pub value: Value,
    pub confidence: Confidence,
    pub source: Source,
    pub at: DateTime<Utc>,
}

/// One profile field. Defaults fill in scope, grant and history, which documents older than version
/// 3 lack.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Field {
    pub value: Value,
    /// The confidence at `confirmed_at`; [`Field::effective`] returns the confidence now.
    pub confidence: Confidence,
    pub source: Source,
    pub collected_at: DateTime<Utc>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirmed_at: Option<DateTime<Utc>>,
    #[serde(default)]
    pub consent_scope: Scope,
    #[serde(default)]
    pub consent_ref: Option<GrantRef>,
    #[serde(default = "one", deserialize_with = "version")]
    pub consent_version: u32,
    #[serde(default)]
    pub consent_scope_detail: String,
    #[serde(default)]
    pub consent_status: ConsentStatus,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consent_withdrawn_at: Option<DateTime<Utc>>,
    /// The highest confidence with which each source stated this value.
    #[serde(default)]
    pub sources: BTreeMap<Source, Confidence>,
    #[serde(default)]
    pub contradictions: u8,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub candidate: Option<Candidate>,
    #[serde(default)]
    pub needs_review: bool,
    #[serde(default)]
    pub history: Vec<Change>,
}

// === impl Field ===

impl Field {
    pub(super) fn first(seen: Evidence) -> Self {
        let confidence = seen.source.clamp(seen.confidence);
        let mut field = Self {
            value: seen.value,
            confidence,
            source: seen.source,
            collected_at: seen.at,
            confirmed_at: None,
            consent_scope: seen.grant.scope,
            consent_ref: Some(seen.grant.reference),
            consent_version: seen.grant.version,
            consent_scope_detail: seen.grant.detail,
            consent_status: ConsentStatus::Granted,
            consent_withdrawn_at: None,
            sources: BTreeMap::from([(seen.source, confidence)]),
            contradictions: 0,
            candidate: None,
            needs_review: false,
            history: Vec::new(),
        };
        field.note(seen.at, What::Added, seen.source, None);
        field
    }

    /// Returns when the value was last stated.
    pub fn confirmed(&self) -> DateTime<Utc> {
        self.confirmed_at.unwrap_or(self.collected_at)
    }

    /// Returns the confidence now: every 90 days without confirmation multiply it by nine tenths.
    pub fn effective(&self, now: DateTime<Utc>) -> Confidence {
        let periods = (now - self.confirmed()).num_days().max(0) / 90;
        self.confidence
            .decayed(u32::try_from(periods).unwrap_or(u32::MAX))
    }

    pub fn is_withdrawn(&self) -> bool {
        self.consent_status == ConsentStatus::Withdrawn
    }

    /// Returns whether an agent may see the field. A field collected for statistics or for sharing
    /// must not reach a prompt.
    pub fn is_visible(&self, now: DateTime<Utc>) -> bool {
        !self.is_withdrawn()
            && matches!(
                self.consent_scope,
                Scope::Personalization | Scope::Marketing
            )
            && !self.value.is_empty()
            && self.effective(now) >= Confidence::VISIBLE
    }

    pub(super) fn withdraw(&mut self, grant: &GrantRef, at: DateTime<Utc>) -> bool {
        if self.is_withdrawn() || self.consent_ref.as_ref() != Some(grant) {
            return false;
        }
        self.consent_status = ConsentStatus::Withdrawn;
        self.consent_withdrawn_at = Some(at);
        self.note(at, What::Withdrawn, self.source, None);
        true
    }

    pub(super) fn note(
        &mut self,
        at: DateTime<Utc>,
        what: What,
        source: Source,
        value: Option<Value>,
    ) {
        if self.history.len() >= HISTORY {
            self.history.remove(0);
        }
        self.history.push(Change {
            at,
            what,
            source,
            confidence: self.confidence,
            value,
        });
    }
}

impl fmt::Display for GrantRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "consent_grant:{}", self.0)
    }
}

impl FromStr for GrantRef {
    type Err = Invalid;
    fn from_str(text: &str) -> Result<Self, Invalid> {
        let id = text
            .strip_prefix("consent_grant:")
            .and_then(|id| Uuid::parse_str(id).ok());
        id.map(Self)
            .ok_or_else(|| Invalid::new("consent grant", "not a reference", "consent_grant:{uuid}"))
    }
}

impl TryFrom<String> for GrantRef {
    type Error = Invalid;
    fn try_from(text: String) -> Result<Self, Invalid> {
        text.parse()
    }
}

impl From<GrantRef> for String {
    fn from(grant: GrantRef) -> Self {
        grant.to_string()
    }
}

fn one() -> u32 {
    1
}

/// Reads the version as a number, or as the text "1.0" that early documents have.
fn version<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Either {
        Number(u32),
        Text(String),
    }
    match Either::deserialize(deserializer)? {
        Either::Number(number) => Ok(number),
        Either::Text(text) => text
            .split('.')
            .next()
            .unwrap_or_default()
            .parse()
            .map_err(D::Error::custom),
    }
}
