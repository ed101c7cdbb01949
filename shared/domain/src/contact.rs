//! The vocabulary of a casino's contacts: its own people who are notified of cases (D28).

use crate::text_enum;

text_enum! {
    /// The channel by which a contact is notified.
    ContactChannel {
        /// A chat channel, reached through an incoming webhook as Slack defines it.
        Chat => "chat",
        Mail => "mail",
        /// A text to a phone of staff.
        Text => "text",
    }
}

text_enum! {
    /// The kind of a letter to contacts.
    LetterKind {
        /// The casino's figures for one week.
        WeeklyReport => "weekly_report",
        /// An edit of the casino's content that was refused.
        ContentRefused => "content_refused",
        /// The state of the casino's content in the past week: questions without an answer, and
        /// whether the search finds less than before.
        ContentWeek => "content_week",
        /// An outage makes guests wait for answers or texts.
        Outage => "outage",
        /// The outage is over.
        OutageOver => "outage_over",
    }
}

text_enum! {
    /// The part of the service that an outage stops for a casino's guests.
    OutageKind {
        /// Guests' messages are stored but not answered.
        Answers => "answers",
        /// No provider accepts the casino's texts.
        Sending => "sending",
    }
}
