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
        /// A check of the fleet's own duties, such as an overdue deletion.
        Compliance => "compliance",
        /// The host told the guest that a person will do something.
        HostPromise => "host_promise",
    }
}

text_enum! {
    /// The states of a ticket, which a guest on the web waits for (WID-21).
    TicketState {
        /// The guest has written again since the answer.
        Open => "open",
        PendingHuman => "pending_human",
        Resolved => "resolved",
        /// The guest wrote nothing for a day.
        Closed => "closed",
    }
}
