//! The vocabulary for the people who work at a casino, and at Hey Seven (D26).

use crate::text_enum;

text_enum! {
    /// A person's role at one casino or at all casinos; `seven_staff::rights` lists the rights of
    /// each role.
    Role {
        /// Handles conversations and cases.
        Host => "host",
        /// Handles imports and campaigns.
        Marketing => "marketing",
        /// Writes drafts of content.
        Editor => "editor",
        /// Publishes content that others wrote, and manages regulations and campaigns.
        Approver => "approver",
        /// Handles consent, audit and exports; reads message text only for a reason, which is
        /// audited.
        Compliance => "compliance",
        /// Reads dashboards, asks questions about the data, and reads what the roles listed above
        /// read.
        Manager => "manager",
        /// Manages operators and switches.
        Admin => "admin",
        /// Reads consent and audit, but no texts, and changes nothing. Meant for regulators and
        /// external auditors. The role ends after a given day.
        Auditor => "auditor",
    }
}

text_enum! {
    /// Whether an operator can log in.
    OperatorStatus {
        /// The operator has not chosen a password yet.
        Invited => "invited",
        Active => "active",
        Disabled => "disabled",
    }
}

text_enum! {
    /// The purpose of a single-use link that was given to an operator.
    LinkPurpose {
        /// Choosing a first password and setting up the second factor.
        Invitation => "invitation",
        /// Choosing another password.
        Password => "password",
        /// Setting up another second factor.
        SecondFactor => "second_factor",
    }
}
