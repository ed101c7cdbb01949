//! Searches log lines, spans, metric labels and bus subjects. None of them may hold a guest's phone
//! number in any spelling, or words that a guest wrote or received.

use std::{
    collections::{BTreeSet, HashSet},
    path::Path,
};

use aho_corasick::AhoCorasick;
use anyhow::{Context, Result};
use regex::Regex;
use seven_testkit::collector::Span;

use super::Finding;

/// This many consecutive words of a text reveal the text. A text that has no more words than this
/// is searched for as a whole.
const WORDS: usize = 4;

#[derive(Debug)]
pub(crate) struct Secrets {
    /// Phone numbers of eleven digits each.
    phones: HashSet<String>,
    /// Last seven digits of the phones. They are searched for only with a separator between the
    /// digits, because any long number could contain seven unseparated digits.
    ends: HashSet<String>,
    separated: Regex,
    words: AhoCorasick,
}

/// Number of items of each kind that were searched.
#[derive(Debug, Default)]
pub(crate) struct Searched {
    pub(crate) lines: usize,
    pub(crate) spans: usize,
    pub(crate) series: usize,
    pub(crate) messages: usize,
}

impl Secrets {
    /// Builds the search from `phones` in E.164, and from `said`: the texts that guests wrote and
    /// received.
    pub(crate) fn new<'a>(
        phones: &[String],
        said: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self> {
        let phones: HashSet<String> = phones
            .iter()
            .map(|phone| phone.trim_start_matches('+').to_owned())
            .collect();
        let ends = phones
            .iter()
            .map(|phone| phone[phone.len() - 7..].to_owned())
            .collect();
        let fragments: BTreeSet<String> = said.into_iter().flat_map(fragments).collect();
        let words = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .build(fragments);
        Ok(Self {
            phones,
            ends,
            separated: Regex::new(r"\b(\d{3})[-. ](\d{4})\b").context("the pattern of numbers")?,
            words: words.context("the pattern of words")?,
        })
    }

    /// Returns the kind of secret that the text contains, if any.
    pub(crate) fn found_in(&self, text: &str) -> Option<&'static str> {
        if self.words.is_match(text) {
            return Some("words");
        }
        let mut runs = text.split(|c: char| !c.is_ascii_digit());
        let whole = |run: &str| {
            self.phones.contains(run)
                || (run.len() == 10 && self.phones.contains(&format!("1{run}")))
        };
        let spelled = || {
            self.separated
                .captures_iter(text)
                .any(|at| self.ends.contains(&format!("{}{}", &at[1], &at[2])))
        };
        (runs.any(whole) || spelled()).then_some("a phone")
    }

    /// Searches log lines, spans and metric series. The bus was searched before: `messages` is the
    /// number of its messages that were searched, `told` names the places with secrets.
    pub(crate) fn judge(
        &self,
        logs: &Path,
        spans: &[Span],
        series: &BTreeSet<String>,
        (messages, told): (usize, &[String]),
    ) -> Result<(Finding, Searched)> {
        let mut finding = Finding::new(
            "no phone and no words of a guest in logs, spans, labels and subjects",
            "lines, spans, series and messages",
        );
        let mut searched = Searched {
            messages,
            ..Searched::default()
        };
        for file in
            std::fs::read_dir(logs).with_context(|| format!("reading {}", logs.display()))?
        {
            let path = file?.path();
            let log =
                std::fs::read(&path).with_context(|| format!("reading {}", path.display()))?;
            for (n, line) in String::from_utf8_lossy(&log).lines().enumerate() {
                searched.lines += 1;
                let place = |what| {
                    format!(
                        "{what} in {}:{}",
                        path.file_name().unwrap_or_default().to_string_lossy(),
                        n + 1
                    )
                };
                finding.look(self.found_in(line).map(place));
            }
        }
        for span in spans {
            searched.spans += 1;
            let what = self.found_in(&format!("{span:?}"));
            finding.look(
                what.map(|what| format!("{what} in span {} of {}", span.name, span.trace_id)),
            );
        }
        for each in series {
            searched.series += 1;
            // Reports only the name, because the labels hold the secret.
            let name = each.split('{').next().unwrap_or_default();
            finding.look(
                self.found_in(each)
                    .map(|what| format!("{what} in a label of {name}")),
            );
        }
        finding.examined += messages;
        finding
            .violations
            .extend(told.iter().map(|stream| format!("on the bus: {stream}")));
        for (kind, count) in [
            ("log line", searched.lines),
            ("span", searched.spans),
            ("series", searched.series),
            ("message", messages),
        ] {
            if count == 0 {
                finding.violations.push(format!("no {kind} was searched"));
            }
        }
        Ok((finding, searched))
    }
}

fn fragments(said: &str) -> Vec<String> {
    let words: Vec<&str> = said.split_whitespace().collect();
    if words.len() <= WORDS {
        let whole = said.trim().trim_end_matches(|c: char| !c.is_alphanumeric());
        return if whole.is_empty() {
            Vec::new()
        } else {
            vec![whole.to_owned()]
        };
    }
    words
        .windows(WORDS)
        .map(|window| window.join(" "))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secrets() -> Secrets {
        let said = [
            "any italian place?",
            "hi, I am Quillon and I like the pool",
            "Quillon",
        ];
        Secrets::new(&["+12035550101".to_owned()], said).unwrap()
    }

    #[test]
    fn numbers_are_found_in_every_spelling_and_words_in_any_case() {
        let secrets = secrets();
        for (text, found) in [
            ("texts=1 ok", None),
            ("to=+12035550101", Some("a phone")),
            ("to 2035550101", Some("a phone")),
            ("tel:1-203-555-0101", Some("a phone")),
            ("(203) 555-0101", Some("a phone")),
            ("203.555.0101", Some("a phone")),
            ("ends in 555 0101", Some("a phone")),
            ("id 120355501011", None),
            ("555-0102", None),
            ("0190e555-0101-7000-8000-000000000000", None),
            ("said Any Italian place!", Some("words")),
            ("guest quillon", Some("words")),
            ("I AM Quill and do like the pond", None),
            ("and I like the pool", Some("words")),
            ("the pool", None),
        ] {
            assert_eq!(secrets.found_in(text), found, "{text}");
        }
    }

    #[test]
    fn every_place_is_searched_and_an_empty_one_is_told() {
        let dir = seven_testkit::Scratch::new("chaos-secrets").unwrap();
        std::fs::write(dir.path().join("a.log"), "ok\nto=+12035550101\n").unwrap();
        let span = Span {
            trace_id: "t".into(),
            span_id: "1".into(),
            parent: String::new(),
            name: "seven.gate".into(),
            kind: "Internal".into(),
            started_nanos: 1,
            ended_nanos: 2,
            attributes: [("seven.a".to_owned(), "b".to_owned())].into(),
            links: Vec::new(),
            error: None,
            resource: std::collections::BTreeMap::default(),
        };
        let spans = [
            span.clone(),
            Span {
                attributes: [("x".into(), "quillon".into())].into(),
                ..span.clone()
            },
            Span {
                error: Some("to 2035550101".into()),
                ..span
            },
        ];
        let series = [
            "seven_sends_total{to=\"+12035550101\"}".to_owned(),
            "seven_ready".to_owned(),
        ]
        .into();
        let (finding, searched) = secrets()
            .judge(dir.path(), &spans, &series, (7, &["a phone".to_owned()]))
            .unwrap();
        assert_eq!(
            (
                searched.lines,
                searched.spans,
                searched.series,
                searched.messages
            ),
            (2, 3, 2, 7)
        );
        assert_eq!(finding.examined, 14);
        let expected = [
            "a phone in a.log:2",
            "words in span seven.gate of t",
            "a phone in span seven.gate of t",
            "a phone in a label of seven_sends_total",
            "on the bus: a phone",
        ];
        assert_eq!(finding.violations, expected);
        let (finding, _) = secrets()
            .judge(dir.path(), &[], &BTreeSet::new(), (0, &[]))
            .unwrap();
        assert_eq!(finding.violations.len(), 4);
    }
}
