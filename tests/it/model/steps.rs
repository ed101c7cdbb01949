//! Steps of the model test, and how a sequence of them is drawn, shrunk and printed.

use std::fmt;

use proptest::{
    collection::vec,
    option,
    prelude::{Just, Strategy, prop_oneof},
};
use seven_domain::MessageClass;

/// A phone at a casino; the same phone at another casino is a different guest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Who {
    pub(crate) casino: usize,
    pub(crate) phone: usize,
}

pub(crate) const EVERYBODY: [Who; 4] = [
    Who {
        casino: 0,
        phone: 0,
    },
    Who {
        casino: 0,
        phone: 1,
    },
    Who {
        casino: 1,
        phone: 0,
    },
    Who {
        casino: 1,
        phone: 1,
    },
];

macro_rules! texts {
    ($($(#[$doc:meta])* $name:ident => $text:literal),+ $(,)?) => {
        /// A text that a guest writes.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Said { $($(#[$doc])* $name),+ }

        impl Said {
            pub(crate) const ALL: &'static [Self] = &[$(Self::$name),+];

            pub(crate) fn text(self) -> &'static str {
                match self { $(Self::$name => $text),+ }
            }
        }
    };
}

texts! {
    Stop => "STOP",
    /// A keyword of ours that the provider does not react to.
    Remove => "remove me",
    StopInWords => "please stop texting me",
    StopInSpanish => "ya no me manden mensajes",
    CryAndStop => "I want to kill myself, stop texting me",
    Start => "START",
    /// Another keyword of ours that the provider does not know.
    Iniciar => "INICIAR",
    Yes => "YES",
    Help => "HELP",
    Delete => "DELETE",
    Keep => "KEEP",
    Ordinary => "What restaurants are open tonight?",
}

impl Said {
    pub(crate) fn is_stop(self) -> bool {
        matches!(
            self,
            Self::Stop | Self::Remove | Self::StopInWords | Self::StopInSpanish | Self::CryAndStop
        )
    }

    pub(crate) fn is_start(self) -> bool {
        matches!(self, Self::Start | Self::Iniciar)
    }

    /// Returns whether the text is an opt-out in plain language.
    pub(crate) fn in_words(self) -> bool {
        matches!(
            self,
            Self::StopInWords | Self::StopInSpanish | Self::CryAndStop
        )
    }

    pub(crate) fn known_to_provider(self) -> bool {
        matches!(self, Self::Stop | Self::Start | Self::Help)
    }
}

/// When the guest wrote the text; webhooks may arrive in another order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum When {
    Now,
    SecondsAgo(i64),
    /// In the same millisecond as the guest's last text.
    AsTheLastOne,
}

/// The last stage that the step lets a text reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    Gate,
    /// Ingress answered 2xx, and no gate took the text from the stream.
    Ingress,
}

/// The provider's response to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    Accepts,
    /// The provider answers with 40300.
    SaysOptedOut,
    RefusesForGood,
    RefusesForNow,
    /// The first request does not reach the provider; the sender repeats it at once.
    IsNotReached,
    AnswersTooLate,
    /// The sender dies after it has committed the state `sending` and before the request.
    CrashBeforeRequest,
    /// The sender dies while the request is in progress.
    CrashInRequest,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Receipt {
    Delivered,
    Failed,
    SaysOptedOut,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Says {
        who: Who,
        said: Said,
        when: When,
        reach: Reach,
    },
    /// Telnyx delivers an earlier text again; `nth` counts back from the last one.
    Retry {
        nth: usize,
        reach: Reach,
    },
    /// The stream delivers an earlier text again.
    Redeliver {
        nth: usize,
    },
    Queue {
        who: Who,
        class: MessageClass,
    },
    /// The sender takes one of the queued texts that are due; meanwhile a STOP may come in.
    Send {
        nth: usize,
        answer: Answer,
        meanwhile: Option<Said>,
    },
    Receipt {
        nth: usize,
        receipt: Receipt,
    },
    /// A round of the scheduler over what is due: doubts, postponed sends and deletions.
    Due,
    Wait {
        seconds: i64,
    },
    WipeRedis,
    /// `seven consent record --tier marketing`, which is refused for a guest who is opted out.
    RecordConsent {
        who: Who,
    },
}

fn who() -> impl Strategy<Value = Who> {
    prop_oneof![
        9 => Just(EVERYBODY[0]),
        1 => Just(EVERYBODY[1]),
        2 => Just(EVERYBODY[2]),
        1 => Just(EVERYBODY[3]),
    ]
}

fn said() -> impl Strategy<Value = Said> {
    prop_oneof![
        8 => Just(Said::Ordinary),
        5 => Just(Said::Stop),
        14 => Just(Said::Start),
        3 => Just(Said::StopInWords),
        1 => Just(Said::StopInSpanish),
        1 => Just(Said::Remove),
        3 => Just(Said::Iniciar),
        8 => Just(Said::Yes),
        2 => Just(Said::Delete),
        1 => Just(Said::Keep),
        2 => Just(Said::Help),
        1 => Just(Said::CryAndStop),
    ]
}

fn when() -> impl Strategy<Value = When> {
    prop_oneof![
        12 => Just(When::Now),
        2 => Just(When::SecondsAgo(5)),
        2 => Just(When::SecondsAgo(60)),
        2 => Just(When::SecondsAgo(15 * 60)),
        1 => Just(When::SecondsAgo(3 * 3600)),
        1 => Just(When::SecondsAgo(30 * 3600)),
        2 => Just(When::AsTheLastOne),
    ]
}

fn reach() -> impl Strategy<Value = Reach> {
    prop_oneof![7 => Just(Reach::Gate), 2 => Just(Reach::Ingress)]
}

fn answer() -> impl Strategy<Value = Answer> {
    prop_oneof![
        40 => Just(Answer::Accepts),
        4 => Just(Answer::SaysOptedOut),
        1 => Just(Answer::RefusesForGood),
        1 => Just(Answer::RefusesForNow),
        2 => Just(Answer::IsNotReached),
        2 => Just(Answer::AnswersTooLate),
        1 => Just(Answer::CrashBeforeRequest),
        1 => Just(Answer::CrashInRequest),
    ]
}

/// Draws steps that often lead to a marketing text. Sequences of `anything()` seldom get that far.
fn selling() -> impl Strategy<Value = Step> {
    let said = prop_oneof![
        3 => Just(Said::Start),
        2 => Just(Said::Stop),
        2 => Just(Said::Yes),
        1 => Just(Said::StopInWords),
        1 => Just(Said::Iniciar),
        1 => Just(Said::Ordinary),
    ];
    let answer = prop_oneof![12 => Just(Answer::Accepts), 1 => answer()];
    let seconds = prop_oneof![3 => Just(25 * 3600), 1 => Just(10), 1 => Just(6 * 60)];
    let who = || Just(EVERYBODY[0]);
    prop_oneof![
        30 => (0..2usize, answer).prop_map(
            |(nth, answer)| Step::Send { nth, answer, meanwhile: None }
        ),
        24 => (said, when(), reach()).prop_map(
            move |(said, when, reach)| Step::Says { who: EVERYBODY[0], said, when, reach },
        ),
        16 => who().prop_map(|who| Step::Queue { who, class: MessageClass::Marketing }),
        12 => who().prop_map(|who| Step::RecordConsent { who }),
        10 => seconds.prop_map(|seconds| Step::Wait { seconds }),
        3 => Just(Step::Due),
        3 => (0..6usize).prop_map(|nth| Step::Redeliver { nth }),
    ]
}

/// Draws steps about guests who ask for deletion and write again later.
fn leaving() -> impl Strategy<Value = Step> {
    let said = prop_oneof![
        3 => Just(Said::Ordinary),
        4 => Just(Said::Delete),
        3 => Just(Said::Stop),
        2 => Just(Said::Start),
        1 => Just(Said::StopInWords),
        1 => Just(Said::Keep),
        1 => Just(Said::Yes),
    ];
    let seconds = prop_oneof![3 => Just(20 * 60), 1 => Just(10), 1 => Just(25 * 3600)];
    let class = prop_oneof![3 => Just(MessageClass::Reply), 1 => Just(MessageClass::Marketing)];
    let who = || prop_oneof![4 => Just(EVERYBODY[0]), 1 => Just(EVERYBODY[2])];
    prop_oneof![
        24 => (0..2usize).prop_map(|nth| Step::Send {
            nth,
            answer: Answer::Accepts,
            meanwhile: None,
        }),
        28 => (who(), said, reach()).prop_map(
            |(who, said, reach)| Step::Says { who, said, when: When::Now, reach }
        ),
        14 => (who(), class).prop_map(|(who, class)| Step::Queue { who, class }),
        12 => seconds.prop_map(|seconds| Step::Wait { seconds }),
        12 => Just(Step::Due),
        5 => (0..6usize).prop_map(|nth| Step::Redeliver { nth }),
        3 => (0..6usize, reach()).prop_map(|(nth, reach)| Step::Retry { nth, reach }),
        3 => who().prop_map(|who| Step::RecordConsent { who }),
    ]
}

fn anything() -> impl Strategy<Value = Step> {
    let class = prop_oneof![
        6 => Just(MessageClass::Reply),
        2 => Just(MessageClass::Marketing),
        3 => Just(MessageClass::Informational),
        1 => Just(MessageClass::Holding),
    ];
    let meanwhile = option::weighted(0.08, prop_oneof![Just(Said::Stop), Just(Said::StopInWords)]);
    let receipt = prop_oneof![
        3 => Just(Receipt::Delivered),
        1 => Just(Receipt::Failed),
        1 => Just(Receipt::SaysOptedOut),
    ];
    let seconds = prop_oneof![
        3 => Just(10),
        3 => Just(2 * 60),
        2 => Just(6 * 60),
        3 => Just(20 * 60),
        1 => Just(9 * 3600),
        2 => Just(25 * 3600),
        1 => Just(48 * 3600),
    ];
    prop_oneof![
        30 => (0..3usize, answer(), meanwhile).prop_map(
            |(nth, answer, meanwhile)| Step::Send { nth, answer, meanwhile }
        ),
        28 => (who(), said(), when(), reach()).prop_map(
            |(who, said, when, reach)| Step::Says { who, said, when, reach }
        ),
        18 => (who(), class).prop_map(|(who, class)| Step::Queue { who, class }),
        7 => seconds.prop_map(|seconds| Step::Wait { seconds }),
        4 => Just(Step::Due),
        3 => (0..16usize, reach()).prop_map(|(nth, reach)| Step::Retry { nth, reach }),
        5 => (0..16usize).prop_map(|nth| Step::Redeliver { nth }),
        3 => who().prop_map(|who| Step::RecordConsent { who }),
        2 => (0..8usize, receipt).prop_map(|(nth, receipt)| Step::Receipt { nth, receipt }),
        1 => Just(Step::WipeRedis),
    ]
}

/// Draws mostly long sequences, since some errors show only after many steps.
pub(crate) fn sequence() -> impl Strategy<Value = Vec<Step>> {
    prop_oneof![
        3 => vec(anything(), 1..=120),
        2 => vec(selling(), 1..=90),
        1 => vec(leaving(), 1..=60),
    ]
}

// === Display: what a failure prints ===

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "guest {} of casino {}",
            ["A", "B"][self.phone],
            self.casino + 1
        )
    }
}

impl fmt::Display for When {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Now => Ok(()),
            Self::SecondsAgo(seconds) => write!(f, ", written {} ago", span(*seconds)),
            Self::AsTheLastOne => f.write_str(", written in the same millisecond as the last one"),
        }
    }
}

impl fmt::Display for Reach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if *self == Self::Gate {
            ""
        } else {
            " (ingress only)"
        })
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Accepts => "the provider accepts",
            Self::SaysOptedOut => "the provider says 40300, opted out",
            Self::RefusesForGood => "the provider refuses for good",
            Self::RefusesForNow => "the provider refuses for now",
            Self::IsNotReached => "the provider is not reached at first",
            Self::AnswersTooLate => "the provider answers too late",
            Self::CrashBeforeRequest => "a crash before the request",
            Self::CrashInRequest => "a crash with the request under way",
        })
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Says {
                who,
                said,
                when,
                reach,
            } => write!(f, "{who} texts {:?}{when}{reach}", said.text()),
            Self::Retry { nth, reach } => {
                write!(f, "Telnyx comes again with {}{reach}", back(*nth, "text"))
            }
            Self::Redeliver { nth } => {
                write!(f, "the stream delivers {} again", back(*nth, "text"))
            }
            Self::Queue { who, class } => write!(f, "a text of class {class} is queued for {who}"),
            Self::Send {
                nth,
                answer,
                meanwhile,
            } => {
                write!(
                    f,
                    "the sender takes {}: {answer}",
                    [
                        "the first queued text",
                        "the second queued text",
                        "the third queued text"
                    ][*nth]
                )?;
                meanwhile.map_or(Ok(()), |said| {
                    write!(f, "; during the request the guest texts {:?}", said.text())
                })
            }
            Self::Receipt { nth, receipt } => {
                write!(f, "a receipt for {}: {receipt:?}", back(*nth, "request"))
            }
            Self::Due => f.write_str("the scheduler does what is due"),
            Self::Wait { seconds } => write!(f, "{} pass", span(*seconds)),
            Self::WipeRedis => f.write_str("Redis loses everything"),
            Self::RecordConsent { who } => {
                write!(f, "an operator records marketing consent of {who}")
            }
        }
    }
}

fn span(seconds: i64) -> String {
    match seconds {
        s if s % 3600 == 0 => format!("{} h", s / 3600),
        s if s % 60 == 0 => format!("{} min", s / 60),
        s => format!("{s} s"),
    }
}

fn back(nth: usize, what: &str) -> String {
    match nth {
        0 => format!("the last {what}"),
        nth => format!("the {what} {nth} before the last"),
    }
}
