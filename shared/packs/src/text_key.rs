//! The names of system texts.

use serde::Deserialize;
use seven_compliance::Layer;
use seven_domain::{Channel, DisclosureKind};

macro_rules! text_keys {
    ($($(#[$doc:meta])* $variant:ident => $word:literal),+ $(,)?) => {
        /// The name of a system text in `texts.toml`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
        pub enum TextKey { $($(#[$doc])* #[serde(rename = $word)] $variant),+ }

        impl TextKey {
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }
    };
}

text_keys! {
    OptOutConfirmation => "opt_out_confirmation",
    OptInConfirmation => "opt_in_confirmation",
    ConsentPrompt => "consent_prompt",
    ConsentGranted => "consent_granted",
    /// Asks whether the guest wants no more texts; sent after a text that resembles an opt-out
    /// (D20).
    OptOutQuestion => "opt_out_question",
    /// The answer to a guest who says no to [`Self::OptOutQuestion`].
    OptOutDeclined => "opt_out_declined",
    Help => "help",
    Privacy => "privacy",
    DeleteReceived => "delete_received",
    DeletePending => "delete_pending",
    DeleteWithdrawn => "delete_withdrawn",
    MmsTextOnly => "mms_text_only",
    RateLimited => "rate_limited",
    Fallback => "fallback",
    /// A broad question about the guest's wishes, asked after turns without progress.
    Menu => "menu",
    /// The answer to a question about a subject that the host does not talk about.
    OffTopic => "off_topic",
    /// The host's only answer to a guest who writes while the conversation is paused.
    Holding => "holding",
    /// Sent in safe mode in place of the host's replies.
    SafeMode => "safe_mode",
    /// Says that a person will write shortly; sent when a case is opened during business hours.
    EscalatedShortly => "escalated_shortly",
    /// Says that a person will write within hours. Sent when a case is opened by day on a weekend
    /// or holiday.
    EscalatedHours => "escalated_hours",
    /// Says that a person will write the next day; sent when a case is opened at night.
    EscalatedTomorrow => "escalated_tomorrow",
    /// Says that nobody wrote in time, and whom to call; sent once when a case is overdue.
    EscalationOverdue => "escalation_overdue",
    /// Opens the first reply to a guest who returns.
    WelcomeBack => "welcome_back",
    /// Opens the first reply to a guest by saying that an AI writes; the answer follows in the same
    /// text.
    Disclosure => "disclosure",
    /// Repeats the disclosure at the start of a text, after a change that guests must be told of
    /// (`MaterialChange`).
    Redisclosure => "redisclosure",
    /// The disclosure on the website. It names no command to stop, because nothing is sent unasked.
    WebDisclosure => "web_disclosure",
    /// The answer to a STOP on the website, where nothing is sent unasked.
    WebStop => "web_stop",
    /// The answer on the website to a guest who asks whether a person writes; it names no command.
    WebIdentity => "web_identity",
    /// The answer in a conversation on the website that has reached its maximum number of messages.
    WebFull => "web_full",
    /// The only notice sent to a machine that answers each of our texts.
    AutoResponder => "auto_responder",
    /// Tells the casino's new number to a guest who wrote to an old one.
    NumberChanged => "number_changed",
    Crisis => "crisis",
    Emergency => "emergency",
    ResponsibleGaming => "responsible_gaming",
    PromptInjection => "prompt_injection",
    BsaAml => "bsa_aml",
    PatronPrivacy => "patron_privacy",
    Pii => "pii",
    AgeVerification => "age_verification",
    Identity => "identity",
    Abuse => "abuse",
    /// One sentence that names the crisis line. It is added to the answer to a text that only
    /// resembles a cry for help (D20).
    CrisisLine => "crisis_line",
    EmergencyLine => "emergency_line",
    GamingLine => "gaming_line",
    /// The answer to a cry for help that reached us long after it was written.
    LateCry => "late_cry",
}

impl TextKey {
    /// Returns the sentence that names the helpline for this layer. The sentence is added to the
    /// answer to a text that only resembles a cry for help. `None` if the layer is not a cry for
    /// help.
    pub fn line_of(layer: Layer) -> Option<Self> {
        match layer {
            Layer::Crisis => Some(Self::CrisisLine),
            Layer::Emergency => Some(Self::EmergencyLine),
            Layer::ResponsibleGaming => Some(Self::GamingLine),
            _ => None,
        }
    }

    /// Returns the text that discloses to a guest of this channel that an AI writes.
    pub fn disclosure(kind: DisclosureKind, channel: Channel) -> Self {
        match (channel.profile().names_stop, kind) {
            (false, _) => Self::WebDisclosure,
            (true, DisclosureKind::Again) => Self::Redisclosure,
            (true, DisclosureKind::First | DisclosureKind::Session) => Self::Disclosure,
        }
    }

    /// Returns the text to send on this channel. If texts on the channel must not name STOP, this
    /// is the variant without STOP, if one exists; otherwise it is `self`.
    pub fn on(self, channel: Channel) -> Self {
        match self {
            Self::Identity if !channel.profile().names_stop => Self::WebIdentity,
            other => other,
        }
    }

    /// Returns the pack's answer to a text in which this layer of the guardrails found something.
    pub fn answer_to(layer: Layer) -> Self {
        match layer {
            Layer::Crisis => Self::Crisis,
            Layer::Emergency => Self::Emergency,
            Layer::PromptInjection => Self::PromptInjection,
            Layer::ResponsibleGaming => Self::ResponsibleGaming,
            Layer::BsaAml => Self::BsaAml,
            Layer::PatronPrivacy => Self::PatronPrivacy,
            Layer::Pii => Self::Pii,
            Layer::AgeVerification => Self::AgeVerification,
            Layer::Identity => Self::Identity,
            Layer::Abuse => Self::Abuse,
        }
    }
}
