//! The vocabulary for cases that a person has to look at.

use crate::text_enum;

text_enum! {
    /// How severe a case is; the most severe comes first.
    CaseSeverity {
        Sev0 => "sev0",
        Sev1 => "sev1",
        Sev2 => "sev2",
        Sev3 => "sev3",
    }
}

text_enum! {
    /// The detector that opened a case.
    CaseSource {
        Guardrail => "guardrail",
        Keyword => "keyword",
        Sentiment => "sentiment",
        ConsecutiveFallback => "consecutive_fallback",
        ValidationFailure => "validation_failure",
        /// A check of the fleet's own duties, for instance for overdue deletions.
        Compliance => "compliance",
        /// The host told the guest that a person will do something.
        HostPromise => "host_promise",
    }
}

text_enum! {
    /// The state of the ticket that a guest of the website gets while a person is awaited (WID-21).
    TicketState {
        /// The guest has written again since the person's answer.
        Open => "open",
        PendingHuman => "pending_human",
        Resolved => "resolved",
        /// The ticket ended because the guest wrote nothing for a day.
        Closed => "closed",
    }
}
