//! Reads dialogues from files; `tests/conversations/README.md` describes the format.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, ensure};
use chrono::NaiveDateTime;
use serde::{Deserialize, Serialize};
use seven_domain::Language;

/// One guest's visit to one casino, with the expectations after each text.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dialogue {
    /// The file's name without its extension; set when the file is read.
    #[serde(skip)]
    pub file: String,
    pub name: String,
    /// Purpose of the dialogue, with requirement IDs.
    pub about: String,
    /// The casino's local time at the first text.
    pub at: NaiveDateTime,
    pub written: Written,
    /// The language of the first text; the guest may change it later.
    pub language: Language,
    #[serde(default)]
    pub tags: Vec<String>,
    pub turns: Vec<Turn>,
}

/// Whether the dialogue was finished before the conversation code first ran on it, or was written
/// later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Written {
    Before,
    After,
}

/// The guest's texts of one turn, and the expectations of the answer.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Turn {
    /// The guest's texts; several texts are sent in the same second.
    pub guest: OneOrMore,
    /// Tags. `follow-up` marks a turn that only makes sense after the previous turn; such turns are
    /// counted separately.
    #[serde(default)]
    pub tags: Vec<String>,
    #[serde(default)]
    pub expect: Expect,
}

/// Expectations of an answer; a field that is left out is not checked.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Expect {
    pub verdict: Option<Verdict>,
    /// The answering agent has to be one of these.
    pub agent: Option<OneOrMore>,
    /// Facts that must all occur; if an entry has several wordings, one of them must occur.
    pub facts: Vec<OneOrMore>,
    /// Wordings that must not occur.
    pub forbid: Vec<String>,
    /// Ids of content items; the reply must be about one of them.
    pub any_of_items: Vec<String>,
    /// Profile fields that must be known about the guest after this turn.
    pub fields: BTreeMap<String, serde_json::Value>,
    /// Whether the content lacks the answer. If so, the host must say that it does not know, or
    /// give the casino's phone number. It must invent nothing.
    pub unanswerable: bool,
    /// Maximum number of segments over all texts of the answer.
    pub segments_max: Option<usize>,
    pub question: Option<Question>,
    pub language: Option<Language>,
}

/// Where the answer comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The gate answers with a fixed text.
    Canned,
    /// The host answers.
    Reply,
    /// Nobody answers.
    Silence,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Question {
    AtMostOne,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum OneOrMore {
    One(String),
    More(Vec<String>),
}

// === impl OneOrMore ===

impl OneOrMore {
    pub fn as_slice(&self) -> &[String] {
        match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::More(more) => more,
        }
    }
}

// === impl Verdict ===

impl Verdict {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Canned => "canned",
            Self::Reply => "reply",
            Self::Silence => "silence",
        }
    }
}

/// Reads every `*.yaml` file of `dir`, sorted by name. If `only` is not empty, reads only files
/// whose name contains one of the words in `only`.
pub fn read_dir(dir: &Path, only: &[String]) -> Result<Vec<Dialogue>> {
    let entries = std::fs::read_dir(dir).with_context(|| format!("reading {}", dir.display()))?;
    let mut files: Vec<PathBuf> = entries
        .map(|entry| Ok(entry?.path()))
        .collect::<std::io::Result<_>>()?;
    files.retain(|file| file.extension().is_some_and(|ending| ending == "yaml"));
    files.sort();
    let wanted =
        |name: &str| only.is_empty() || only.iter().any(|word| name.contains(word.as_str()));
    let mut dialogues = Vec::new();
    for file in files {
        let name = file
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if wanted(&name) {
            let text = std::fs::read_to_string(&file)
                .with_context(|| format!("reading {}", file.display()))?;
            let dialogue = parse(&text).with_context(|| format!("reading {}", file.display()))?;
            dialogues.push(Dialogue {
                file: name,
                ..dialogue
            });
        }
    }
    ensure!(
        !dialogues.is_empty(),
        "no dialogue to play in {}",
        dir.display()
    );
    Ok(dialogues)
}

/// Parses one dialogue in YAML. Fails if there is no turn, if a turn has no text of the guest, or
/// if a profile field is unknown.
pub fn parse(text: &str) -> Result<Dialogue> {
    let dialogue: Dialogue = serde_yaml_ng::from_str(text)?;
    ensure!(!dialogue.turns.is_empty(), "a dialogue needs a turn");
    for (row, turn) in (1..).zip(&dialogue.turns) {
        ensure!(
            !turn.guest.as_slice().is_empty(),
            "turn {row}: the guest says nothing"
        );
        for field in turn.expect.fields.keys() {
            ensure!(
                super::known::FIELDS.contains(&field.as_str()),
                "turn {row}: nothing is known by the name `{field}`"
            );
        }
    }
    Ok(dialogue)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str =
        "name: n\nabout: a\nat: 2026-11-21T18:30:00\nwritten: before\nlanguage: es\nturns:\n";

    #[test]
    fn a_turn_is_read_as_it_is_written() {
        let read = parse(&format!(
            "{HEAD}  - guest: [\"a\", \"b\"]\n    tags: [follow-up]\n    expect: {{ verdict: reply, agent: host, facts: [x, [y, z]], fields: {{ visit_date: 2026-11-28 }}, question: at_most_one }}\n"
        ))
        .unwrap();
        let turn = &read.turns[0];
        assert_eq!(
            (read.written, read.language, turn.guest.as_slice().len()),
            (Written::Before, Language::Es, 2)
        );
        assert_eq!(turn.expect.facts[1].as_slice(), ["y", "z"]);
        assert_eq!(turn.expect.fields["visit_date"], "2026-11-28");
        assert_eq!(turn.expect.question, Some(Question::AtMostOne));
    }

    #[test]
    fn what_nobody_would_check_is_refused() {
        for bad in [
            "  - guest: a\n    expect: { fact: [x] }\n",
            "  - guest: a\n    expect: { fields: { shoe_size: 9 } }\n",
            "  - guest: []\n",
            "  []\n",
        ] {
            assert!(parse(&format!("{HEAD}{bad}")).is_err(), "{bad}");
        }
    }
}
