//! Decides which entries of the audit log a role may see, and how much of each (SEC-136, SEC-138,
//! SEC-140). No entry contains a guest's words.

mod export;

pub use export::{Export, Format, NoExport, Sealed, check_seal, redact, seal, start};

use serde_json::Value;
use seven_domain::{AuditEvent, CasinoId, Role, text_enum};
use seven_store::audit::Row;

use crate::Grants;

text_enum! {
    /// The categories of entries. A role may see some categories and not others.
    Category {
        Consent => "consent",
        Guardrail => "guardrail",
        Case => "case",
        Fault => "fault",
        Security => "security",
        Privacy => "privacy",
        Text => "text",
        Casino => "casino",
    }
}

/// How much of an entry a person may see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    Hidden,
    /// Only type, time, severity and actor.
    EventOnly,
    /// The whole entry, but its detail says only what happened, not which pattern matched.
    Summary,
    Full,
}

/// Keys of an entry's detail that a summary keeps. They say what happened, but not which pattern
/// matched.
const SUMMARY: [&str; 10] = [
    "layer",
    "verdict",
    "language",
    "severity",
    "action",
    "reason",
    "source",
    "from_level",
    "to_level",
    "minutes",
];

/// Returns the category of an event.
pub fn category(event: AuditEvent) -> Category {
    use AuditEvent as E;
    match event {
        E::ConsentGranted
        | E::ConsentRevoked
        | E::ConsentUpdated
        | E::ConsentChainBroken
        | E::AiDisclosureDelivered
        | E::AiRedisclosureDelivered
        | E::SelfExclusionListLoaded
        | E::ProviderBlocked => Category::Consent,
        E::GuardrailTriggered
        | E::GuardrailReviewed
        | E::OfferFlagged
        | E::CompToolCall
        | E::SafeModeActivated
        | E::SafeModeDeactivated => Category::Guardrail,
        E::EscalationTriggered
        | E::EscalationAcknowledged
        | E::EscalationAutoEscalated
        | E::EscalationResolved
        | E::ConversationPaused
        | E::ConversationResumed
        | E::IncidentReport
        | E::IncidentChanged
        | E::AlertAcknowledged => Category::Case,
        E::SmsDeliveryFailed
        | E::CircuitBreakerOpened
        | E::DeadLetterHandled
        | E::SendingStopped
        | E::SendingResumed
        | E::BackedUp
        | E::RecoveryDrilled
        | E::Restored
        | E::Recovered => Category::Fault,
        E::AuthFailure
        | E::SecretRotated
        | E::OperatorChanged
        | E::OperatorLoggedIn
        | E::OperatorLockedOut
        | E::PersonalDataRevealed
        | E::AuditExported
        | E::AuditSealBroken
        | E::LogLevelChanged
        | E::FlagChanged => Category::Security,
        E::DataExported
        | E::DeletionRequested
        | E::DeletionWithdrawn
        | E::DataDeleted
        | E::RetentionApplied => Category::Privacy,
        E::SmsInbound
        | E::SmsOutbound
        | E::WebInbound
        | E::WebOutbound
        | E::PersonWrote
        | E::ReplyReviewed
        | E::NoteAdded => Category::Text,
        E::ProfileUpdated
        | E::ContentUpdated
        | E::CasinoChanged
        | E::CampaignChanged
        | E::SavedReplyChanged
        | E::ContactChanged => Category::Casino,
    }
}

/// Returns how much a role may see of a category.
fn depth(role: Role, category: Category) -> Depth {
    match (role, category) {
        (Role::Compliance | Role::Auditor, _) => Depth::Full,
        (Role::Manager, Category::Guardrail | Category::Case) => Depth::Summary,
        (Role::Manager, Category::Fault | Category::Security | Category::Privacy) => Depth::Hidden,
        (Role::Manager, _) => Depth::Full,
        (Role::Admin, Category::Case | Category::Privacy | Category::Text) => Depth::EventOnly,
        (Role::Admin, _) => Depth::Full,
        (Role::Host | Role::Marketing | Role::Editor | Role::Approver, _) => Depth::Hidden,
    }
}

/// Determines which entries one person may see at one casino.
#[derive(Debug, Clone)]
pub struct View {
    roles: Vec<Role>,
}

impl View {
    pub fn of(grants: &Grants, casino: &CasinoId) -> Self {
        Self {
            roles: grants.roles_at(casino).collect(),
        }
    }

    /// Returns the view of the fleet's operators, who use the command line.
    pub fn of_operator() -> Self {
        Self {
            roles: vec![Role::Compliance],
        }
    }

    /// Returns how much of a category the person may see. If the person has several roles, the one
    /// that sees most decides.
    pub fn depth(&self, category: Category) -> Depth {
        let depths = self.roles.iter().map(|role| depth(*role, category));
        depths.max().unwrap_or(Depth::Hidden)
    }

    pub fn sees(&self, category: Category) -> bool {
        self.depth(category) > Depth::Hidden
    }

    /// Returns whether the person may export full rows if they give a reason (SEC-143).
    pub fn may_export_in_full(&self) -> bool {
        self.roles.contains(&Role::Compliance)
    }

    /// Returns the types of entries that the person may see.
    pub fn events(&self) -> impl Iterator<Item = AuditEvent> {
        let all = AuditEvent::ALL.iter().copied();
        all.filter(|event| self.sees(category(*event)))
    }

    /// Returns the types of entries whose guest and detail the person may see. A search by guest or
    /// detail must cover only these types; otherwise its results would reveal hidden entries.
    pub fn searchable(&self) -> impl Iterator<Item = AuditEvent> {
        self.events()
            .filter(|event| self.depth(category(*event)) > Depth::EventOnly)
    }

    /// Returns the entry as the person may see it; `None` if the person may not see it. Entries of
    /// types that this release does not know are shown only to people who may export full rows.
    pub fn shown(&self, mut row: Row) -> Option<Row> {
        let event = row.event_type.parse::<AuditEvent>();
        let depth = match event {
            Ok(event) => self.depth(category(event)),
            Err(_) if self.may_export_in_full() => Depth::Full,
            Err(_) => Depth::Hidden,
        };
        match depth {
            Depth::Hidden => return None,
            Depth::EventOnly => {
                row.detail = Value::Object(serde_json::Map::new());
                row.subject = String::new();
                row.guest_hash = None;
                // All entries about one text have the same trace, so it would connect this entry
                // with the others.
                row.trace = None;
            }
            Depth::Summary => {
                if let Value::Object(detail) = &mut row.detail {
                    detail.retain(|key, _| SUMMARY.contains(&key.as_str()));
                }
            }
            Depth::Full => {}
        }
        export::redact(&mut row.detail, true);
        Some(row)
    }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use serde_json::json;
    use seven_domain::Severity;

    use super::*;

    fn view(roles: &[Role]) -> View {
        let casino: CasinoId = "casino_a".parse().unwrap();
        let grants = roles.iter().map(|role| (Some(casino.clone()), *role));
        View::of(&Grants::new(grants.collect()), &casino)
    }

    fn row(event: &str) -> Row {
        Row {
            entry: 1,
            at: DateTime::UNIX_EPOCH,
            event_type: event.to_owned(),
            severity: Severity::Info,
            actor: "scheduler".to_owned(),
            subject: "hmac:1:ab".to_owned(),
            guest_hash: Some("hmac:1:ab".to_owned()),
            detail: json!({ "layer": "crisis", "pattern_id": "crisis.en.04", "reason": "x" }),
            trace: None,
        }
    }

    #[test] // SEC-138: F full, S summary, E event only, - hidden
    fn who_sees_which_category() {
        let table = "consent F F F F, guardrail F S F F, case F S E F, fault F - F F,
                     security F - F F, privacy F - E F, text F F E F, casino F F F F";
        let views = [
            view(&[Role::Compliance]),
            view(&[Role::Manager]),
            view(&[Role::Admin]),
            view(&[Role::Auditor]),
        ];
        let mut seen = 0;
        for line in table.split(',') {
            let mut words = line.split_whitespace();
            let category: Category = words.next().unwrap().parse().unwrap();
            for (view, wanted) in views.iter().zip(words) {
                let wanted = match wanted {
                    "F" => Depth::Full,
                    "S" => Depth::Summary,
                    "E" => Depth::EventOnly,
                    _ => Depth::Hidden,
                };
                assert_eq!(view.depth(category), wanted, "{category} {view:?}");
                seen += 1;
            }
        }
        assert_eq!(seen, 4 * Category::ALL.len());
        assert!(!view(&[Role::Auditor]).may_export_in_full());
        for role in [Role::Host, Role::Marketing, Role::Editor, Role::Approver] {
            assert_eq!(view(&[role]).events().count(), 0, "{role}");
        }
        let both = view(&[Role::Manager, Role::Admin]);
        assert_eq!(both.depth(Category::Case), Depth::Summary);
        assert_eq!(both.depth(Category::Guardrail), Depth::Full);
    }

    #[test] // SEC-140
    fn the_managers_view_leaves_out_what_the_specification_lists() {
        let manager = view(&[Role::Manager]);
        for event in [
            "auth_failure",
            "circuit_breaker_opened",
            "ccpa_data_deleted",
        ] {
            assert!(manager.shown(row(event)).is_none(), "{event}");
        }
        let guardrail = manager.shown(row("guardrail_triggered")).unwrap();
        assert_eq!(
            guardrail.detail,
            json!({ "layer": "crisis", "reason": "x" })
        );
        let admin = view(&[Role::Admin])
            .shown(row("ccpa_data_deleted"))
            .unwrap();
        assert_eq!((admin.detail, admin.guest_hash), (json!({}), None));
        assert!(manager.shown(row("of_a_later_release")).is_none());
        assert!(
            view(&[Role::Compliance])
                .shown(row("of_a_later_release"))
                .is_some()
        );
    }
}
