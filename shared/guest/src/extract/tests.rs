//! Texts of guests, with the facts extracted from them. Today is Sunday, 22 November 2026, in New
//! York.

mod english;
mod spanish;
mod traps;

use chrono::{DateTime, Utc};
use proptest::prelude::*;

use super::*;
use crate::profile::{Grant, GrantRef, Scope};

fn now() -> DateTime<Utc> {
    "2026-11-22T15:00:00Z".parse().unwrap()
}

fn setting(language: Language, asked: Option<Topic>) -> Setting {
    Setting {
        now: now(),
        zone: chrono_tz::America::New_York,
        language,
        asked,
    }
}

/// Returns the facts as a line such as "name Maria | party 4 | visit 11-28".
fn shown(text: &str, setting: &Setting) -> String {
    let one = |found: &Extracted| match &found.slot {
        Slot::Name(v) => format!("name {v}"),
        Slot::FullName(v) => format!("full {v}"),
        Slot::Email(v) => format!("email {v}"),
        Slot::PartySize(v) => format!("party {v}"),
        Slot::Visit(stay) if stay.from == stay.to => format!("visit {}", stay.from.format("%m-%d")),
        Slot::Visit(stay) => format!(
            "visit {}..{}",
            stay.from.format("%m-%d"),
            stay.to.format("%m-%d")
        ),
        Slot::Diet(v) => format!("diet {v}"),
        Slot::Allergy(v) => format!("allergy {v}"),
        Slot::Occasion(v) => format!("occasion {v}"),
        Slot::Budget(v) => format!("budget {v}"),
        Slot::Interest(v) => format!("interest {v}"),
        Slot::Treatment(v) => format!("treatment {v}"),
        Slot::Cuisine(v) => format!("cuisine {v}"),
        Slot::Game(v) => format!("game {v}"),
        Slot::Accessibility(v) => format!("access {v}"),
        Slot::Companion { kin, name, age } => {
            let name = name.as_ref().map(|n| format!(" {n}")).unwrap_or_default();
            let age = age.map(|a| format!(" {a}")).unwrap_or_default();
            format!("with {kin}{name}{age}")
        }
        Slot::Group { kin, number } => format!("with {number} {kin}"),
    };
    extract(text, setting)
        .iter()
        .map(one)
        .collect::<Vec<_>>()
        .join(" | ")
}

/// Checks every row and reports all failures together.
fn check(language: Language, rows: &[(&str, &str)]) {
    let setting = setting(language, None);
    let wrong: Vec<String> = rows
        .iter()
        .filter_map(|(text, wanted)| {
            let got = shown(text, &setting);
            (got != *wanted).then(|| format!("{text:?}\n   wanted: {wanted}\n      got: {got}"))
        })
        .collect();
    assert!(
        wrong.is_empty(),
        "{} of {} rows:\n{}",
        wrong.len(),
        rows.len(),
        wrong.join("\n")
    );
}

#[test]
fn there_are_enough_rows() {
    let rows =
        english::ROWS.len() + spanish::ROWS.len() + traps::ENGLISH.len() + traps::SPANISH.len();
    assert!(rows >= 150, "{rows}");
}

#[test]
fn bare_answers_are_read_by_what_was_asked() {
    let rows = [
        (Topic::PartySize, "4", "party 4"),
        (Topic::PartySize, "just 2", "party 2"),
        (Topic::PartySize, "Two", "party 2"),
        (Topic::PartySize, "cuatro", "party 4"),
        (Topic::PartySize, "7pm", ""),
        (Topic::PartySize, "4 or 5", ""),
        (Topic::PartySize, "3 nights", ""),
        (Topic::Name, "Maria", "name Maria"),
        (Topic::Name, "maria", "name Maria"),
        (Topic::Name, "Bob Smith", "name Bob | full Bob Smith"),
        (Topic::Name, "no thanks", ""),
        (Topic::Name, "Why?", ""),
        (Topic::Name, "Yes", ""),
        (
            Topic::VisitDate,
            "probably friday I think if work lets me",
            "visit 11-27",
        ),
        (Topic::Dining, "4", ""),
    ];
    for (asked, text, wanted) in rows {
        assert_eq!(
            shown(text, &setting(Language::En, Some(asked))),
            wanted,
            "{text}"
        );
    }
}

#[test]
fn spans_show_the_words_and_corrections_are_marked() {
    let text = "Actually it's a table for 6, email José: jose@x.com";
    let found = extract(text, &setting(Language::En, None));
    let words: Vec<_> = found.iter().map(|f| &text[f.span.clone()]).collect();
    assert_eq!(words, ["table for 6", "jose@x.com"]);
    assert!(found.iter().all(|f| f.correction));
    assert!(
        !format!("{found:?}").contains("jose"),
        "no guest text in Debug"
    );
}

#[test]
fn tomorrow_is_the_casinos() {
    // 02:00 UTC on the 23rd is still the 22nd in New York.
    let late = Setting {
        now: "2026-11-23T02:00:00Z".parse().unwrap(),
        ..setting(Language::En, None)
    };
    assert_eq!(shown("we arrive tomorrow", &late), "visit 11-23");
}

#[test]
fn findings_become_observations_of_the_right_kind() {
    let grant = Grant {
        scope: Scope::Personalization,
        detail: String::new(),
        reference: GrantRef(uuid::Uuid::nil()),
        version: 1,
    };
    let text = "I'm Maria Garcia, me@x.com, party of 4 next weekend for my birthday with my husband Carlos and our kids ages 5 and 8, I'm vegan, budget of $200, love comedy";
    let mut profile = crate::Profile::new(now());
    for seen in observations(&extract(text, &setting(Language::En, None)), now(), &grant) {
        match seen {
            Observed::Field(seen) => assert_ne!(profile.observe(seen), crate::Merged::Refused),
            Observed::Companion(seen) => assert!(profile.meet(seen).is_some()),
            Observed::Group(seen, number) => assert!(profile.meet_all(&seen, number)),
        }
    }
    assert_eq!(profile.companions().len(), 3);
    assert!(crate::completeness::completeness(&profile, now()) > Confidence::percent(70));
}

proptest! {
    #[test]
    fn reads_any_text(text in any::<String>(), spanish in any::<bool>()) {
        total(&text, spanish)?;
    }

    #[test]
    fn reads_any_words(
        words in proptest::collection::vec(
            "(i'm|soy|party of|[0-9]{1,4}|to|and|-|/|\\$|,|\\.|next|friday|el|nov|28th|of us|my|kids|wife|ages|allergic to|nuts|budget|mañana|in|Maria|De|@|:|\\?|¿|’s|love|no|\\(|year old)",
            0..14,
        ),
        spanish in any::<bool>(),
    ) {
        total(&words.join(" "), spanish)?;
        total(&words.concat(), spanish)?;
    }
}

fn total(text: &str, spanish: bool) -> Result<(), TestCaseError> {
    let language = if spanish { Language::Es } else { Language::En };
    for asked in [None, Some(Topic::Name), Some(Topic::PartySize)] {
        for found in extract(text, &setting(language, asked)) {
            prop_assert!(
                text.get(found.span.clone())
                    .is_some_and(|said| !said.is_empty())
            );
            prop_assert!(found.confidence > LEAST && found.confidence <= Confidence::ONE);
        }
    }
    Ok(())
}
