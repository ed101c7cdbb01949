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
        /// The casino's content of the past week: questions without an answer, and a search that
        /// finds less.
        ContentWeek => "content_week",
        /// Guests wait for answers or texts.
        Outage => "outage",
        /// They no longer do.
        OutageOver => "outage_over",
    }
}

text_enum! {
    /// For what a casino's guests wait in an outage.
    OutageKind {
        /// Their messages are stored and not answered.
        Answers => "answers",
        /// No provider takes the texts.
        Sending => "sending",
    }
}
