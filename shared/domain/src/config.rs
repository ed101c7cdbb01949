//! The casino's configuration document: one per casino. Unknown keys are refused, and all defaults
//! are defined here.

mod legal_sender;
mod registration;
mod retired;

use chrono_tz::Tz;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::legal_sender::{LegalSender, Revocation, Scope};
pub use self::registration::{
    Brand, BrandTier, Campaign, CampaignClass, Entity, NumberKind, Registered, Registration,
};
pub use self::retired::{Retired, retired};
pub use crate::helpline::Helpline;
use crate::{BadDomain, CasinoId, Domains, Invalid, PhoneE164};

macro_rules! group {
    (
        $(#[$doc:meta])*
        $name:ident { $($(#[$fdoc:meta])* $field:ident : $ty:ty = $default:expr),+ $(,)? }
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(default, deny_unknown_fields)]
        pub struct $name { $($(#[$fdoc])* pub $field: $ty),+ }
        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $default),+ }
            }
        }
    };
}

/// The settings of one casino. `casino_id`, `timezone`, `state` and the numbers are required.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CasinoConfig {
    #[schemars(with = "String")]
    pub casino_id: CasinoId,
    /// The version of this document's format; always 1.
    #[serde(default = "one")]
    pub schema_version: u32,
    /// The domain pack of the casino (D18): agents, texts, rules and guardrails of its trade.
    #[serde(default = "casino")]
    pub pack: String,
    #[serde(default)]
    pub features: Features,
    #[serde(default)]
    pub prompts: Prompts,
    #[serde(default)]
    pub branding: Branding,
    pub regulations: Regulations,
    pub operational: Operational,
    #[serde(default, skip_serializing)]
    #[schemars(skip)]
    pub rag: Retired,
    #[serde(default)]
    pub limits: Limits,
    #[serde(default)]
    pub safe_mode: SafeMode,
    #[serde(default, skip_serializing)]
    #[schemars(skip)]
    pub operations_contact: Retired,
    #[serde(default, skip_serializing)]
    #[schemars(skip)]
    pub experiments: Retired,
}

/// The only supported version of the document's format.
const SCHEMA_VERSION: u32 = 1;

fn one() -> u32 {
    SCHEMA_VERSION
}
fn casino() -> String {
    "casino".to_owned()
}

group! {
    Features {
        ai_disclosure_enabled: bool = true,
        #[serde(skip_serializing)] #[schemars(skip)] whisper_planner_enabled: Retired = Retired,
        comp_agent_enabled: bool = true,
        #[serde(skip_serializing)] #[schemars(skip)] spanish_support_enabled: Retired = Retired,
        outbound_campaigns_enabled: bool = false,
        hitl_interrupt_enabled: bool = false,
        /// Whether a hosted model's first draft may be sent if the judge does not answer. The draft
        /// must pass the checks in code, and its agent must not be allowed to speak of offers.
        /// Otherwise the offline host answers.
        unjudged_first_draft_allowed: bool = false,
        human_like_delay_enabled: bool = true,
        /// Whether hosted models get `prompts.system_prompt_variant`; a flag can turn this on for a
        /// share of the guests.
        prompt_variant_enabled: bool = false,
    }
}

group! {
    /// The casino's own texts; null means the pack's text.
    Prompts {
        system_prompt_override: Option<String> = None,
        /// Replaces `system_prompt_override` for guests who have `features.prompt_variant_enabled`,
        /// so that two prompts can be compared.
        system_prompt_variant: Option<String> = None,
        #[serde(skip_serializing)] #[schemars(skip)] greeting_template: Retired = Retired,
        #[serde(skip_serializing)] #[schemars(skip)] greeting_template_es: Retired = Retired,
        fallback_message: Option<String> = None,
        /// The casino's name as guests read it; at most 24 characters, so that texts do not need
        /// more segments.
        casino_name_display: String = String::new(),
    }
}

/// The tones. In this order: warm and brief, quick and cheerful, calm and sparing with words.
pub const TONES: [&str; 3] = ["warm_professional", "lively", "understated"];
/// The levels of formality: casual, as with a familiar guest; or formal, without contractions and
/// colloquial words.
pub const FORMALITIES: [&str; 2] = ["casual_respectful", "formal"];

group! {
    /// The host's tone. Prompts ask hosted models for this tone. Code enforces the limits on emoji
    /// and exclamation marks in every reply. The pack's own texts have a fixed tone.
    Branding {
        /// The host's name; at most 10 characters, so that texts do not need more segments.
        persona_name: String = "Seven".to_owned(),
        /// One of [`TONES`]; any other value counts as the first.
        tone: String = TONES[0].to_owned(),
        /// One of [`FORMALITIES`]; Spanish uses usted in both.
        formality_level: String = FORMALITIES[0].to_owned(),
        /// Whether a hosted model may write emoji. A text with an emoji is Unicode, with 70
        /// characters per segment instead of 160.
        emoji_allowed: bool = false,
        /// Maximum number of sentences per reply that end with an exclamation mark.
        exclamation_limit: u8 = 1,
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Regulations {
    /// US state, two capital letters.
    pub state: String,
    #[serde(default = "twenty_one")]
    pub gaming_age_minimum: u8,
    #[serde(default = "yes")]
    pub ai_disclosure_required: bool,
    #[serde(default, skip_serializing)]
    #[schemars(skip)]
    pub ai_disclosure_law: Retired,
    /// Start of the quiet hours in the guest's local time, `HH:MM`.
    #[serde(default = "nine_pm")]
    pub quiet_hours_start: String,
    #[serde(default = "eight_am")]
    pub quiet_hours_end: String,
    #[serde(default)]
    pub responsible_gaming_helpline: Option<Helpline>,
    #[serde(default)]
    pub state_helpline: Option<Helpline>,
    /// Whether marketing texts require a result from the reassigned-numbers database.
    #[serde(default)]
    pub reassigned_number_check: bool,
    /// The legal sender, and which texts a guest's STOP ends (D7).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub legal_sender: Option<LegalSender>,
}

fn twenty_one() -> u8 {
    21
}
fn yes() -> bool {
    true
}
fn nine_pm() -> String {
    "21:00".to_owned()
}
fn eight_am() -> String {
    "08:00".to_owned()
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Operational {
    /// IANA zone of the property.
    #[schemars(with = "String")]
    pub timezone: Tz,
    #[schemars(with = "String")]
    pub telnyx_phone_number: PhoneE164,
    /// The casino's number at Twilio, its second provider. The number has its own 10DLC campaign.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    pub twilio_phone_number: Option<PhoneE164>,
    /// Registration state of the Twilio number's campaign. Proactive texts use the number only if
    /// the state is `approved`.
    #[serde(default)]
    pub twilio_registration: Registration,
    /// The messaging service whose pool contains `twilio_phone_number`, if the casino uses one.
    #[serde(default)]
    pub twilio_messaging_service_sid: Option<String>,
    /// The providers that send (`telnyx`, `twilio`), the primary first. If empty, the first
    /// provider is that of the number to which the guest writes. The others follow in the fleet's
    /// order.
    #[serde(default)]
    pub providers: Vec<String>,
    #[serde(default = "long_code")]
    pub number_kind: NumberKind,
    /// Maximum number of segments per second of the 10DLC campaign; required for `long_code`.
    #[serde(default)]
    pub campaign_segments_per_second: Option<u32>,
    /// AT&T's class of the campaign, which limits the campaign's segments per minute.
    #[serde(default)]
    pub campaign_class: Option<CampaignClass>,
    /// T-Mobile's tier of the brand, which limits the brand's proactive segments per day.
    #[serde(default)]
    pub brand_tier: Option<BrandTier>,
    /// Maximum number of segments per second of all the casino's numbers together. Null means that
    /// only the limit of each number applies.
    #[serde(default)]
    pub max_segments_per_second: Option<u32>,
    /// State of the 10DLC campaign or the toll-free verification. Proactive texts are sent only if
    /// the state is `approved`. The default is `missing`.
    #[serde(default)]
    pub registration: Registration,
    /// A long code's brand and campaign, as submitted to the registry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub registered: Option<Registered>,
    #[serde(default)]
    pub messaging_profile_id: Option<String>,
    /// The casino's privacy page, which says how numbers and texts are used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub privacy_page: Option<String>,
    /// The casino's terms of texting: frequency, cost, STOP and HELP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terms_page: Option<String>,
    #[serde(default, skip_serializing)]
    #[schemars(skip)]
    pub escalation_slack_channel: Retired,
    #[serde(default, skip_serializing)]
    #[schemars(skip)]
    pub escalation_sms_number: Retired,
    /// The phone number at which guests reach people, at most 16 characters. Fallback texts and the
    /// answer to HELP contain this number.
    pub contact_phone: String,
    #[serde(default = "twenty")]
    pub max_messages_per_guest_per_day: u32,
    #[serde(default = "forty_eight")]
    pub session_timeout_hours: u32,
    /// Address of the spreadsheet with all content of the casino, which is read each night. The
    /// file is CSV, or XLSX with one tab per category. The address must be https and public, and
    /// must not redirect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_sheet_url: Option<String>,
    /// Domains of the casino's website on which guests may open the chat: `www.example.com` allows
    /// this domain alone, `*.example.com` all its subdomains. If empty, the casino has no chat.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub web_domains: Vec<String>,
    /// Version of the spreadsheet's key for the content webhook. Raising it creates a new key and
    /// invalidates the previous one at once.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub content_key_version: u32,
}

fn long_code() -> NumberKind {
    NumberKind::LongCode
}
fn twenty() -> u32 {
    20
}
#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde asks for a reference"
)]
fn is_one(version: &u32) -> bool {
    *version == 1
}

fn forty_eight() -> u32 {
    48
}

impl Operational {
    /// Returns the domains on which guests may open the chat.
    ///
    /// # Errors
    /// Returns the first text that is not a domain.
    pub fn web_domains(&self) -> Result<Domains, BadDomain> {
        Domains::read(self.web_domains.iter().map(String::as_str))
    }

    /// Returns how many segments per second the casino's number may carry.
    pub fn segments_per_second(&self) -> u32 {
        match self.number_kind {
            NumberKind::TollFree => 20,
            NumberKind::ShortCode => 1_000,
            NumberKind::LongCode => self.campaign_segments_per_second.unwrap_or(1),
            NumberKind::Demo => 1_000,
        }
    }
}

/// The casino's tier, which limits its inbound texts per minute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RateLimitTier {
    Starter,
    Standard,
    Enterprise,
}

impl RateLimitTier {
    pub fn texts_per_minute(self) -> u32 {
        match self {
            Self::Starter => 50,
            Self::Standard => 100,
            Self::Enterprise => 200,
        }
    }
}

group! {
    Limits {
        rate_limit_tier: RateLimitTier = RateLimitTier::Standard,
        /// Maximum number of inbound texts per minute of all guests together, as set by the
        /// casino's contract. Null means the tier's limit.
        casino_texts_per_minute: Option<u32> = None,
        /// Maximum number of inbound texts per minute of each guest; texts beyond the limit are
        /// stored but not answered.
        guest_texts_per_minute: u32 = 10,
        #[serde(skip_serializing)] #[schemars(skip)] breaker_failures: Retired = Retired,
        #[serde(skip_serializing)] #[schemars(skip)] breaker_window_seconds: Retired = Retired,
        #[serde(skip_serializing)] #[schemars(skip)] breaker_cooldown_seconds: Retired = Retired,
    }
}

impl Limits {
    /// Returns the maximum number of inbound texts per minute of all the casino's guests together.
    pub fn texts_per_minute(&self) -> u32 {
        self.casino_texts_per_minute
            .unwrap_or_else(|| self.rate_limit_tier.texts_per_minute())
    }
}

group! {
    SafeMode {
        enabled: bool = false,
        reason: Option<String> = None,
    }
}

impl Prompts {
    /// Returns whether there is a second prompt to compare with the usual one.
    pub fn has_variant(&self) -> bool {
        let variant = self.system_prompt_variant.as_deref();
        variant.is_some_and(|text| !text.trim().is_empty())
    }
}

impl CasinoConfig {
    /// Checks cross-field rules that the types cannot express; each problem names its field and the
    /// fix.
    pub fn check(&self) -> Result<(), Vec<Invalid>> {
        let mut problems = Vec::new();
        let mut need = |ok: bool, what: &'static str, problem: String, expected: &'static str| {
            if !ok {
                problems.push(Invalid::new(what, problem, expected));
            }
        };
        let name = self.prompts.casino_name_display.chars().count();
        need(
            (1..=24).contains(&name),
            "prompts.casino_name_display",
            format!("{name} characters"),
            "1 to 24 characters",
        );
        need(
            !self.features.prompt_variant_enabled || self.prompts.has_variant(),
            "prompts.system_prompt_variant",
            "no text, although features.prompt_variant_enabled is true".to_owned(),
            "the second prompt, or the feature off",
        );
        let state = &self.regulations.state;
        let two_capitals = state.len() == 2 && state.bytes().all(|b| b.is_ascii_uppercase());
        need(
            two_capitals,
            "regulations.state",
            format!("`{state}`"),
            "two capital letters, such as CT",
        );
        let phone = self.operational.contact_phone.chars().count();
        need(
            (3..=16).contains(&phone),
            "operational.contact_phone",
            format!("{phone} characters"),
            "3 to 16 characters, such as 1-860-555-0199",
        );
        let sheet = self.operational.content_sheet_url.as_deref();
        need(
            sheet.is_none_or(|url| url.starts_with("https://")),
            "operational.content_sheet_url",
            "does not begin with https://".into(),
            "the public address of the sheet, which begins with https://",
        );
        let domains = self.operational.web_domains();
        need(
            domains.is_ok(),
            "operational.web_domains",
            domains
                .err()
                .map_or_else(String::new, |bad| bad.to_string()),
            "domains such as www.example.com or *.example.com",
        );
        let paced = self.operational.number_kind != NumberKind::LongCode
            || self
                .operational
                .campaign_segments_per_second
                .is_some_and(|n| n > 0);
        need(
            paced,
            "operational.campaign_segments_per_second",
            "missing".into(),
            "the 10DLC campaign's segments per second",
        );
        problems.extend(self.operational.provider_problems());
        problems.extend(
            self.regulations
                .legal_sender
                .iter()
                .flat_map(LegalSender::problems),
        );
        for helpline in [
            &self.regulations.responsible_gaming_helpline,
            &self.regulations.state_helpline,
        ]
        .into_iter()
        .flatten()
        {
            problems.extend(helpline.check().err());
        }
        let mut need = |ok: bool, what: &'static str, problem: String, expected: &'static str| {
            if !ok {
                problems.push(Invalid::new(what, problem, expected));
            }
        };
        need(
            self.schema_version == SCHEMA_VERSION,
            "schema_version",
            self.schema_version.to_string(),
            "1",
        );
        // The pack's texts are checked for their number of segments with names of ten characters.
        let persona = self.branding.persona_name.chars().count();
        need(
            (1..=10).contains(&persona),
            "branding.persona_name",
            format!("{persona} characters"),
            "1 to 10 characters",
        );
        let ours = &self.branding;
        need(
            TONES.contains(&ours.tone.as_str()),
            "branding.tone",
            format!("`{}`", ours.tone),
            "warm_professional, lively or understated",
        );
        let formality = ours.formality_level.as_str();
        need(
            FORMALITIES.contains(&formality),
            "branding.formality_level",
            format!("`{formality}`"),
            "casual_respectful or formal",
        );
        for (field, text) in [
            (
                "regulations.quiet_hours_start",
                &self.regulations.quiet_hours_start,
            ),
            (
                "regulations.quiet_hours_end",
                &self.regulations.quiet_hours_end,
            ),
        ] {
            need(
                chrono::NaiveTime::parse_from_str(text, "%H:%M").is_ok(),
                field,
                format!("`{text}`"),
                "HH:MM, such as 21:00",
            );
        }
        if problems.is_empty() {
            Ok(())
        } else {
            Err(problems)
        }
    }

    /// Returns the JSON Schema of the document, for editors and `seven casino schema`.
    pub fn json_schema() -> serde_json::Value {
        schemars::schema_for!(Self).to_value()
    }
}

#[cfg(test)]
mod tests;
