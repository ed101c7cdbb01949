//! The vocabulary for the people who work at a casino, and at Hey Seven (D26).

use crate::text_enum;

text_enum! {
    /// A person's role at one casino or at all; `seven_staff::rights` has the rights of each.
    Role {
        /// Conversations and cases.
        Host => "host",
        /// Imports and campaigns.
        Marketing => "marketing",
        /// Drafts of content.
        Editor => "editor",
        /// Publishing, regulations, campaigns of others.
        Approver => "approver",
        /// Consent, audit, exports; message text only for a reason, which is audited.
        Compliance => "compliance",
        /// Dashboards and questions about the data; reads what the roles above read.
        Manager => "manager",
        /// Operators and switches.
        Admin => "admin",
        /// Consent and audit for a regulator or an auditor of another company; always ends on a
        /// day, changes nothing and reads no texts.
        Auditor => "auditor",
    }
}

text_enum! {
    /// Whether an operator can log in.
    OperatorStatus {
        /// Has not chosen a password yet.
        Invited => "invited",
        Active => "active",
        Disabled => "disabled",
    }
}

text_enum! {
    /// The purpose of a link that was given to an operator; it works once.
    LinkPurpose {
        /// Choosing a first password and setting up the second factor.
        Invitation => "invitation",
        /// Choosing another password.
        Password => "password",
        /// Setting up another second factor.
        SecondFactor => "second_factor",
    }
}
