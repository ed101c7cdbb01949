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
