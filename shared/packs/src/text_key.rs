//! Names of system texts.

use serde::Deserialize;
use seven_compliance::Layer;

macro_rules! text_keys {
    ($($(#[$doc:meta])* $variant:ident => $word:literal),+ $(,)?) => {
        /// Name of a system text, as in `texts.toml`.
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
    /// The answer to a no to that question.
    OptOutDeclined => "opt_out_declined",
    Help => "help",
    Privacy => "privacy",
    DeleteReceived => "delete_received",
    DeletePending => "delete_pending",
    DeleteWithdrawn => "delete_withdrawn",
    MmsTextOnly => "mms_text_only",
    RateLimited => "rate_limited",
    Fallback => "fallback",
    /// The broad choice, after turns that led nowhere (CONV-33).
    Menu => "menu",
    /// The reply to a subject that the host has nothing to do with (AGENT-11).
    OffTopic => "off_topic",
    /// The one text of a pause, when the guest writes again (SEC-109).
    Holding => "holding",
    /// The one text of safe mode (SEC-122).
    SafeMode => "safe_mode",
    /// A case was opened: a person writes within business hours (SEC-104, CONV-44).
    EscalatedShortly => "escalated_shortly",
    /// The same on a weekend day.
    EscalatedHours => "escalated_hours",
    /// The same at night.
    EscalatedTomorrow => "escalated_tomorrow",
    /// Opens the first reply of a guest who comes back.
    WelcomeBack => "welcome_back",
    /// Opens the first reply to a guest; the answer follows in the same text.
    Disclosure => "disclosure",
    /// Opens a text when what the guest was told about us has changed.
    Redisclosure => "redisclosure",
    /// The one notice to a machine that answers each of our texts.
    AutoResponder => "auto_responder",
    /// The first answer to a guest who wrote to a number that the casino gave up.
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
    /// One sentence with the line, beside the answer to a text that resembles a cry for help (D20).
    CrisisLine => "crisis_line",
    EmergencyLine => "emergency_line",
    GamingLine => "gaming_line",
    /// The answer to a cry for help that reached us long after it was written.
    LateCry => "late_cry",
}

impl TextKey {
    /// The one sentence that names the line where a text only resembles a cry of this layer.
    pub fn line_of(layer: Layer) -> Option<Self> {
        match layer {
            Layer::Crisis => Some(Self::CrisisLine),
            Layer::Emergency => Some(Self::EmergencyLine),
            Layer::ResponsibleGaming => Some(Self::GamingLine),
            _ => None,
        }
    }

    /// The pack's answer to a layer of its guardrails.
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
