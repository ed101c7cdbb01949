//! Names of system texts.

use serde::Deserialize;
use seven_compliance::Layer;

macro_rules! text_keys {
    ($($(#[$doc:meta])* $variant:ident => $word:literal),+ $(,)?) => {
        /// The name of a system text, as in `texts.toml`.
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
    /// Asks a guest whose text resembles an opt-out (D20).
    OptOutQuestion => "opt_out_question",
    /// The answer when the guest says no to that question.
    OptOutDeclined => "opt_out_declined",
    Help => "help",
    Privacy => "privacy",
    DeleteReceived => "delete_received",
    DeletePending => "delete_pending",
    DeleteWithdrawn => "delete_withdrawn",
    MmsTextOnly => "mms_text_only",
    RateLimited => "rate_limited",
    Fallback => "fallback",
    /// The broad question after turns without progress (CONV-33).
    Menu => "menu",
    /// The answer to a subject that is not the host's business (AGENT-11).
    OffTopic => "off_topic",
    /// The only text of a pause, sent when the guest writes again (SEC-109).
    Holding => "holding",
    /// The only text sent in safe mode (SEC-122).
    SafeMode => "safe_mode",
    /// A case was opened during business hours: says that a person will write shortly (SEC-104,
    /// CONV-44).
    EscalatedShortly => "escalated_shortly",
    /// A case was opened on a weekend or holiday, by day: says that a person will write within
    /// hours.
    EscalatedHours => "escalated_hours",
    /// A case was opened at night: says that a person will write the next day.
    EscalatedTomorrow => "escalated_tomorrow",
    /// Opens the first reply to a guest who returns.
    WelcomeBack => "welcome_back",
    /// Opens the first reply to a guest; the answer follows in the same text.
    Disclosure => "disclosure",
    /// Opens a text when the information given to the guest about us has changed.
    Redisclosure => "redisclosure",
    /// The only notice sent to a machine that answers each of our texts.
    AutoResponder => "auto_responder",
    /// The first answer to a guest who wrote to a number that the casino no longer uses.
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
    /// One sentence naming the crisis line, added to the answer to a text that resembles a cry for
    /// help (D20).
    CrisisLine => "crisis_line",
    EmergencyLine => "emergency_line",
    GamingLine => "gaming_line",
    /// The answer to a cry for help that reached us long after it was written.
    LateCry => "late_cry",
}

impl TextKey {
    /// Returns the sentence that names the helpline when a text only resembles a cry for help of
    /// this layer.
    pub fn line_of(layer: Layer) -> Option<Self> {
        match layer {
            Layer::Crisis => Some(Self::CrisisLine),
            Layer::Emergency => Some(Self::EmergencyLine),
            Layer::ResponsibleGaming => Some(Self::GamingLine),
            _ => None,
        }
    }

    /// Returns the pack's answer to a layer of its guardrails.
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
