//! The vocabulary for incidents that the fleet finds itself (SEC-95). The fleet first contains an
//! incident, then records it, then notifies the casino's own people.

use crate::{CaseSeverity, text_enum};

text_enum! {
    /// The kind of an incident.
    IncidentKind {
        /// A reply names an amount of money that is in neither the casino's content nor its
        /// promotions.
        OfferUnproven => "offer_unproven",
        /// A text was sent after its guest's STOP.
        TextAfterStop => "text_after_stop",
        /// A text was first read as ordinary, but a later reading found a cry for help.
        CryMissed => "cry_missed",
        /// The guest, casino or number of a row differs from that of its conversation.
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
        /// A duplicate of an incident that was found shortly before.
        Suppressed => "suppressed",
        /// Nothing was wrong, and nothing was contained.
        AutoResolved => "auto_resolved",
        /// The incident is contained; a person has to review it.
        Mitigating => "mitigating",
        Escalated => "escalated",
        Resolved => "resolved",
        /// The report about the cause has been written.
        Postmortem => "postmortem",
    }
}

text_enum! {
    /// A measure that the fleet takes at once so that an incident does not spread.
    Containment {
        /// The host does not write to this guest until a person has reviewed the incident.
        PausedGuest => "paused_guest",
        /// The casino sends no proactive texts; answers are still sent.
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

    /// Returns the severity of the case by which the casino's own people are notified.
    pub fn case_severity(self) -> CaseSeverity {
        match self.severity() {
            IncidentSeverity::Critical => CaseSeverity::Sev0,
            IncidentSeverity::High => CaseSeverity::Sev1,
            IncidentSeverity::Medium => CaseSeverity::Sev2,
            IncidentSeverity::Low => CaseSeverity::Sev3,
        }
    }

    /// Returns what is paused in addition to the guest's conversation; `None` if nothing is. For
    /// example, a cry that was missed for one guest is no reason to pause texts to other guests.
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

    /// Returns whether a person still has to review the incident.
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
