//! Rates how likely carriers are to filter an unsolicited text. Filtered texts vanish without an
//! error code, so the score is checked before sending.
//!
//! A link counts as a link even without a scheme. Legally required words, and keywords that guests
//! are asked to send, are not rated as words in capitals.

use std::fmt;

/// The highest score of a text that need not be reworded. The pre-send check reads the same limit
/// from `send_policy.most_risk`.
pub const REWORD_ABOVE: f64 = 0.6;
/// Number of earlier texts to the guest with which a new text is compared.
pub const COMPARED: usize = 5;

/// A feature of a text to which carriers' filters react.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Factor {
    Link,
    Capitals,
    Exclamation,
    Dollars,
    Urgency,
    Repeated,
}

/// One factor that contributes to a score.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    pub factor: Factor,
    /// How often the factor was found; 1 for factors that count once.
    pub count: u32,
    /// The amount that the factor adds to the score, in hundredths.
    pub hundredths: u32,
}

/// A score with the factors behind it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Risk {
    pub parts: Vec<Part>,
}

// === impl Factor ===

impl Factor {
    pub const ALL: [Self; 6] = [
        Self::Link,
        Self::Capitals,
        Self::Exclamation,
        Self::Dollars,
        Self::Urgency,
        Self::Repeated,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Link => "link",
            Self::Capitals => "word in capitals",
            Self::Exclamation => "exclamation mark",
            Self::Dollars => "dollar amount",
            Self::Urgency => "urgency",
            Self::Repeated => "same text again",
        }
    }

    /// Returns the amount one occurrence adds to the score, in hundredths.
    pub fn weight(self) -> u32 {
        match self {
            Self::Link => 30,
            Self::Capitals => 10,
            Self::Exclamation => 5,
            Self::Dollars => 20,
            Self::Urgency => 15,
            Self::Repeated => 40,
        }
    }
}

// === impl Risk ===

impl Risk {
    /// Returns the score, from 0 to 1.
    pub fn score(&self) -> f64 {
        let sum = self
            .parts
            .iter()
            .fold(0, |sum: u32, part| sum.saturating_add(part.hundredths));
        f64::from(sum.min(100)) / 100.0
    }

    pub fn must_be_reworded(&self) -> bool {
        self.score() > REWORD_ABOVE
    }
}

/// Writes for example `0.70 (link 0.30, exclamation mark 0.05, dollar amount 0.20, urgency 0.15)`,
/// without any words of the text.
impl fmt::Display for Risk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.2}", self.score())?;
        for (
            n,
            Part {
                factor,
                count,
                hundredths,
            },
        ) in self.parts.iter().enumerate()
        {
            let times = if *count > 1 {
                format!("{count} x ")
            } else {
                String::new()
            };
            let added = f64::from(*hundredths) / 100.0;
            write!(
                f,
                "{}{times}{} {added:.2}",
                if n == 0 { " (" } else { ", " },
                factor.as_str()
            )?;
        }
        if self.parts.is_empty() {
            Ok(())
        } else {
            f.write_str(")")
        }
    }
}

/// Rates a text. `earlier` are the texts that the same guest received before, newest first; the
/// text is compared with the first [`COMPARED`] of them.
pub fn risk<S: AsRef<str>>(text: &str, earlier: &[S]) -> Risk {
    let same = same_as(text);
    let once = |found: bool| u32::from(found);
    let counts = [
        once(text.split_whitespace().any(is_link)),
        count(words(text).filter(|word| shouts(word))),
        count(text.chars().filter(|c| *c == '!')),
        once(names_dollars(text)),
        once(urges(text)),
        once(
            earlier
                .iter()
                .take(COMPARED)
                .any(|old| same_as(old.as_ref()) == same),
        ),
    ];
    let parts = Factor::ALL
        .into_iter()
        .zip(counts)
        .filter(|(_, count)| *count > 0);
    Risk {
        parts: parts
            .map(|(factor, count)| Part {
                factor,
                count,
                hundredths: factor.weight().saturating_mul(count),
            })
            .collect(),
    }
}

fn count(of: impl Iterator) -> u32 {
    u32::try_from(of.count()).unwrap_or(u32::MAX)
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
}

/// Words that may be in capitals: keywords that guests are asked to send, and words of the
/// disclosure.
const MAY_BE_CAPITALS: [&str; 16] = [
    "STOP", "HELP", "START", "YES", "INFO", "AI", "IA", "VIP", "SI", "SÍ", "ALTO", "PARA", "PARAR",
    "AYUDA", "INICIAR", "SMS",
];

fn shouts(word: &str) -> bool {
    word.chars().nth(1).is_some()
        && word.chars().all(char::is_uppercase)
        && !MAY_BE_CAPITALS.contains(&word)
}

fn names_dollars(text: &str) -> bool {
    text.split('$')
        .skip(1)
        .any(|rest| rest.trim_start().starts_with(|c: char| c.is_ascii_digit()))
}

/// Urgent phrases: the English ones are from the specification, the Spanish ones mean the same.
const URGENT: [&str; 11] = [
    "limited time",
    "act now",
    "expires",
    "hurry",
    "last chance",
    "tiempo limitado",
    "actue ahora",
    "vence",
    "caduca",
    "apurese",
    "ultima oportunidad",
];

fn urges(text: &str) -> bool {
    let plain: String = text.to_lowercase().chars().map(unaccented).collect();
    let spaced = format!(" {} ", words(&plain).collect::<Vec<_>>().join(" "));
    URGENT
        .iter()
        .any(|phrase| spaced.contains(&format!(" {phrase} ")))
}

fn unaccented(c: char) -> char {
    match c {
        'á' => 'a',
        'é' => 'e',
        'í' => 'i',
        'ó' => 'o',
        'ú' | 'ü' => 'u',
        other => other,
    }
}

/// Top-level domains of links in texts, including those of link shorteners.
const TOP_LEVEL: [&str; 26] = [
    "com", "net", "org", "info", "biz", "io", "ly", "co", "us", "me", "app", "link", "ai", "gl",
    "gd", "gg", "to", "tv", "cc", "xyz", "site", "shop", "online", "club", "win", "vip",
];

/// Returns whether a word is a link, with or without a scheme. An e-mail address is not a link.
fn is_link(token: &str) -> bool {
    let token = token.to_lowercase();
    if token.contains("http://") || token.contains("https://") || token.contains("www.") {
        return true;
    }
    if token.contains('@') {
        return false;
    }
    let host = token.trim_start_matches(|c: char| !c.is_alphanumeric());
    let host = host.split(['/', '?', '#', ':']).next().unwrap_or_default();
    let host = host.trim_end_matches(|c: char| !c.is_alphanumeric());
    host.rsplit_once('.').is_some_and(|(name, top)| {
        TOP_LEVEL.contains(&top)
            && name.chars().any(char::is_alphanumeric)
            && name
                .chars()
                .all(|c| c.is_alphanumeric() || matches!(c, '-' | '.'))
    })
}

/// Returns the form in which repeated texts are compared: without case, surrounding spaces and
/// final punctuation.
fn same_as(text: &str) -> String {
    text.trim()
        .trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '!' | '.'))
        .to_lowercase()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NONE: [&str; 0] = [];

    #[test] // SMS-34, C-39: the specification's vectors and its factors
    fn the_table() {
        for (text, score) in [
            ("Act now! Get $50 at https://bit.ly/x", 0.70),
            ("LIMITED TIME!", 0.40),
            ("Your table for two is booked for 7 pm tonight.", 0.0),
            ("See http://a.example and https://b.example", 0.30),
            ("Free play: $50 and $20", 0.20),
            ("A $ sign alone", 0.0),
            ("Hurry, it expires, last chance", 0.15),
            ("Ultima oportunidad: actúe ahora", 0.15),
            ("Le convence? Reserve su mesa", 0.0),
            ("WOW GREAT", 0.20),
            ("Wow!!!", 0.15),
            ("I am your AI host. Reply YES, HELP or STOP", 0.0),
            ("Responda SI, AYUDA o PARAR", 0.0),
            ("A I B", 0.0),
            ("bit.ly/x", 0.30),
            ("Look at silver-birch.com.", 0.30),
            ("Help: help@heyseven.ai", 0.0),
            ("Dinner at 7.30 pm", 0.0),
            (
                "FREE PLAY NOW! LIMITED TIME! ACT NOW! $500 at www.x.example",
                1.0,
            ),
            ("", 0.0),
        ] {
            assert!(
                (risk(text, &NONE).score() - score).abs() < 1e-9,
                "{text}: {}",
                risk(text, &NONE)
            );
        }
    }

    #[test] // SMS-34: compares with the last five texts only, ignoring case
    fn the_same_text_again() {
        let earlier = ["one", "two", "three", "four", "Come and see us!", "six"];
        assert!((risk(" come and see us ", &earlier).score() - 0.40).abs() < 1e-9);
        assert_eq!(risk("six", &earlier), Risk::default());
        assert_eq!(risk("come and see me", &earlier), Risk::default());
    }

    #[test] // SMS-34: a score at the threshold is allowed, one above it is not
    fn the_threshold_and_its_words() {
        let risky = risk("Act now! Get $50 at https://bit.ly/x", &NONE);
        assert!(risky.must_be_reworded());
        assert_eq!(
            risky.to_string(),
            "0.70 (link 0.30, exclamation mark 0.05, dollar amount 0.20, urgency 0.15)"
        );
        assert!(
            !risk("GO TO bit.ly/x BIG DEAL", &NONE)
                .to_string()
                .contains("bit")
        );
        let at = risk("TWO BIG DAYS at bit.ly/x", &NONE);
        assert!(
            (at.score() - REWORD_ABOVE).abs() < 1e-9 && !at.must_be_reworded(),
            "{at}"
        );
        assert_eq!(
            risk("Wow!!", &NONE).to_string(),
            "0.10 (2 x exclamation mark 0.10)"
        );
        assert_eq!(Risk::default().to_string(), "0.00");
    }

    proptest! {
        #[test] // SMS-34
        fn between_nothing_and_one(
            text in "(\\PC|[A-Z!$ ]){0,200}",
            earlier in proptest::collection::vec("\\PC{0,20}", 0..7),
        ) {
            let score = risk(&text, &earlier).score();
            prop_assert!((0.0..=1.0).contains(&score), "{score}");
        }

        #[test] // SMS-34: more exclamation marks never lower the score
        fn more_exclamation_marks_never_lower_it(
            text in "([A-Za-z$0-9./ !]|\\PC){0,120}",
            more in 0usize..30,
            again in any::<bool>(),
        ) {
            let earlier = if again {
                vec![text.clone()]
            } else {
                Vec::new()
            };
            let louder = format!("{text}{}", "!".repeat(more));
            prop_assert!(risk(&louder, &earlier).score() >= risk(&text, &earlier).score());
        }
    }
}
