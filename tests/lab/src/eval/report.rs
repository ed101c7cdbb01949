//! The report of a run: shares by class and every turn with its checks, as JSON and as one
//! self-contained HTML page.

use std::{collections::BTreeMap, fmt::Write as _};

use serde::{Deserialize, Serialize};

use super::{
    dialogue::{Dialogue, Turn, Verdict, Written},
    judge::{Class, Heard, Outcome},
};

/// The number of passed checks and of all checks made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Share {
    pub passed: usize,
    pub made: usize,
}

/// One model's run over a set of dialogues. Repeated runs of a model on one set differ only in
/// their times.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Report {
    pub model: String,
    pub score: Share,
    pub classes: BTreeMap<Class, Share>,
    /// Share of passed checks, separately for the dialogues of each [`Written`].
    pub written: BTreeMap<Written, Share>,
    /// Share of the turns tagged `follow-up` whose facts and items are all correct.
    pub follow_ups: Share,
    /// Number of turns for each kind of answer: `model`, `fallback_text`, or the reason why the
    /// offline host answered. Empty without a hosted model.
    pub answered_by: BTreeMap<String, i64>,
    pub dialogues: Vec<Played>,
    pub took_ms: u64,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Played {
    pub file: String,
    pub name: String,
    pub about: String,
    pub written: Written,
    pub tags: Vec<String>,
    pub score: Share,
    pub turns: Vec<PlayedTurn>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PlayedTurn {
    pub guest: Vec<String>,
    pub reply: Vec<String>,
    /// `None` when the fleet did not finish its work on the texts.
    pub verdict: Option<Verdict>,
    pub agents: Vec<String>,
    pub sources: Vec<String>,
    pub answered_by: Vec<String>,
    pub segments: usize,
    pub follow_up: bool,
    pub checks: Vec<Outcome>,
    pub took_ms: u64,
}

/// A failed check, with the dialogue and turn that led to it.
#[derive(Debug, Clone, Copy)]
pub struct Failure<'a> {
    pub dialogue: &'a Played,
    /// Number of the turn, starting at 1.
    pub turn: usize,
    pub played: &'a PlayedTurn,
    pub check: &'a Outcome,
}

// === impl Share ===

impl Share {
    pub fn of<'a>(checks: impl IntoIterator<Item = &'a Outcome>) -> Self {
        checks
            .into_iter()
            .fold(Self::default(), |sum, check| sum.and(check.passed))
    }

    fn and(self, passed: bool) -> Self {
        Self {
            passed: self.passed + usize::from(passed),
            made: self.made + 1,
        }
    }

    /// Returns the ratio as a fraction between 0 and 1; 1 when there was nothing to check.
    pub fn ratio(self) -> f64 {
        if self.made == 0 {
            1.0
        } else {
            self.passed as f64 / self.made as f64
        }
    }

    pub fn percent(self) -> String {
        format!("{:.1} %", self.ratio() * 100.0)
    }
}

// === impl PlayedTurn ===

impl PlayedTurn {
    pub fn of(turn: &Turn, heard: Heard, checks: Vec<Outcome>, took_ms: u64) -> Self {
        Self {
            guest: turn.guest.as_slice().to_vec(),
            reply: heard.texts,
            verdict: heard.verdict,
            agents: heard.agents,
            sources: heard.sources,
            answered_by: heard.answered_by,
            segments: heard.segments,
            follow_up: turn.tags.iter().any(|tag| tag == "follow-up"),
            checks,
            took_ms,
        }
    }

    fn follows(&self) -> bool {
        self.checks
            .iter()
            .all(|check| check.passed || check.class != Class::Facts)
    }
}

// === impl Played ===

impl Played {
    pub fn of(dialogue: &Dialogue, turns: Vec<PlayedTurn>) -> Self {
        Self {
            file: dialogue.file.clone(),
            name: dialogue.name.clone(),
            about: dialogue.about.clone(),
            written: dialogue.written,
            tags: dialogue.tags.clone(),
            score: Share::of(turns.iter().flat_map(|turn| &turn.checks)),
            turns,
        }
    }

    fn checks(&self) -> impl Iterator<Item = &Outcome> {
        self.turns.iter().flat_map(|turn| &turn.checks)
    }
}

// === impl Report ===

impl Report {
    pub fn of(model: &str, dialogues: Vec<Played>, took_ms: u64) -> Self {
        let all = || dialogues.iter().flat_map(Played::checks);
        let classes =
            Class::ALL.map(|class| (class, Share::of(all().filter(|check| check.class == class))));
        let written = [Written::Before, Written::After].map(|when| {
            let of = dialogues.iter().filter(|played| played.written == when);
            (when, Share::of(of.flat_map(Played::checks)))
        });
        let turns = || dialogues.iter().flat_map(|played| &played.turns);
        let follow_ups = turns()
            .filter(|turn| turn.follow_up)
            .fold(Share::default(), |sum, turn| sum.and(turn.follows()));
        let mut answered_by = BTreeMap::new();
        for who in turns().flat_map(|turn| &turn.answered_by) {
            *answered_by.entry(who.clone()).or_default() += 1;
        }
        Self {
            model: model.to_owned(),
            score: Share::of(all()),
            classes: classes.into_iter().collect(),
            written: written.into_iter().collect(),
            follow_ups,
            answered_by,
            dialogues,
            took_ms,
        }
    }

    /// Returns the number of turns that the hosted model answered.
    pub fn by_model(&self) -> i64 {
        self.answered_by.get("model").copied().unwrap_or_default()
    }

    /// Returns the ratio of a class as a fraction between 0 and 1.
    pub fn ratio(&self, class: Class) -> f64 {
        self.classes
            .get(&class)
            .copied()
            .unwrap_or_default()
            .ratio()
    }

    /// Returns every failed check, except those that failed only because the turn's content is
    /// wrong.
    pub fn failures(&self) -> impl Iterator<Item = Failure<'_>> {
        self.dialogues.iter().flat_map(|dialogue| {
            (1..).zip(&dialogue.turns).flat_map(move |(turn, played)| {
                let failed = played
                    .checks
                    .iter()
                    .filter(|check| !check.passed && !check.follows);
                failed.map(move |check| Failure {
                    dialogue,
                    turn,
                    played,
                    check,
                })
            })
        })
    }
}

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color:#222}\
table{border-collapse:collapse;margin:1rem 0}td,th{padding:.25rem .8rem;border-bottom:1px solid #ddd;text-align:left;vertical-align:top}\
.no{color:#a4262c}.ok{color:#2b6a2f}section{border-left:3px solid #ccc;padding:0 1rem;margin:1rem 0}\
.guest{background:#eef3fa;padding:.3rem .6rem;border-radius:.4rem}.host{background:#f4f1ea;padding:.3rem .6rem;border-radius:.4rem}small{color:#666}";

/// Builds one HTML page with the figures, every failed check, and every dialogue as played.
pub fn html(report: &Report) -> String {
    let mut page = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Hey Seven: evaluation of {model}</title><style>{STYLE}</style>\
         <h1>Evaluation of {model}</h1><p>{} of {} checks passed ({}), {} dialogues, {:.1} s.</p>",
        report.score.passed,
        report.score.made,
        report.score.percent(),
        report.dialogues.len(),
        report.took_ms as f64 / 1000.0,
        model = escaped(&report.model),
    );
    figures(&mut page, report);
    let failures: Vec<Failure<'_>> = report.failures().collect();
    write_to(
        &mut page,
        format_args!("<h2>Failing checks: {}</h2>", failures.len()),
    );
    failures
        .iter()
        .for_each(|failure| failed(&mut page, failure));
    page.push_str("<h2>Every dialogue</h2>");
    report
        .dialogues
        .iter()
        .for_each(|played| whole(&mut page, played));
    page.push_str("</html>\n");
    page
}

fn figures(page: &mut String, report: &Report) {
    page.push_str("<table><tr><th>what</th><th>passed</th><th>made</th><th>share</th></tr>");
    let mut row = |name: &str, share: Share| {
        let (passed, made, percent) = (share.passed, share.made, share.percent());
        write_to(
            page,
            format_args!(
                "<tr><td>{name}</td><td>{passed}</td><td>{made}</td><td>{percent}</td></tr>"
            ),
        );
    };
    report
        .classes
        .iter()
        .for_each(|(class, share)| row(class.as_str(), *share));
    for (when, share) in &report.written {
        row(
            if *when == Written::Before {
                "written before the code"
            } else {
                "written after the code"
            },
            *share,
        );
    }
    row("follow-up turns", report.follow_ups);
    page.push_str("</table>");
}

fn failed(page: &mut String, failure: &Failure<'_>) {
    let Failure {
        dialogue,
        turn,
        played,
        check,
    } = failure;
    write_to(
        page,
        format_args!(
            "<section><b>{} {}</b> <small>{}, turn {turn}</small>",
            check.class.as_str(),
            escaped(&check.check),
            escaped(&dialogue.file)
        ),
    );
    spoken(page, played);
    write_to(
        page,
        format_args!(
            "<p>expected: {}<br><span class=\"no\">{}</span></p></section>",
            escaped(&check.expected),
            escaped(&check.why)
        ),
    );
}

fn spoken(page: &mut String, turn: &PlayedTurn) {
    for text in &turn.guest {
        write_to(
            page,
            format_args!("<p class=\"guest\">{}</p>", escaped(text)),
        );
    }
    let reply = if turn.reply.is_empty() {
        "(silence)".to_owned()
    } else {
        turn.reply.join(" / ")
    };
    write_to(
        page,
        format_args!(
            "<p class=\"host\">{} <small>{}</small></p>",
            escaped(&reply),
            escaped(&turn.agents.join(" "))
        ),
    );
}

fn whole(page: &mut String, played: &Played) {
    write_to(
        page,
        format_args!(
            "<details><summary>{} <small>{} of {}</small></summary><p><small>{}</small></p>",
            escaped(&played.file),
            played.score.passed,
            played.score.made,
            escaped(&played.about)
        ),
    );
    for turn in &played.turns {
        spoken(page, turn);
        let checks = turn.checks.iter().map(|check| {
            let (class, mark) = if check.passed {
                ("ok", "yes")
            } else {
                ("no", "no")
            };
            format!(
                "<span class=\"{class}\">{} {}: {mark}</span>",
                escaped(&check.check),
                escaped(&check.expected)
            )
        });
        write_to(
            page,
            format_args!(
                "<p><small>{}</small></p>",
                checks.collect::<Vec<_>>().join(", ")
            ),
        );
    }
    page.push_str("</details>");
}

/// Appends to the page; writing into a string cannot fail.
fn write_to(page: &mut String, what: std::fmt::Arguments<'_>) {
    page.write_fmt(what).unwrap_or_default();
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(class: Class, passed: bool, follows: bool) -> Outcome {
        Outcome {
            class,
            check: "facts".into(),
            expected: "<5 PM>".into(),
            passed,
            why: "not \"said\"".into(),
            follows,
        }
    }

    fn played(written: Written, follow_up: bool, checks: Vec<Outcome>) -> Played {
        let turn = PlayedTurn {
            guest: vec!["a < b?".into()],
            reply: vec![],
            verdict: Some(Verdict::Silence),
            agents: vec![],
            sources: vec![],
            answered_by: Vec::new(),
            segments: 0,
            follow_up,
            checks,
            took_ms: 1,
        };
        let score = Share::of(&turn.checks);
        let (file, name, about) = ("f".into(), "n".into(), "a".into());
        Played {
            file,
            name,
            about,
            written,
            tags: vec![],
            score,
            turns: vec![turn],
        }
    }

    fn report() -> Report {
        let first = vec![
            check(Class::Facts, true, false),
            check(Class::Segments, false, true),
        ];
        let second = vec![
            check(Class::Facts, false, false),
            check(Class::Compliance, true, false),
        ];
        Report::of(
            "m",
            vec![
                played(Written::Before, true, first),
                played(Written::After, true, second),
            ],
            7,
        )
    }

    #[test]
    fn shares_are_of_what_was_made() {
        let report = report();
        assert_eq!(report.score, Share { passed: 2, made: 4 });
        assert_eq!(report.classes[&Class::Facts], Share { passed: 1, made: 2 });
        assert_eq!(
            report.written[&Written::Before],
            Share { passed: 1, made: 2 }
        );
        assert_eq!(report.follow_ups, Share { passed: 1, made: 2 });
        assert!((report.ratio(Class::Extraction) - 1.0).abs() < f64::EPSILON);
        assert_eq!(
            report.failures().count(),
            1,
            "what follows from another failure is not listed"
        );
    }

    #[test]
    fn the_page_is_whole_and_escaped_and_the_document_reads_back() {
        let report = report();
        let page = html(&report);
        assert!(page.starts_with("<!doctype html>") && page.trim_end().ends_with("</html>"));
        assert!(
            page.contains("a &lt; b?")
                && page.contains("expected: &lt;5 PM&gt;")
                && !page.contains("<5 PM>")
        );
        assert!(
            !page.contains("http") && !page.contains("src="),
            "no asset from elsewhere"
        );
        let back: Report = serde_json::from_str(&serde_json::to_string(&report).unwrap()).unwrap();
        assert_eq!((back.score, back.dialogues.len()), (report.score, 2));
    }
}
