//! The vocabulary of the audit log: the event types and how serious each is.

use crate::text_enum;

text_enum! {
    /// How urgently somebody should look at an event.
    Severity {
        Info => "info",
        Warning => "warning",
        Critical => "critical",
    }
}

text_enum! {
    /// The kinds of entries in the audit log. The specification defines the names up to
    /// `IncidentReport`; we added the later ones.
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
        /// An agent called a tool about offers.
        CompToolCall => "comp_tool_call",
        /// The verification of a consent chain failed.
        ConsentChainBroken => "consent_chain_broken",
        /// The provider refused a text although the guest has not opted out with us.
        ProviderBlocked => "provider_blocked",
        SelfExclusionListLoaded => "self_exclusion_list_loaded",
        RetentionApplied => "retention_applied",
        CasinoChanged => "casino_changed",
        /// A provider accepts none of our texts, for the fleet or for one casino.
        SendingStopped => "sending_stopped",
        SendingResumed => "sending_resumed",
        /// A person wrote to a guest in the host's place.
        PersonWrote => "person_wrote",
        /// The log level of workers was raised for a limited time, or restored.
        LogLevelChanged => "log_level_changed",
        /// A feature flag was set or removed.
        FlagChanged => "flag_changed",
        /// A person acknowledged an alert.
        AlertAcknowledged => "alert_acknowledged",
        /// A campaign began, ended, or was paused, resumed or cancelled.
        CampaignChanged => "campaign_changed",
        /// A person reviewed a guardrail's decision about a text.
        GuardrailReviewed => "guardrail_reviewed",
        DeadLetterHandled => "dead_letter_handled",
        /// A full backup was written.
        BackedUp => "backed_up",
        /// A backup was restored as a drill.
        RecoveryDrilled => "recovery_drilled",
        /// The database was restored from a backup. Nothing is sent until `Recovered` is recorded
        /// and an operator releases sending (D5).
        Restored => "restored",
        /// The providers' records since the time of the backup were fetched.
        Recovered => "recovered",
        /// An operator viewed data that names or quotes a guest.
        PersonalDataRevealed => "personal_data_revealed",
        /// An operator was added or disabled, or got another role, password or second factor.
        OperatorChanged => "operator_changed",
        /// A person attached a note for colleagues to a conversation.
        NoteAdded => "note_added",
        /// A saved reply, which a casino's people reuse for guests, was added, changed or removed.
        SavedReplyChanged => "saved_reply_changed",
        OperatorLoggedIn => "operator_logged_in",
        /// An account was locked for a limited time after too many failed logins.
        OperatorLockedOut => "operator_locked_out",
        /// A contact of the casino was added, changed or removed.
        ContactChanged => "contact_changed",
        /// A person released, edited or discarded a held reply, or set whether replies are held.
        ReplyReviewed => "reply_reviewed",
        /// Entries of this log were exported.
        AuditExported => "audit_exported",
        /// The digest of a finished day's export differs from the sealed one.
        AuditSealBroken => "audit_seal_broken",
        /// A guest wrote on the website.
        WebInbound => "web_inbound",
        /// A message became visible on the website.
        WebOutbound => "web_outbound",
        /// The fleet found and contained an incident, or a person settled one.
        IncidentChanged => "incident_changed",
    }
}

impl AuditEvent {
    /// Returns the severity that the specification's table assigns.
    pub fn severity(self) -> Severity {
        match self {
            Self::DataDeleted
            | Self::AuthFailure
            | Self::CircuitBreakerOpened
            | Self::SafeModeActivated
            | Self::IncidentReport
            | Self::SendingStopped
            | Self::Restored
            | Self::AuditSealBroken
            | Self::ConsentChainBroken => Severity::Critical,
            Self::SmsDeliveryFailed
            | Self::GuardrailTriggered
            | Self::EscalationTriggered
            | Self::EscalationAutoEscalated
            | Self::SafeModeDeactivated
            | Self::OfferFlagged
            | Self::ProviderBlocked
            | Self::OperatorLockedOut => Severity::Warning,
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
