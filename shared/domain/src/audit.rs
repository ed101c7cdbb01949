//! The vocabulary of the audit log (SEC-65): the event types and how serious each is.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::{Invalid, message::text_enum};

text_enum! {
    /// How soon somebody should look.
    Severity {
        Info => "info",
        Warning => "warning",
        Critical => "critical",
    }
}

text_enum! {
    /// One kind of entry. The names are the specification's; those after `IncidentReport` are ours.
    AuditEvent {
        SmsInbound => "sms_inbound",
        SmsOutbound => "sms_outbound",
        SmsDeliveryFailed => "sms_delivery_failed",
        GuardrailTriggered => "guardrail_triggered",
        ConsentGranted => "consent_granted",
        ConsentRevoked => "consent_revoked",
        ConsentUpdated => "consent_updated",
        EscalationTriggered => "escalation_triggered",
        EscalationAcknowledged => "escalation_acknowledged",
        EscalationAutoEscalated => "escalation_auto_escalated",
        EscalationResolved => "escalation_resolved",
        ConversationPaused => "conversation_paused",
        ConversationResumed => "conversation_resumed",
        ProfileUpdated => "profile_updated",
        ContentUpdated => "content_updated",
        DataExported => "ccpa_data_exported",
        DeletionRequested => "ccpa_deletion_requested",
        DeletionWithdrawn => "ccpa_deletion_withdrawn",
        DataDeleted => "ccpa_data_deleted",
        AuthFailure => "auth_failure",
        CircuitBreakerOpened => "circuit_breaker_opened",
        SecretRotated => "secret_rotated",
        AiDisclosureDelivered => "ai_disclosure_delivered",
        AiRedisclosureDelivered => "ai_redisclosure_delivered",
        SafeModeActivated => "safe_mode_activated",
        SafeModeDeactivated => "safe_mode_deactivated",
        OfferFlagged => "offer_flagged",
        IncidentReport => "incident_report",
        /// An agent called a tool about offers (AGENT-46).
        CompToolCall => "comp_tool_call",
        /// A consent chain that does not verify (SEC-74).
        ConsentChainBroken => "consent_chain_broken",
        /// A text was refused by the provider although the guest is with us (C-10).
        ProviderBlocked => "provider_blocked",
        SelfExclusionListLoaded => "self_exclusion_list_loaded",
        RetentionApplied => "retention_applied",
        CasinoChanged => "casino_changed",
        /// A provider takes nothing of ours, for the fleet or a casino (SMS-41).
        SendingStopped => "sending_stopped",
        SendingResumed => "sending_resumed",
        /// A person wrote to a guest in the host's place.
        PersonWrote => "person_wrote",
        /// A feature flag was set or removed (DEP-23).
        FlagChanged => "flag_changed",
        /// A person has an alert in hand.
        AlertAcknowledged => "alert_acknowledged",
        /// A campaign began, was paused, resumed or cancelled, or ended (SMS-46).
        CampaignChanged => "campaign_changed",
        /// A person judged what a guardrail did with a text (OBS-5).
        GuardrailReviewed => "guardrail_reviewed",
        DeadLetterHandled => "dead_letter_handled",
        /// Everything was written to a backup (DEP-31).
        BackedUp => "backed_up",
        /// A backup was restored for practice (DEP-33).
        RecoveryDrilled => "recovery_drilled",
        /// The database came from a backup; nothing leaves until `Recovered` and an operator (D5).
        Restored => "restored",
        /// The providers were asked for everything that happened since the backup.
        Recovered => "recovered",
        /// An operator looked at what names or quotes a guest.
        PersonalDataRevealed => "personal_data_revealed",
    }
}

impl AuditEvent {
    /// The table of SEC-65.
    pub fn severity(self) -> Severity {
        match self {
            Self::DataDeleted
            | Self::AuthFailure
            | Self::CircuitBreakerOpened
            | Self::SafeModeActivated
            | Self::IncidentReport
            | Self::SendingStopped
            | Self::Restored
            | Self::ConsentChainBroken => Severity::Critical,
            Self::SmsDeliveryFailed
            | Self::GuardrailTriggered
            | Self::EscalationTriggered
            | Self::EscalationAutoEscalated
            | Self::SafeModeDeactivated
            | Self::OfferFlagged
            | Self::ProviderBlocked => Severity::Warning,
            _ => Severity::Info,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // SEC-65
    fn severities_follow_the_table() {
        for (event, severity) in [
            ("sms_inbound", "info"),
            ("sms_delivery_failed", "warning"),
            ("guardrail_triggered", "warning"),
            ("consent_revoked", "info"),
            ("escalation_triggered", "warning"),
            ("ccpa_data_exported", "info"),
            ("ccpa_data_deleted", "critical"),
            ("auth_failure", "critical"),
            ("circuit_breaker_opened", "critical"),
            ("safe_mode_activated", "critical"),
        ] {
            let event: AuditEvent = event.parse().unwrap();
            assert_eq!(event.severity().as_str(), severity, "{event}");
        }
    }
}
