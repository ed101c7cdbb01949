//! Channels and how they differ (D32). Code after ingress and before delivery asks the profile and
//! names no channel.

use crate::{AuditEvent, text_enum};

text_enum! {
    /// The channel by which a guest writes to us.
    Channel {
        Sms => "sms",
        Web => "web",
    }
}

/// How long a reply of the host may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplyLength {
    /// One text of one segment if possible, else two.
    Texts,
    /// One message: at most `usual` characters if possible, and never more than `most`.
    Message { usual: usize, most: usize },
}

/// How a channel differs from the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChannelProfile {
    /// Whether the commands of text messages hold: STOP, START, HELP and YES to a consent question.
    /// Where nothing is sent without a question, there is nothing to opt out of.
    pub commands: bool,
    /// Whether texts of machines are recognised, such as an auto-reply to each of ours.
    pub machines: bool,
    pub length: ReplyLength,
    /// Whether a reply waits for further texts of the guest, and as long as a person would type.
    pub waits: bool,
    /// Most messages of one conversation, of both sides; a guest of the web then begins another one
    /// (WEB-17). A guest by text has one conversation for ever.
    pub most_messages: Option<i64>,
    /// Whether a guest who needs a person gets a ticket with a number.
    pub tickets: bool,
    /// Whether a stream of the guest waits for news, and has to be told of them.
    pub streams: bool,
    /// The entry of the audit log for a guest's message.
    pub inbound: AuditEvent,
    /// Whether a reply may name the commands, as the disclosure of text messages does.
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
    /// Returns whether a reply is cut into texts of one segment; otherwise it is one message.
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
