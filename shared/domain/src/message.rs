//! The vocabulary for texts in the whole fleet: classes, lanes, states, dispositions, stages.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::Invalid;

macro_rules! text_enum {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident => $text:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum $name { $($(#[$vdoc])* #[serde(rename = $text)] $variant),+ }

        impl $name {
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];
            /// Returns the name used in rows, subjects, labels and JSON.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }
        }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }
        impl FromStr for $name {
            type Err = Invalid;
            fn from_str(text: &str) -> Result<Self, Invalid> {
                match text {
                    $($text => Ok(Self::$variant),)+
                    _ => Err(Invalid::new(stringify!($name), format!("`{text}`"), concat!("one of", $(" ", $text),+))),
                }
            }
        }
    };
}

pub(crate) use text_enum;

text_enum! {
    /// The purpose of a text; selects the row of the pre-send check's table (D6).
    MessageClass {
        OptOutConfirmation => "opt_out_confirmation",
        Help => "help",
        Crisis => "crisis",
        Emergency => "emergency",
        Holding => "holding",
        Reply => "reply",
        Informational => "informational",
        Marketing => "marketing",
    }
}

impl MessageClass {
    /// Returns whether a text of this class may be sent again when it is doubtful that the first
    /// one was sent (D5).
    pub fn is_safety(self) -> bool {
        matches!(self, Self::OptOutConfirmation | Self::Help | Self::Crisis | Self::Emergency)
    }

    pub fn lane(self) -> Lane {
        match self {
            _ if self.is_safety() => Lane::Safety,
            Self::Informational | Self::Marketing => Lane::Bulk,
            _ => Lane::Reply,
        }
    }
}

text_enum! {
    /// The sender's three queues, the most urgent first (D6).
    Lane {
        Safety => "safety",
        Reply => "reply",
        Bulk => "bulk",
    }
}

text_enum! {
    /// The states of an outbound text (D5).
    OutboundState {
        Queued => "queued",
        Sending => "sending",
        Sent => "sent",
        Delivered => "delivered",
        Failed => "failed",
        Undelivered => "undelivered",
        /// The provider may or may not have accepted it; an operator or reconciliation decides.
        Unknown => "unknown",
        Suppressed => "suppressed",
        Expired => "expired",
    }
}

impl OutboundState {
    pub fn is_final(self) -> bool {
        matches!(self, Self::Delivered | Self::Failed | Self::Undelivered | Self::Suppressed | Self::Expired)
    }
}

text_enum! {
    /// The final outcome of an inbound text (D4); `Open` and `Held` are not final.
    Disposition {
        Open => "open",
        /// Held for a person while its conversation is paused; becomes open again afterwards.
        Held => "held",
        Answered => "answered",
        Canned => "canned",
        Closed => "closed",
        Parked => "parked",
    }
}

text_enum! {
    /// The state of a dead letter (D17).
    DeadState {
        Open => "open",
        Replayed => "replayed",
        Discarded => "discarded",
    }
}

text_enum! {
    /// The channel by which a guest writes to us (D18).
    Channel {
        Sms => "sms",
    }
}

text_enum! {
    /// A worker's step in the processing of a text; names its stream, its consumers and its dead
    /// letters.
    Stage {
        /// The stage of ingress-webhook's dead letters; nothing consumes a stream of this name.
        Ingress => "ingress",
        Gate => "gate",
        Swarm => "swarm",
        Envelope => "envelope",
        Sender => "sender",
        Receipts => "receipts",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_round_trip() {
        for class in MessageClass::ALL {
            assert_eq!(class.as_str().parse::<MessageClass>().unwrap(), *class);
        }
        assert!("nope".parse::<OutboundState>().unwrap_err().to_string().contains("queued"));
    }

    #[test]
    fn safety_goes_first_and_proactive_last() {
        assert_eq!(MessageClass::Help.lane(), Lane::Safety);
        assert_eq!(MessageClass::Holding.lane(), Lane::Reply);
        assert_eq!(MessageClass::Marketing.lane(), Lane::Bulk);
    }
}
