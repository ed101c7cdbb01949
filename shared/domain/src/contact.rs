//! The vocabulary of a casino's contacts: its own people who are told about cases (D28).

use crate::text_enum;

text_enum! {
    /// The channel by which a contact is told.
    ContactChannel {
        /// An incoming webhook as Slack defines it.
        Chat => "chat",
        Mail => "mail",
        /// A text to a phone of staff.
        Text => "text",
    }
}

text_enum! {
    /// The subject of a letter to contacts.
    LetterKind {
        /// The casino's figures of a week.
        WeeklyReport => "weekly_report",
        /// An edit of the casino's content that was refused.
        ContentRefused => "content_refused",
    }
}
