//! Measures a search on labelled questions: recall, reciprocal rank, and how often nothing is
//! found.

use std::collections::{BTreeMap, HashSet};

use serde::{Deserialize, Serialize};
use seven_domain::Language;

/// A question and the ids of the rows that answer it; no ids if the content cannot answer it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    pub id: String,
    pub text: String,
    pub language: Language,
    #[serde(default)]
    pub relevant: Vec<String>,
    /// Whether the question is misspelt on purpose.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub typo: bool,
    /// Whether the question was written after the search was tuned; it must never be used for
    /// tuning.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub held_out: bool,
}

/// A line of a question file that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct QuestionError {
    pub line: usize,
    pub reason: String,
}

/// The figures of a set of questions; rates are fractions between 0 and 1.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Figures {
    pub questions: usize,
    pub answerable: usize,
    /// The mean share of a question's rows that are among the first k results.
    pub recall: f64,
    /// The mean of 1 / rank of the first right row; 0 for a question without one.
    pub mrr: f64,
    /// The mean share of the found rows that are right; 0 for a question that found nothing.
    pub precision: f64,
    /// The share of answerable questions for which nothing was found.
    pub zero_results: f64,
    /// The share of unanswerable questions for which nothing was found, as it should be.
    pub silence: f64,
}

/// A question whose rows were not all found, or an unanswerable one for which rows were found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Miss {
    pub question: Question,
    pub found: Vec<String>,
}

/// The figures of a whole evaluation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    pub k: usize,
    pub all: Figures,
    /// The figures of parts of the question set: `english`, `spanish`, `typos`, `held_out`.
    pub parts: BTreeMap<&'static str, Figures>,
    pub misses: Vec<Miss>,
}

#[derive(Default)]
struct Sums {
    figures: Figures,
}

/// Reads JSON Lines; skips blank lines and refuses an id that comes twice.
pub fn parse_questions(text: &str) -> Result<Vec<Question>, QuestionError> {
    let mut seen = HashSet::new();
    let mut questions = Vec::new();
    for (row, line) in text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
    {
        let fail = |reason: String| QuestionError {
            line: row + 1,
            reason,
        };
        let question: Question =
            serde_json::from_str(line).map_err(|error| fail(error.to_string()))?;
        if !seen.insert(question.id.clone()) {
            return Err(fail(format!(
                "`{}` is already used by a line above",
                question.id
            )));
        }
        questions.push(question);
    }
    Ok(questions)
}

/// Asks every question and rates the first `k` item ids that `search` returns, the best first.
pub fn evaluate(
    questions: &[Question],
    k: usize,
    mut search: impl FnMut(&Question) -> Vec<String>,
) -> Report {
    let mut all = Sums::default();
    let mut parts: BTreeMap<&'static str, Sums> = BTreeMap::new();
    let mut misses = Vec::new();
    for question in questions {
        let mut found = search(question);
        found.truncate(k);
        all.add(question, &found);
        for part in parts_of(question) {
            parts.entry(part).or_default().add(question, &found);
        }
        let complete = if question.relevant.is_empty() {
            found.is_empty()
        } else {
            recall(question, &found) >= 1.0
        };
        if !complete {
            misses.push(Miss {
                question: question.clone(),
                found,
            });
        }
    }
    Report {
        k,
        all: all.figures(),
        parts: parts
            .into_iter()
            .map(|(name, sums)| (name, sums.figures()))
            .collect(),
        misses,
    }
}

fn parts_of(question: &Question) -> impl Iterator<Item = &'static str> {
    let language = if question.language == Language::Es {
        "spanish"
    } else {
        "english"
    };
    [
        Some(language),
        question.typo.then_some("typos"),
        question.held_out.then_some("held_out"),
    ]
    .into_iter()
    .flatten()
}

fn hits(question: &Question, found: &[String]) -> usize {
    let right = question.relevant.iter();
    right.filter(|id| found.contains(id)).count()
}

fn recall(question: &Question, found: &[String]) -> f64 {
    hits(question, found) as f64 / question.relevant.len().max(1) as f64
}

// === impl Sums ===

impl Sums {
    fn add(&mut self, question: &Question, found: &[String]) {
        let f = &mut self.figures;
        f.questions += 1;
        if question.relevant.is_empty() {
            f.silence += f64::from(u8::from(found.is_empty()));
            return;
        }
        f.answerable += 1;
        f.recall += recall(question, found);
        f.precision += hits(question, found) as f64 / found.len().max(1) as f64;
        f.mrr += found
            .iter()
            .position(|id| question.relevant.contains(id))
            .map_or(0.0, |at| 1.0 / (at + 1) as f64);
        f.zero_results += f64::from(u8::from(found.is_empty()));
    }

    /// Turns the sums into means. The mean of `silence` is taken over the unanswerable questions,
    /// the other means over the answerable ones. If there are no such questions, the mean is 0.
    fn figures(self) -> Figures {
        let f = self.figures;
        let (answerable, rest) = (
            f.answerable.max(1) as f64,
            (f.questions - f.answerable).max(1) as f64,
        );
        Figures {
            recall: f.recall / answerable,
            mrr: f.mrr / answerable,
            precision: f.precision / answerable,
            zero_results: f.zero_results / answerable,
            silence: f.silence / rest,
            ..f
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(id: &str, relevant: &[&str]) -> Question {
        let relevant = relevant.iter().map(|r| (*r).to_owned()).collect();
        Question {
            id: id.into(),
            text: id.into(),
            language: Language::En,
            relevant,
            typo: false,
            held_out: false,
        }
    }

    #[test] // RAG-45, C-5
    fn figures_are_worked_out_by_hand() {
        let questions = [
            question("both", &["a", "b"]),
            question("second", &["a"]),
            question("none", &["a"]),
            question("silent", &[]),
        ];
        let report = evaluate(&questions, 2, |q| match q.id.as_str() {
            "both" => vec!["a".into(), "c".into(), "b".into()],
            "second" => vec!["c".into(), "a".into()],
            _ => Vec::new(),
        });
        let f = report.all;
        assert_eq!((f.questions, f.answerable, report.misses.len()), (4, 3, 2));
        assert!(
            (f.recall - 0.5).abs() < 1e-9 && (f.mrr - 0.5).abs() < 1e-9,
            "{f:?}"
        );
        // Half of the found rows are right for "both" and for "second"; for "none" nothing was
        // found.
        assert!((f.precision - 1.0 / 3.0).abs() < 1e-9, "{f:?}");
        assert!(
            (f.zero_results - 1.0 / 3.0).abs() < 1e-9 && (f.silence - 1.0).abs() < 1e-9,
            "{f:?}"
        );
        assert_eq!(evaluate(&[], 5, |_| Vec::new()).all, Figures::default());
    }

    #[test]
    fn a_bad_line_is_named() {
        let good = r#"{"id":"1","text":"pool?","language":"en","relevant":["a"]}"#;
        assert_eq!(parse_questions(&format!("{good}\n\n")).unwrap().len(), 1);
        assert_eq!(
            parse_questions(&format!("{good}\n{good}"))
                .unwrap_err()
                .to_string(),
            "line 2: `1` is already used by a line above"
        );
        assert!(
            parse_questions("{")
                .unwrap_err()
                .to_string()
                .starts_with("line 1: ")
        );
    }
}
