//! Translates the English messages of checks and guards into Spanish (CMS-47). A message may
//! contain text of the editor. Messages are therefore recognised by their fixed words.

use std::{borrow::Cow, collections::BTreeMap, sync::LazyLock};

use seven_domain::Language;

/// The kind of text that fills a placeholder (a hole) of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hole {
    /// The editor's own text, which is not translated.
    Entered,
    /// A JSON value, possibly shortened, which is not translated.
    Value,
    /// Another message, which is translated, too.
    Message,
}

const HOLES: [(&str, Hole); 3] = [
    ("{}", Hole::Entered),
    ("{value}", Hole::Value),
    ("{message}", Hole::Message),
];

struct Message {
    /// The holes of the English sentence, each with the fixed words before it.
    holes: Vec<(String, Hole)>,
    /// The fixed words after the last hole.
    end: String,
    /// The Spanish words before, between and after the holes. The holes keep their order.
    spanish: Vec<String>,
}

/// All messages, those with the most fixed words first. A general message would also match the text
/// of a more special one.
static MESSAGES: LazyLock<Vec<Message>> = LazyLock::new(|| {
    let read: BTreeMap<String, String> = toml::from_str(include_str!("../words/problems_es.toml"))
        .expect("the words are read, says a test");
    let mut all: Vec<Message> = read
        .into_iter()
        .map(|(english, spanish)| {
            let (holes, end) = parts(&english);
            let (around, last) = parts(&spanish);
            let words = around.into_iter().map(|(words, _)| words);
            Message {
                holes,
                end,
                spanish: words.chain([last]).collect(),
            }
        })
        .collect();
    all.sort_by_key(|message| std::cmp::Reverse(message.fixed()));
    all
});

/// Splits a sentence at its holes: returns each hole with the words before it, and the words at the
/// end.
fn parts(mut text: &str) -> (Vec<(String, Hole)>, String) {
    let mut parts = Vec::new();
    let next = |text: &str| {
        let found = HOLES
            .iter()
            .filter_map(|(name, hole)| Some((text.find(name)?, name.len(), *hole)));
        found.min_by_key(|(at, ..)| *at)
    };
    while let Some((at, length, hole)) = next(text) {
        parts.push((text[..at].to_owned(), hole));
        text = &text[at + length..];
    }
    (parts, text.to_owned())
}

/// Maximum length of a text that is translated, in bytes. Longer texts are mostly the editor's own.
const MOST_BYTES: usize = 1_000;
/// Maximum number of colons that are tried as the end of a place. The same limit holds for
/// semicolons that are tried as the end of a problem.
const MOST_ENDS: usize = 8;

/// Returns a message of checks and guards in this language, or unchanged if there is no
/// translation. Also translates whole report lines, such as `details.price: is missing; write 21`.
pub fn said(language: Language, text: &str) -> Cow<'_, str> {
    if language == Language::En || text.len() > MOST_BYTES {
        return Cow::Borrowed(text);
    }
    let translated = pair(text).or_else(|| {
        // The line may begin with the place in the file, which is not translated.
        let mut colons = text.match_indices(": ").take(MOST_ENDS);
        colons.find_map(|(at, colon)| {
            let (place, sentence) = text.split_at(at + colon.len());
            Some(format!("{place}{}", pair(sentence)?))
        })
    });
    translated.map_or(Cow::Borrowed(text), Cow::Owned)
}

/// Translates a sentence, or a problem and its fix that are separated by a semicolon.
fn pair(text: &str) -> Option<String> {
    let both = || {
        let mut ends = text.match_indices("; ").take(MOST_ENDS);
        ends.find_map(|(at, _)| {
            let (problem, fix) = (sentence(&text[..at])?, sentence(&text[at + 2..])?);
            Some(format!("{problem}; {fix}"))
        })
    };
    both().or_else(|| sentence(text))
}

fn sentence(text: &str) -> Option<String> {
    MESSAGES.iter().find_map(|message| message.translate(text))
}

/// Translates the message in a [`Hole::Message`]. That message must not contain another such hole.
fn inner(text: &str) -> Option<String> {
    let mut flat = MESSAGES.iter().filter(|message| message.is_flat());
    flat.find_map(|message| message.translate(text))
}

/// Returns whether the text begins like a JSON value.
fn is_value(text: &str) -> bool {
    let begins = |c: char| c.is_ascii_digit() || matches!(c, '-' | '"' | '[' | '{');
    text.starts_with(begins) || matches!(text, "true" | "false" | "null")
}

impl Message {
    fn is_flat(&self) -> bool {
        self.holes.iter().all(|(_, hole)| *hole != Hole::Message)
    }

    /// Returns the total length of the fixed words, in bytes.
    fn fixed(&self) -> usize {
        let before: usize = self.holes.iter().map(|(words, _)| words.len()).sum();
        before + self.end.len()
    }

    fn translate(&self, text: &str) -> Option<String> {
        let mut rest = text.strip_suffix(self.end.as_str())?;
        let mut said = String::new();
        let mut spanish = self.spanish.iter();
        for (n, (words, hole)) in self.holes.iter().enumerate() {
            rest = rest.strip_prefix(words.as_str())?;
            let end = match self.holes.get(n + 1) {
                Some((words, _)) => rest.find(words.as_str())?,
                None => rest.len(),
            };
            let (entered, after) = rest.split_at(end);
            rest = after;
            said.push_str(spanish.next()?);
            match hole {
                Hole::Message => said.push_str(&inner(entered)?),
                Hole::Value if !is_value(entered) => return None,
                Hole::Value | Hole::Entered => said.push_str(entered),
            }
        }
        said.push_str(spanish.next()?);
        rest.is_empty().then_some(said)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};
    use seven_knowledge::{Item, parse_content};

    use super::*;

    #[test] // CMS-47
    fn every_message_keeps_what_the_editor_entered() {
        for message in MESSAGES.iter() {
            let holes = message.holes.len();
            assert_eq!(holes + 1, message.spanish.len(), "{:?}", message.spanish);
        }
        for (english, spanish) in [
            ("is missing", "falta"),
            ("is `Late`", "es `Late`"),
            (
                "details.price: is missing; write the price in dollars as a number",
                "details.price: falta; escriba el precio en dólares como número",
            ),
            (
                "spa.csv:4:details.hours: cannot read `9` as opening hours: say am or pm; write a list such as x",
                "spa.csv:4:details.hours: no se puede leer `9` como horario: escriba am o pm; escriba una lista como x",
            ),
            (
                "change on Tue by more than 90 minutes",
                "cambia el martes en más de 90 minutos",
            ),
            // The editor's `Mon` must not be translated as if it were one of our words for a
            // weekday.
            (
                "cannot read `Mon` as opening hours: days without hours; write such as Mon-Fri 9am-5pm",
                "no se puede leer `Mon` como horario: días sin horas; escriba algo como Mon-Fri 9am-5pm",
            ),
            ("is `Sun`", "es `Sun`"),
            ("is something else", "is something else"),
            ("nobody translated this", "nobody translated this"),
        ] {
            assert_eq!(said(Language::Es, english), spanish);
            assert_eq!(said(Language::En, english), english);
        }
    }

    /// Returns items that together have every fault that a field can have.
    fn bad_items() -> Vec<Value> {
        let details = |category: &str, details: Value| json!({ "id": "a", "category": category, "name": "A", "description": "A.", "details": details });
        let hours = |hours: Value| details("gaming", json!({ "hours": hours }));
        let special = |days: Value| details("gaming", json!({ "special_hours": days }));
        vec![
            json!(1),
            json!({ "more": 1, "details": 5, "active": 3, "keywords": 4, "name": {}, "tip": "x".repeat(400) }),
            details("dining", json!({})),
            details(
                "dining",
                json!({ "cuisine": "None", "price_range": "5", "hours": "late", "kids_menu": "perhaps", "dress_code": "Kilt", "x": 1 }),
            ),
            details("entertainment", json!({})),
            details(
                "entertainment",
                json!({ "event_type": "x", "venue": "V", "starts_at": "never", "ticket_price_min": 9, "ticket_price_max": 3,
                "duration_minutes": 1 }),
            ),
            details("spa", json!({})),
            details(
                "spa",
                json!({ "treatment_type": "x", "duration_minutes": 45, "price": "cheap", "couples_option": 1 }),
            ),
            details(
                "spa",
                json!({ "treatment_type": "x", "duration_minutes": "long", "price": -1 }),
            ),
            details("promotions", json!({})),
            details(
                "promotions",
                json!({ "promo_type": "Birthday", "value": 1, "valid_from": "2026-12-31", "valid_until": "2026-12-01",
                "max_redemptions": 0 }),
            ),
            details(
                "promotions",
                json!({ "promo_type": "Birthday", "value": "x", "valid_from": "once", "valid_until": "later" }),
            ),
            details(
                "regulations",
                json!({ "regulation_type": "x", "state": "Conn", "applies_to": "dogs" }),
            ),
            details("regulations", json!({})),
            details("hours", json!({ "weekday_hours": "x" })),
            details("hours", json!({})),
            hours(json!("9am")),
            hours(json!("Mon")),
            hours(json!("Mon &")),
            hours(json!("25pm-1")),
            hours(json!("9-5")),
            hours(json!("open")),
            hours(json!(7)),
            hours(json!({ "someday": "9am-5pm" })),
            hours(json!({ "mon": 5 })),
            special(json!("x")),
            special(json!([{ "date": "12-25", "hours": "closed", "x": 1 }])),
            special(json!([{ "date": "12-25" }])),
            special(json!([{ "date": "soon", "hours": "closed" }])),
            special(json!([{ "date": "12-25", "hours": "Mon 9am-5pm" }])),
        ]
    }

    #[test] // CMS-47: a check whose words nobody translated fails here
    fn what_checks_say_of_items_is_all_translated() {
        let mut seen = 0;
        for item in bad_items() {
            let problems = Item::from_json(&item).expect_err("something is wrong");
            for problem in problems {
                for text in [&problem.problem, &problem.fix] {
                    seen += 1;
                    assert!(sentence(text).is_some(), "{text}: {item}");
                }
            }
        }
        assert!(seen > 80, "{seen}");
        let twice = json!([bad_items()[2], bad_items()[2]]).to_string();
        let files = [&twice, "[", "{}\n{", "{\"schema\": 2, \"items\": 3}"];
        let zone = chrono_tz::America::New_York;
        let now = chrono::DateTime::UNIX_EPOCH;
        let reference = seven_knowledge::Reference { now, zone };
        for file in files {
            for problem in parse_content("c.json", file, reference).unwrap_err() {
                let line = problem.to_string();
                assert_ne!(said(Language::Es, &line), line);
            }
        }
    }

    #[test]
    fn a_cell_of_a_whole_book_is_no_work() {
        let cell = "is ".repeat(20_000);
        let problem = format!("regulation_type: is `{cell}`; remove it");
        assert_eq!(said(Language::Es, &problem), problem);
        assert_eq!(said(Language::Es, &cell), cell);
    }

    proptest! {
        #[test]
        fn any_text_is_taken(text in "\\PC*", entered in "\\PC{0,20}") {
            let _ = said(Language::Es, &text);
            let sentence = format!("is `{entered}`");
            let spanish = said(Language::Es, &sentence);
            prop_assert!(!spanish.is_empty());
        }
    }
}
