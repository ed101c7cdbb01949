//! The numbers of a pack: waiting times, typing delays, and limits on the length of answers.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use serde::Deserialize;
use seven_domain::config::Helpline;

use crate::{Error, TextKey};

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    /// Maximum number of minutes that a guest's text may wait for an answer. After that, the text
    /// is closed as too old (D4).
    pub usefulness_minutes: u32,
    /// How long the guest must be silent before a turn starts. `quiet_window_max_ms` limits the
    /// total wait (D4).
    pub quiet_window_ms: u64,
    pub quiet_window_max_ms: u64,
    /// Maximum number of texts in one answer.
    pub max_texts: usize,
    pub target_septets: usize,
    /// Maximum number of segments of one answer, over all its texts.
    pub max_segments: usize,
    pub opt_out_confirmation_minutes: u32,
    /// Minutes after which an unsent answer to a crisis or an emergency is dropped. A case for a
    /// person is then opened.
    pub answer_to_a_cry_minutes: u32,
    /// Minutes after which contacts are notified that a held reply still waits for a decision.
    pub review_minutes: u32,
    /// The minimum confidence, from 0 to 1, that a reply needs on a channel with tickets. If the
    /// confidence is lower, a person answers instead of the host.
    pub least_confidence: f64,
    /// The BCP 47 names of the languages in which only the safety layers have patterns and answers.
    #[serde(default)]
    pub safety_languages: BTreeSet<String>,
    /// The helpline for casinos whose document names none. If this is `None`, no text of the pack
    /// may mention a helpline.
    #[serde(default)]
    pub helpline: Option<Helpline>,
    /// The minimum number of active content rows in each category that a casino needs before it may
    /// serve its first guest.
    #[serde(default)]
    pub least_content: BTreeMap<String, u32>,
    pub content: ContentRules,
    pub consent: ConsentRules,
    pub privacy: PrivacyRules,
    /// By answer, the seconds during which the answer is not repeated in the same conversation.
    pub say_again_after_seconds: BTreeMap<TextKey, u32>,
    pub typing: Typing,
}

/// How long an opt-in question stays open, and how long a consent is valid.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConsentRules {
    pub prompt_hours: u32,
    pub decay_days: i32,
}

/// The limits beyond which a change of content needs a second person's review or is refused (D31).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContentRules {
    /// Categories in which every change needs a second person's review.
    pub review: Vec<String>,
    /// A promotion worth at least this many dollars needs a second person's review.
    pub promotion_dollars: u32,
    /// A price that changes by more than this percentage needs a second person's review.
    pub price_change_percent: u32,
    /// If an opening or closing time moves by more than this many minutes, the change needs a
    /// second person's review.
    pub hours_change_minutes: u32,
    /// The maximum percentage of a category's items that may be switched off within an hour.
    pub off_percent: u8,
}

/// Days without activity after which a guest is marked as warm (`warm_days`), is archived
/// (`archive_days`), and is deleted together with the phone number (`phone_days`). Texts and turns
/// are deleted after `archive_days`. A guest may withdraw a deletion request within
/// `regret_minutes`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrivacyRules {
    pub regret_minutes: u32,
    pub warm_days: i32,
    pub archive_days: i32,
    pub phone_days: i32,
}

/// The delay before an answer, as long as a person would take to type it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Typing {
    pub min_ms: u64,
    pub max_ms: u64,
    /// Each `length` characters of the answer add `per_length_ms` to the delay, at most
    /// `max_lengths` times.
    pub length: u32,
    pub per_length_ms: u64,
    pub max_lengths: f64,
    pub kinds: BTreeMap<TypingKind, TypingPace>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TypingKind {
    Acknowledgment,
    Question,
    Offer,
    Sensitive,
    /// The second text of an answer; its delay begins when the first text is sent.
    MultiSegment,
    Apology,
    Greeting,
    Lookup,
    Default,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TypingPace {
    pub base_ms: u64,
    pub variance_ms: u64,
}

/// Answers that no rate limit covers. Each needs a minimum time between repetitions. Otherwise a
/// machine that replies to every text would exchange texts with us endlessly.
const LOOPING: [TextKey; 8] = [
    TextKey::Help,
    TextKey::Privacy,
    TextKey::ConsentPrompt,
    TextKey::DeletePending,
    TextKey::MmsTextOnly,
    TextKey::Crisis,
    TextKey::Emergency,
    TextKey::LateCry,
];
const URGENT: [TextKey; 4] = [
    TextKey::Crisis,
    TextKey::Emergency,
    TextKey::LateCry,
    TextKey::ResponsibleGaming,
];
/// Longest time during which a pack may leave a repeated cry for help without the same answer.
/// After that time, the guest gets the answer again.
const LONGEST_SILENCE_AFTER_A_CRY: Duration = Duration::from_secs(600);

// === impl Rules ===

impl Rules {
    pub fn parse(source: &str) -> Result<Self, Error> {
        let rules: Self = toml::from_str(source).map_err(|source| Error::File {
            file: "rules.toml",
            source,
        })?;
        let typing = &rules.typing;
        for (good, problem) in [
            (
                rules.usefulness_minutes > 0,
                "usefulness_minutes must be above 0",
            ),
            (
                rules
                    .helpline
                    .as_ref()
                    .is_none_or(|line| line.check().is_ok()),
                "helpline: letters and digits must agree",
            ),
            (
                rules.privacy.warm_days < rules.privacy.archive_days
                    && rules.privacy.archive_days < rules.privacy.phone_days,
                "privacy must keep warm_days < archive_days < phone_days",
            ),
            (
                rules.answer_to_a_cry_minutes >= rules.opt_out_confirmation_minutes,
                "answer_to_a_cry_minutes must not be below opt_out_confirmation_minutes",
            ),
            (
                (1..=100).contains(&rules.content.off_percent),
                "content.off_percent must be from 1 to 100",
            ),
            (
                rules.consent.decay_days > 0,
                "consent.decay_days must be above 0",
            ),
            (
                LOOPING
                    .iter()
                    .all(|key| rules.say_again_after(*key) > Duration::ZERO),
                "say_again_after_seconds must be above 0 for help, privacy, consent_prompt, delete_pending, mms_text_only, crisis, emergency and late_cry",
            ),
            (
                URGENT
                    .iter()
                    .all(|key| rules.say_again_after(*key) <= LONGEST_SILENCE_AFTER_A_CRY),
                "say_again_after_seconds must be at most 600 for crisis, emergency, late_cry and responsible_gaming",
            ),
            (
                rules.max_texts > 0 && rules.max_segments > 0,
                "max_texts and max_segments must be above 0",
            ),
            (
                rules.quiet_window_ms <= rules.quiet_window_max_ms,
                "quiet_window_ms is above quiet_window_max_ms",
            ),
            // The sender holds these delays in memory, so they must be short (D13).
            (
                typing.min_ms <= typing.max_ms && typing.max_ms <= 8_000,
                "typing must keep min_ms <= max_ms <= 8000",
            ),
            (
                typing.length > 0 && typing.max_lengths >= 0.0,
                "typing.length must be above 0, max_lengths not below",
            ),
            (
                typing.kinds.contains_key(&TypingKind::Default),
                "typing.kinds needs `default`",
            ),
        ] {
            if !good {
                return Err(Error::Rule(problem));
            }
        }
        Ok(rules)
    }

    pub fn usefulness(&self) -> Duration {
        Duration::from_secs(u64::from(self.usefulness_minutes) * 60)
    }

    pub fn review_limit(&self) -> Duration {
        Duration::from_secs(u64::from(self.review_minutes) * 60)
    }

    pub fn quiet_window(&self) -> Duration {
        Duration::from_millis(self.quiet_window_ms)
    }

    pub fn quiet_window_max(&self) -> Duration {
        Duration::from_millis(self.quiet_window_max_ms)
    }

    pub fn answer_to_a_cry(&self) -> Duration {
        Duration::from_secs(u64::from(self.answer_to_a_cry_minutes) * 60)
    }

    /// Returns the time for which this answer is not repeated; zero if it is always repeated.
    pub fn say_again_after(&self, key: TextKey) -> Duration {
        Duration::from_secs(
            self.say_again_after_seconds
                .get(&key)
                .copied()
                .unwrap_or_default()
                .into(),
        )
    }

    pub fn opt_out_confirmation(&self) -> Duration {
        Duration::from_secs(u64::from(self.opt_out_confirmation_minutes) * 60)
    }
}

// === impl Typing ===

impl Typing {
    /// Returns the typing pace of this kind; a kind that the pack leaves out has the pace of
    /// `default`.
    pub fn pace(&self, kind: TypingKind) -> TypingPace {
        self.kinds
            .get(&kind)
            .copied()
            .unwrap_or_else(|| self.kinds[&TypingKind::Default])
    }

    /// Returns the delay before a text with this many characters. `draw` is a random number from -1
    /// to 1.
    pub fn delay(&self, kind: TypingKind, characters: usize, draw: f64) -> Duration {
        let pace = self.pace(kind);
        let lengths = (characters as f64 / f64::from(self.length)).min(self.max_lengths);
        let draw = if draw.is_finite() {
            draw.clamp(-1.0, 1.0)
        } else {
            0.0
        };
        let ms = pace.base_ms as f64
            + lengths * self.per_length_ms as f64
            + draw * pace.variance_ms as f64;
        Duration::from_millis(ms.clamp(self.min_ms as f64, self.max_ms as f64).round() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CASINO, casino};

    #[test] // D4, D6, CONV-47
    fn the_casino_rules_are_the_designed_ones() {
        let rules = &casino().rules;
        assert_eq!(rules.usefulness(), Duration::from_secs(30 * 60));
        assert_eq!(rules.quiet_window(), Duration::from_millis(1_500));
        assert_eq!(rules.quiet_window_max(), Duration::from_secs(8));
        assert_eq!(rules.opt_out_confirmation(), Duration::from_secs(300));
        assert_eq!(
            (rules.max_texts, rules.max_segments, rules.target_septets),
            (2, 2, 160)
        );
    }

    #[test] // CONV-49
    fn typing_follows_the_table() {
        let typing = &casino().rules.typing;
        let table = [
            (TypingKind::Acknowledgment, 1_500, 500),
            (TypingKind::Question, 3_000, 1_000),
            (TypingKind::Offer, 5_000, 1_500),
            (TypingKind::Sensitive, 4_000, 500),
            (TypingKind::MultiSegment, 2_000, 500),
            (TypingKind::Apology, 3_500, 1_000),
            (TypingKind::Greeting, 2_500, 500),
            (TypingKind::Lookup, 4_500, 1_000),
            (TypingKind::Default, 3_000, 1_000),
        ];
        assert_eq!(typing.kinds.len(), table.len());
        for (kind, base_ms, variance_ms) in table {
            assert_eq!(
                typing.pace(kind),
                TypingPace {
                    base_ms,
                    variance_ms
                },
                "{kind:?}"
            );
        }
    }

    #[test] // CONV-49, D13
    fn delay_adds_length_and_draw_and_stays_in_bounds() {
        let typing = &casino().rules.typing;
        let ms = |kind, characters, draw| typing.delay(kind, characters, draw).as_millis();
        assert_eq!(ms(TypingKind::Question, 80, 0.0), 3_250);
        assert_eq!(ms(TypingKind::Question, 160, -1.0), 2_500);
        assert_eq!(
            ms(TypingKind::Offer, 10_000, 1.0),
            7_500,
            "length counts at most twice"
        );
        assert_eq!(
            ms(TypingKind::Offer, 0, 50.0),
            6_500,
            "a wild draw is clamped"
        );
        assert_eq!(ms(TypingKind::Acknowledgment, 0, -1.0), 1_000);
        assert_eq!(ms(TypingKind::Lookup, 0, f64::NAN), 4_500);
        let mut slow = typing.clone();
        slow.kinds.insert(
            TypingKind::Lookup,
            TypingPace {
                base_ms: 60_000,
                variance_ms: 0,
            },
        );
        assert_eq!(
            slow.delay(TypingKind::Lookup, 0, 0.0),
            Duration::from_secs(8)
        );
    }

    #[test]
    fn impossible_rules_are_refused() {
        for (from, to) in [
            ("quiet_window_ms = 1500", "quiet_window_ms = 9000"),
            ("max_ms = 8000\nlength", "max_ms = 9000\nlength"),
            ("length = 160", "length = 0"),
            ("max_texts = 2", "max_texts = 0"),
            ("\nhelp = 120", ""),
            ("crisis = 300", "crisis = 601"),
            ("default = {", "question2 = {"),
            ("max_texts = 2", "max_texts = 2\nmax_emoji = 1"),
        ] {
            let source = CASINO.rules.replace(from, to);
            assert_ne!(source, CASINO.rules, "{from}");
            assert!(Rules::parse(&source).is_err(), "{to}");
        }
    }
}
