//! The pre-send check (D6). One statement moves a text from `queued` to `sending` and writes its
//! attempt, or it returns a refusal. D6 explains the locks and the short form, `AT_ONCE`.

use std::time::Duration;

use chrono::{DateTime, Utc};
use seven_domain::{
    AttemptId, ConversationId, MessageClass, OutboundId, PhoneE164, WEB, text_enum,
};
use sqlx::{Row, postgres::PgRow};

use crate::{Result, Tx, mutant};

/// Input that the sender brings to the pre-send check.
#[derive(Debug, Clone)]
pub struct PresendCheck {
    pub outbound_id: OutboundId,
    pub attempt_id: AttemptId,
    pub provider: &'static str,
    /// The number to send from. It must be one that the casino sends from today; otherwise the text
    /// is refused (D40). `None` for the web.
    pub sender: Option<PhoneE164>,
    /// `deadline` is the time from now until the provider's answer is overdue; `grace` is the
    /// additional time to wait for a webhook after that.
    pub deadline: Duration,
    pub grace: Duration,
    /// Whether the guest may get texts now, by the guest's local time. Only used for classes with
    /// quiet hours.
    pub window_open: bool,
    /// Whether the jurisdiction requires that the casino's self-exclusion list is consulted before
    /// a proactive text (C-23).
    pub exclusion_list_needed: bool,
    /// The time of the call, by the sender's clock. An opt-out that the provider's answer reports
    /// gets this time. A newer request of the guest therefore stays in force.
    pub called_at: DateTime<Utc>,
    /// The time of a STOP that Redis holds; it may be newer than what Postgres knows (D7).
    pub refused_as_of: Option<DateTime<Utc>>,
    /// How likely carriers are to filter the text, from 0 to 1 (SMS-34). Only used for classes with
    /// a limit; for these, `None` is treated as too high.
    pub risk: Option<f64>,
}

/// A permitted send: the row is `sending` and the attempt is written.
#[derive(Debug, Clone)]
pub struct Claim {
    /// `None` for a guest of the website.
    pub to: Option<String>,
    pub body: String,
    pub class: MessageClass,
    pub conversation_id: uuid::Uuid,
    pub messaging_profile_id: Option<String>,
}

text_enum! {
    /// Why a text may not be sent.
    Refusal {
        /// The text is not `queued`, perhaps because another process sent or ended it.
        NotQueued => "not_queued",
        CasinoInactive => "casino_inactive",
        /// The text's `useful_until` time is over.
        Expired => "expired",
        /// The casino no longer sends from this number: the casino's document changed after the
        /// text was queued.
        SenderRetired => "sender_retired",
        Killed => "killed",
        SafetyStateMissing => "safety_state_missing",
        Suppressed => "guest_suppressed",
        /// Redis holds a STOP that Postgres does not know yet.
        RefusedByCache => "refused_by_cache",
        /// The guest was asked whether they want no more texts, and has not answered yet (D20).
        OptOutAsked => "opt_out_asked",
        /// The guest has opted in again, but the provider still blocks the number (C-6).
        ProviderBlocked => "provider_blocked",
        Paused => "paused",
        /// A person has to release the reply (AGENT-15).
        AwaitsReview => "awaits_review",
        /// A stop forbids calls of this provider: the provider refuses our account, or an operator
        /// set the stop.
        ProviderStopped => "provider_stopped",
        /// The casino's spend limit at the provider is reached for today.
        Parked => "sending_parked",
        ConsentTier => "consent_tier",
        /// The guest is on the casino's self-exclusion list, or wrote a cry for help about
        /// gambling.
        SelfExcluded => "self_excluded",
        /// The self-exclusion list must be consulted, and the casino never supplied one.
        SelfExclusionUnchecked => "self_exclusion_unchecked",
        /// An operator cancelled the text's campaign.
        CampaignCancelled => "campaign_cancelled",
        /// Carriers would probably filter the text, so it must be reworded (SMS-34).
        ContentRisk => "content_risk",
        QuietHours => "quiet_hours",
        /// The 10DLC campaign or toll-free number is not approved (SMS-31).
        NotRegistered => "not_registered",
        EarlierUnsent => "earlier_text_unsent",
        Cooldown => "cooldown",
        /// The guest already received as many texts of this class as the cap allows.
        Cap => "cap",
        /// The number was reassigned to another person.
        NumberReassigned => "number_reassigned",
        NumberUnchecked => "number_unchecked",
        NotYet => "not_before",
    }
}

impl Tx {
    /// Claims the text for sending, or returns the reason that forbids it.
    pub async fn presend_check(
        &mut self,
        check: &PresendCheck,
    ) -> Result<std::result::Result<Claim, Refusal>> {
        if let Some(claim) = mutant::claim_unchecked(self, check).await? {
            return Ok(Ok(claim));
        }
        if let Some(claim) = self.claim_at_once(check).await? {
            return Ok(Ok(claim));
        }
        self.full_check(check).await
    }

    /// Delivers a message to the web, or returns the reason that forbids it (D33). No further step
    /// is needed: after the commit, the message is `sent` and the guest's stream shows it.
    pub async fn show_on_web(
        &mut self,
        conversation: ConversationId,
        check: &PresendCheck,
    ) -> Result<std::result::Result<Claim, Refusal>> {
        debug_assert_eq!(check.provider, WEB);
        self.lock_conversation(conversation).await?;
        if let Some(claim) = self.claim_at_once(check).await? {
            return Ok(Ok(claim));
        }
        self.full_check(check).await
    }

    async fn full_check(
        &mut self,
        check: &PresendCheck,
    ) -> Result<std::result::Result<Claim, Refusal>> {
        let casino = self.casino_str();
        let row = sqlx::query(FULL_CHECK)
            .bind(check.outbound_id.0)
            .bind(check.attempt_id.0)
            .bind(check.provider)
            .bind(check.deadline.as_secs_f64())
            .bind(check.window_open)
            .bind(check.refused_as_of)
            .bind(casino)
            .bind(check.exclusion_list_needed)
            .bind(check.called_at)
            .bind(check.risk)
            .bind((check.deadline + check.grace).as_secs_f64())
            .bind(check.sender.as_ref().map(PhoneE164::as_str))
            .fetch_optional(self.conn())
            .await?;
        let Some(row) = row else {
            return Ok(Err(Refusal::NotQueued));
        };
        if let Some(refusal) = row.try_get("refusal")? {
            return Ok(Err(refusal));
        }
        if !row.try_get::<bool, _>("claimed")? {
            return Ok(Err(Refusal::NotQueued));
        }
        Ok(Ok(Claim {
            to: row.try_get("phone")?,
            body: row.try_get("body")?,
            class: row.try_get::<MessageClass, _>("class")?,
            conversation_id: row.try_get("conversation_id")?,
            messaging_profile_id: row.try_get("messaging_profile_id")?,
        }))
    }

    /// Claims a text to which no restriction applies. Returns `None` if the short form cannot
    /// decide; the caller must then run the full check.
    pub async fn claim_at_once(&mut self, check: &PresendCheck) -> Result<Option<Claim>> {
        // The short form needs the casino's settings, which are known only if this process holds
        // the current document.
        let Some(held) = self
            .held_document()
            .filter(|_| check.refused_as_of.is_none())
        else {
            return Ok(None);
        };
        let casino = self.casino_str();
        let row = sqlx::query(AT_ONCE)
            .bind(check.outbound_id.0)
            .bind(check.attempt_id.0)
            .bind(check.provider)
            .bind(check.deadline.as_secs_f64())
            .bind(held.version)
            .bind((check.deadline + check.grace).as_secs_f64())
            .bind(casino)
            .bind(check.risk)
            .bind(check.called_at)
            .bind(check.sender.as_ref().map(PhoneE164::as_str))
            .fetch_optional(self.conn())
            .await?;
        let claim = |row: PgRow| {
            Ok(Claim {
                to: row.try_get("phone")?,
                body: row.try_get("body")?,
                class: row.try_get::<MessageClass, _>("class")?,
                conversation_id: row.try_get("conversation_id")?,
                messaging_profile_id: held.config.operational.messaging_profile_id.clone(),
            })
        };
        row.map(claim).transpose()
    }
}

/// Permits only some of the texts that [`FULL_CHECK`] permits, and refuses none. A new reason to
/// refuse must be added to both statements. D6 explains the conditions.
const AT_ONCE: &str = include_str!("../sql/presend_check_at_once.sql");

const FULL_CHECK: &str = include_str!("../sql/presend_check.sql");
