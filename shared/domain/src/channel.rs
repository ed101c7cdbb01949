//! Channels and how they differ (D32). Code between ingress and delivery reads the profile and
//! never names a channel.

use crate::{AuditEvent, text_enum};

text_enum! {
    /// The channel by which a guest writes to us.
    Channel {
        Sms => "sms",
        Web => "web",
    }
}

/// The form and length of the host's replies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplyLength {
    /// Texts of one segment each: one if possible, else two.
    Texts,
    /// One message: at most `usual` characters if possible, and never more than `most`.
    Message { usual: usize, most: usize },
}

/// The properties in which a channel differs from others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChannelProfile {
    /// Whether the guest may use the commands of text messages: STOP, START, HELP and YES to a
    /// consent question. A channel that sends nothing unasked needs no command to opt out.
    pub commands: bool,
    /// Whether the gate recognises texts written by machines, such as auto-replies to our texts.
    pub machines: bool,
    pub length: ReplyLength,
    /// Whether a reply is delayed: until the guest stops writing, and for the time a person would
    /// type.
    pub waits: bool,
    /// Maximum number of messages in one conversation, of both sides together. After that, the
    /// guest begins another conversation (WEB-17). `None` means no limit: a guest who texts has one
    /// conversation forever.
    pub most_messages: Option<i64>,
    /// Whether a guest who needs a person gets a ticket with a number.
    pub tickets: bool,
    /// Whether the guest's browser holds a stream open, which must be notified of new messages.
    pub streams: bool,
    /// The audit event for a message from a guest.
    pub inbound: AuditEvent,
    /// Whether a reply may name the commands, for instance STOP in the disclosure.
    pub names_stop: bool,
}

const SMS: ChannelProfile = ChannelProfile {
    commands: true,
    machines: true,
    length: ReplyLength::Texts,
    waits: true,
    most_messages: None,
    tickets: false,
    streams: false,
    inbound: AuditEvent::SmsInbound,
    names_stop: true,
};

const WEB: ChannelProfile = ChannelProfile {
    commands: false,
    machines: false,
    length: ReplyLength::Message {
        usual: 320,
        most: 800,
    },
    waits: false,
    most_messages: Some(40),
    tickets: true,
    streams: true,
    inbound: AuditEvent::WebInbound,
    names_stop: false,
};

impl ReplyLength {
    /// Returns whether a reply is cut into texts of one segment. If false, a reply is one message.
    pub fn in_segments(self) -> bool {
        self == Self::Texts
    }
}

impl Channel {
    pub fn profile(self) -> &'static ChannelProfile {
        match self {
            Self::Sms => &SMS,
            Self::Web => &WEB,
        }
    }
}
