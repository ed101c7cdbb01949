//! The vocabulary for incidents that the fleet finds itself (SEC-95): it contains each first, then
//! records it, then tells the casino's own people.

use crate::{CaseSeverity, text_enum};

text_enum! {
    /// The kind of an incident.
    IncidentKind {
        /// A reply names an amount of money that no content and no promotion of the casino has.
        OfferUnproven => "offer_unproven",
        /// A text was sent after its guest's STOP.
        TextAfterStop => "text_after_stop",
        /// A text was read as ordinary, and a later reading finds a cry for help in it.
        CryMissed => "cry_missed",
        /// A row belongs to another guest, casino or number than its conversation.
        CrossedCasino => "crossed_casino",
    }
}

text_enum! {
    /// How severe an incident is; the most severe comes last.
    IncidentSeverity {
        Low => "low",
        Medium => "medium",
        High => "high",
        Critical => "critical",
    }
}

text_enum! {
    /// The state of an incident.
    IncidentState {
        Detected => "detected",
        Triaged => "triaged",
        /// A copy of an incident that was found just before.
        Suppressed => "suppressed",
        /// Nothing was wrong, and nothing had been contained.
        AutoResolved => "auto_resolved",
        /// Contained; a person has to look.
        Mitigating => "mitigating",
        Escalated => "escalated",
        Resolved => "resolved",
        /// The report about its cause is written.
        Postmortem => "postmortem",
    }
}

text_enum! {
    /// A measure that was taken at once so that an incident goes no further.
    Containment {
        /// The host writes to this guest no more, until a person has looked.
        PausedGuest => "paused_guest",
        /// The casino sends no text that is not an answer.
        PausedProactive => "paused_proactive",
        /// The casino sends safety texts only.
        PausedSending => "paused_sending",
    }
}

impl IncidentKind {
    pub fn severity(self) -> IncidentSeverity {
        match self {
            Self::OfferUnproven => IncidentSeverity::High,
            Self::TextAfterStop | Self::CryMissed | Self::CrossedCasino => {
                IncidentSeverity::Critical
            }
        }
    }

    /// Returns the severity of the case by which the casino's own people are told.
    pub fn case_severity(self) -> CaseSeverity {
        match self.severity() {
            IncidentSeverity::Critical => CaseSeverity::Sev0,
            IncidentSeverity::High => CaseSeverity::Sev1,
            IncidentSeverity::Medium => CaseSeverity::Sev2,
            IncidentSeverity::Low => CaseSeverity::Sev3,
        }
    }

    /// Returns what is paused besides the guest's conversation. One guest's cry says nothing about
    /// the texts to others.
    pub fn pauses(self) -> Option<Containment> {
        match self {
            Self::OfferUnproven | Self::CryMissed => None,
            Self::TextAfterStop => Some(Containment::PausedProactive),
            Self::CrossedCasino => Some(Containment::PausedSending),
        }
    }
}

impl IncidentState {
    /// Returns whether an incident in this state may get the state `next` (SEC-98).
    pub fn may_become(self, next: Self) -> bool {
        matches!(
            (self, next),
            (Self::Detected, Self::Triaged | Self::Suppressed)
                | (Self::Triaged, Self::Mitigating | Self::AutoResolved)
                | (Self::Mitigating, Self::Escalated | Self::Resolved)
                | (Self::Escalated, Self::Resolved)
                | (Self::Resolved, Self::Postmortem)
        )
    }

    /// Returns whether a person still has to look.
    pub fn is_open(self) -> bool {
        matches!(
            self,
            Self::Detected | Self::Triaged | Self::Mitigating | Self::Escalated
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // SEC-98
    fn only_the_listed_changes_of_state_are_allowed() {
        let allowed = [
            ("detected", "triaged"),
            ("detected", "suppressed"),
            ("triaged", "mitigating"),
            ("triaged", "auto_resolved"),
            ("mitigating", "escalated"),
            ("mitigating", "resolved"),
            ("escalated", "resolved"),
            ("resolved", "postmortem"),
        ];
        for from in IncidentState::ALL {
            for to in IncidentState::ALL {
                let listed = allowed.contains(&(from.as_str(), to.as_str()));
                assert_eq!(from.may_become(*to), listed, "{from} to {to}");
            }
        }
    }

    #[test] // SEC-99, SEC-101
    fn critical_incidents_wake_people_and_an_offer_waits_a_quarter_hour() {
        use IncidentKind::{CrossedCasino, CryMissed, OfferUnproven, TextAfterStop};
        for kind in [TextAfterStop, CryMissed, CrossedCasino] {
            assert_eq!(kind.case_severity(), CaseSeverity::Sev0, "{kind}");
        }
        assert_eq!(OfferUnproven.case_severity(), CaseSeverity::Sev1);
        assert_eq!(CryMissed.pauses(), None);
        assert_eq!(TextAfterStop.pauses(), Some(Containment::PausedProactive));
    }
}
