//! The vocabulary for texts in the whole fleet: classes, lanes, states, dispositions, stages.

/// Declares an enum whose values have the same name in rows, subjects, labels and JSON.
#[macro_export]
macro_rules! text_enum {
    (
        $(#[$doc:meta])*
        $name:ident { $($(#[$vdoc:meta])* $variant:ident => $text:literal),+ $(,)? }
    ) => {
        $(#[$doc])*
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord,
            ::serde::Serialize, ::serde::Deserialize,
        )]
        pub enum $name { $($(#[$vdoc])* #[serde(rename = $text)] $variant),+ }

        impl $name {
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];
            /// Returns the name used in rows, subjects, labels and JSON.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }
        }
        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.pad(self.as_str())
            }
        }
        $crate::text_column!($name);
        impl ::std::str::FromStr for $name {
            type Err = $crate::Invalid;
            fn from_str(text: &str) -> Result<Self, $crate::Invalid> {
                match text {
                    $($text => Ok(Self::$variant),)+
                    _ => Err($crate::Invalid::new(
                        stringify!($name),
                        format!("`{text}`"),
                        concat!("one of", $(" ", $text),+),
                    )),
                }
            }
        }
    };
}

text_enum! {
    /// The purpose of a text. It selects the row of `send_policy` with the rules that the pre-send
    /// check applies (D6).
    MessageClass {
        OptOutConfirmation => "opt_out_confirmation",
        Help => "help",
        Crisis => "crisis",
        Emergency => "emergency",
        Holding => "holding",
        Reply => "reply",
        /// A text to a phone of the casino's own staff (D28).
        Staff => "staff",
        Informational => "informational",
        Marketing => "marketing",
    }
}

impl MessageClass {
    /// Returns whether a text of this class may be sent again if nobody knows whether the first
    /// attempt succeeded (D5).
    pub fn is_safety(self) -> bool {
        matches!(
            self,
            Self::OptOutConfirmation | Self::Help | Self::Crisis | Self::Emergency
        )
    }

    pub fn lane(self) -> Lane {
        match self {
            _ if self.is_safety() => Lane::Safety,
            Self::Informational | Self::Marketing => Lane::Bulk,
            _ => Lane::Reply,
        }
    }

    /// Returns the queue of the sender in which a text of this class waits.
    pub fn queue(self) -> Queue {
        match (self, self.lane()) {
            (Self::Crisis | Self::Emergency, _) => Queue::Urgent,
            (_, Lane::Safety) => Queue::Safety,
            (_, Lane::Reply) => Queue::Reply,
            (_, Lane::Bulk) => Queue::Bulk,
        }
    }
}

text_enum! {
    /// The sender's queues on the bus, the most urgent first (D16). Each queue has its own
    /// consumers, because a consumer delivers messages in the order of arrival. In one queue for
    /// all safety texts, the answer to a cry for help would wait behind many answers to HELP.
    Queue {
        Urgent => "urgent",
        Safety => "safety",
        Reply => "reply",
        Bulk => "bulk",
    }
}

text_enum! {
    /// A group of classes that share rate limits and rules of the pre-send check (D6).
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
        /// The provider may or may not have accepted the text; an operator or reconciliation
        /// decides.
        Unknown => "unknown",
        Suppressed => "suppressed",
        Expired => "expired",
    }
}

impl OutboundState {
    pub fn is_final(self) -> bool {
        matches!(
            self,
            Self::Delivered | Self::Failed | Self::Undelivered | Self::Suppressed | Self::Expired
        )
    }
}

text_enum! {
    /// The state of an inbound text (D4); every state but `Open` and `Held` is final.
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
    /// The state of a turn.
    TurnState {
        /// The turn's draft waits for the envelope.
        Drafted => "drafted",
        /// The turn's texts are queued.
        Shaped => "shaped",
        Cancelled => "cancelled",
        /// The draft could not be shaped; its dead letter waits for an operator.
        Parked => "parked",
    }
}

text_enum! {
    /// A person's decision about a held reply (AGENT-15).
    HeldDecision {
        Released => "released",
        /// The reply was released after the person changed its wording.
        Edited => "edited",
        Discarded => "discarded",
    }
}

text_enum! {
    /// The outcome of one call of a provider (D5).
    AttemptOutcome {
        /// The call may still be in progress.
        Pending => "pending",
        /// The provider has accepted the text.
        Accepted => "accepted",
        /// The provider refused the text for good.
        Refused => "refused",
        /// The text was certainly not sent and may be tried again.
        Transient => "transient",
        /// The provider may or may not have accepted the text.
        Ambiguous => "ambiguous",
        /// A receipt showed that the provider had accepted the text.
        Confirmed => "confirmed",
        /// A receipt reported a failure.
        Rejected => "rejected",
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
    /// A person's order for a dead letter.
    DeadOrder {
        Replay => "replay",
        Discard => "discard",
    }
}

text_enum! {
    /// A worker's step in the processing of a text. The step's stream, consumers and dead letters
    /// are named after it.
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
        assert!(
            "nope"
                .parse::<OutboundState>()
                .unwrap_err()
                .to_string()
                .contains("queued")
        );
    }

    #[test]
    fn safety_goes_first_and_proactive_last() {
        assert_eq!(MessageClass::Help.lane(), Lane::Safety);
        assert_eq!(MessageClass::Holding.lane(), Lane::Reply);
        assert_eq!(MessageClass::Marketing.lane(), Lane::Bulk);
        for (class, queue) in [
            (MessageClass::Crisis, Queue::Urgent),
            (MessageClass::Emergency, Queue::Urgent),
            (MessageClass::OptOutConfirmation, Queue::Safety),
            (MessageClass::Help, Queue::Safety),
            (MessageClass::Holding, Queue::Reply),
            (MessageClass::Staff, Queue::Reply),
            (MessageClass::Marketing, Queue::Bulk),
        ] {
            assert_eq!(class.queue(), queue, "{class}");
        }
    }
}
