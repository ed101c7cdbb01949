//! Sums up the past week of a casino's content for its editors: the questions that the content
//! could not answer, and whether the search finds too little (RAG-21, RAG-45, RAG-46). This module
//! does no I/O.

use std::sync::LazyLock;

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};
use seven_domain::Language;
use seven_store::content::Run;
use url::Url;

use crate::questions::Group;

static WORDS: LazyLock<Languages> = LazyLock::new(|| {
    toml::from_str(include_str!("../words/week.toml")).expect("the words are read, says a test")
});

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Languages {
    en: Words,
    es: Words,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Words {
    /// The letter's subject if guests asked questions without an answer. `subject_search` is the
    /// subject if only the search is worse. Both contain `{from}`, the week's first day.
    subject: String,
    subject_search: String,
    /// A sentence with `{groups}` and `{texts}`.
    asked: String,
    /// A sentence with `{now}`, the present recall, and `{than}`, the required recall. In `fell`,
    /// `{than}` is the mean recall of earlier runs.
    low: String,
    fell: String,
    lower: String,
    /// A sentence with `{missed}` and `{questions}`.
    missed: String,
    gaps: String,
    set: String,
}

/// Minimum share of the right items that the search must find (PROD-34).
pub const LEAST_RECALL: f64 = 0.8;
/// Maximum fall of a figure below the mean of earlier runs, as a share of that mean (RAG-46).
const MOST_FALL: f64 = 0.1;
/// A question is reported if at least this many guests asked it. A single guest may ask anything.
const LEAST_GUESTS: usize = 2;

/// A week of a casino's content that is worth a letter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContentWeek {
    pub monday: NaiveDate,
    /// Number of unanswered questions that at least two guests asked. `texts` is how often these
    /// questions were asked.
    pub groups: usize,
    pub texts: usize,
    /// The run of the casino's own questions, if it found too little.
    pub search: Option<Search>,
}

/// A run of the casino's own questions that found too little.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Search {
    pub fault: Fault,
    /// Recall: the mean share of the right items that were found, 0 to 1.
    pub recall: f64,
    /// The mean recall of earlier runs; `None` without an earlier run.
    pub before: Option<f64>,
    pub questions: i32,
    pub missed: usize,
}

/// Why a run is reported; if several faults apply, the first is reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// Recall is below [`LEAST_RECALL`].
    Low,
    /// Recall fell clearly below that of earlier runs.
    Fell,
    /// The right items rank clearly lower than in earlier runs.
    Lower,
}

impl ContentWeek {
    /// Sums the week up; `None` if nothing is worth a letter.
    pub fn of(monday: NaiveDate, groups: &[Group], search: Option<Search>) -> Option<Self> {
        let told = groups.iter().filter(|group| group.guests >= LEAST_GUESTS);
        let (groups, texts) = told.fold((0, 0), |(n, texts), group| (n + 1, texts + group.texts));
        (groups > 0 || search.is_some()).then_some(Self {
            monday,
            groups,
            texts,
            search,
        })
    }
}

impl Search {
    /// Judges a run. Compares it with those `earlier` runs that have the same number of questions
    /// and the same embedding. Returns `None` if the run found enough or had no questions.
    pub fn of(run: &Run, earlier: &[Run]) -> Option<Self> {
        let same = |one: &&Run| one.questions == run.questions && one.space == run.space;
        let earlier: Vec<&Run> = earlier.iter().filter(same).collect();
        let mean = |figure: fn(&Run) -> f64| {
            let sum: f64 = earlier.iter().map(|run| figure(run)).sum();
            (!earlier.is_empty()).then(|| sum / earlier.len() as f64)
        };
        let fell = |figure: fn(&Run) -> f64| {
            mean(figure).is_some_and(|before| figure(run) < before * (1.0 - MOST_FALL))
        };
        let fault = if run.questions == 0 {
            None
        } else if run.recall < LEAST_RECALL {
            Some(Fault::Low)
        } else if fell(|run| run.recall) {
            Some(Fault::Fell)
        } else {
            fell(|run| run.mrr).then_some(Fault::Lower)
        };
        fault.map(|fault| Self {
            fault,
            recall: run.recall,
            before: mean(|run| run.recall),
            questions: run.questions,
            missed: run.misses.as_array().map_or(0, Vec::len),
        })
    }
}

/// Returns the letter's subject and text, without any guest's words. `gaps` is the address of the
/// console's page of unanswered questions, `set` that of the casino's own questions.
pub fn letter(
    language: Language,
    casino: &str,
    week: &ContentWeek,
    gaps: &Url,
    set: &Url,
) -> (String, String) {
    let words = match language {
        Language::En => &WORDS.en,
        Language::Es => &WORDS.es,
    };
    let from = week.monday.to_string();
    let subject = match week.groups {
        0 => &words.subject_search,
        _ => &words.subject,
    };
    let subject = format!("{casino}: {}", subject.replace("{from}", &from));
    let mut text = format!("{subject}\n\n");
    if week.groups > 0 {
        let (groups, texts) = (week.groups.to_string(), week.texts.to_string());
        let asked = words.asked.replace("{groups}", &groups);
        let asked = asked.replace("{texts}", &texts);
        text.push_str(&format!("{asked}\n{}: {gaps}\n\n", words.gaps));
    }
    if let Some(search) = &week.search {
        text.push_str(&format!("{}\n{}: {set}\n", found(words, search), words.set));
    }
    (subject, text)
}

fn found(words: &Words, search: &Search) -> String {
    // Rounds down, so that 79.7 % is not shown as the required 80 %.
    let percent = |share: f64| format!("{:.0} %", (share * 100.0).floor());
    let (text, than) = match search.fault {
        Fault::Low => (&words.low, LEAST_RECALL),
        Fault::Fell => (&words.fell, search.before.unwrap_or_default()),
        Fault::Lower => return words.lower.clone(),
    };
    let (missed, questions) = (search.missed.to_string(), search.questions.to_string());
    let missed = words.missed.replace("{missed}", &missed);
    let missed = missed.replace("{questions}", &questions);
    let found = text.replace("{now}", &percent(search.recall));
    format!("{} {missed}", found.replace("{than}", &percent(than)))
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use serde_json::json;
    use uuid::Uuid;

    use super::*;

    fn run(recall: f64, mrr: f64) -> Run {
        Run {
            run_id: Uuid::nil(),
            ran_by: "scheduler".to_owned(),
            ran_at: DateTime::UNIX_EPOCH,
            questions: 20,
            recall,
            mrr,
            precise: None,
            misses: json!([{}, {}, {}]),
            space: None,
        }
    }

    #[test] // RAG-45, RAG-46, PROD-34
    fn a_run_is_told_that_found_too_little_or_less_than_before() {
        let before = [run(1.0, 0.9), run(1.0, 0.9)];
        let of = |questions, recall| Run {
            questions,
            ..run(recall, 0.9)
        };
        // A run of a set that has no questions.
        let empty = |recall, mrr| Run {
            questions: 0,
            ..run(recall, mrr)
        };
        let model = |recall| Run {
            space: Some("thoughts-1@1:3".to_owned()),
            ..run(recall, 0.9)
        };
        for (now, earlier, fault) in [
            (run(0.79, 0.9), &[][..], Some(Fault::Low)),
            (run(0.80, 0.9), &[], None),
            (run(0.89, 0.9), &before, Some(Fault::Fell)),
            (run(0.91, 0.9), &before, None),
            (run(1.0, 0.8), &before, Some(Fault::Lower)),
            (run(1.0, 0.82), &before, None),
            (run(0.95, 0.9), &[empty(9.0, 9.0)], None),
            // The earlier run had three questions fewer, so it is not compared.
            (run(0.85, 0.9), &[of(17, 1.0)], None),
            (run(0.85, 0.9), &[of(20, 1.0)], Some(Fault::Fell)),
            (empty(0.0, 0.0), &[], None),
            (run(0.85, 0.9), &[model(1.0)], None),
        ] {
            let told = Search::of(&now, earlier);
            assert_eq!(told.map(|told| told.fault), fault, "{now:?} {earlier:?}");
        }
        let told = Search::of(&run(0.5, 0.5), &[run(1.0, 1.0), run(0.8, 1.0)]).unwrap();
        assert!((told.before.unwrap() - 0.9).abs() < 1e-9);
        assert_eq!(told.missed, 3);
    }

    #[test] // RAG-21
    fn a_question_of_one_guest_is_no_news() {
        let group = |guests| Group {
            example: "do you have a kennel?".to_owned(),
            texts: 7,
            guests,
            last_at: DateTime::UNIX_EPOCH,
        };
        let monday = "2026-11-16".parse().unwrap();
        assert_eq!(ContentWeek::of(monday, &[group(1), group(1)], None), None);
        let week = ContentWeek::of(monday, &[group(3), group(2), group(1)], None).unwrap();
        assert_eq!((week.groups, week.texts), (2, 14));
    }

    #[test] // RAG-21, CMS-47
    fn a_letter_says_what_was_asked_and_found_and_where_to_look() {
        let (gaps, set) = ("https://c.example/gaps", "https://c.example/set");
        let of = |language, fault, recall, before| {
            let week = ContentWeek {
                monday: "2026-11-16".parse().unwrap(),
                groups: 2,
                texts: 5,
                search: Some(Search {
                    fault,
                    recall,
                    before,
                    questions: 20,
                    missed: 3,
                }),
            };
            let (gaps, set) = (gaps.parse().unwrap(), set.parse().unwrap());
            letter(language, "Silver Birch", &week, &gaps, &set)
        };
        for language in Language::ALL {
            let (subject, low) = of(language, Fault::Low, 0.5, None);
            let (_, fell) = of(language, Fault::Fell, 0.85, Some(0.97));
            let (_, lower) = of(language, Fault::Lower, 0.97, Some(0.97));
            assert!(subject.contains("2026-11-16"), "{subject}");
            assert!(low.contains("50 %") && low.contains("80 %"), "{low}");
            assert!(fell.contains("85 %") && fell.contains("97 %"), "{fell}");
            for text in [low, fell, lower] {
                assert!(!text.contains('{'), "{text}");
                assert!(text.contains(gaps) && text.contains(set), "{text}");
            }
        }
    }
}
