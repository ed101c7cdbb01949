//! Keywords: a whole message that is a command, tolerant of spelling and courtesy (SMS-15, C-6, C-7).

mod courtesy;
mod table;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use seven_domain::Language;

pub(crate) use self::courtesy::courtesy;
use self::{
    courtesy::{Filler, filler},
    table::{Fit, ROWS, Row},
};
use crate::{
    normal::{calmed, words},
    opt_out,
    pattern::starts_with,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Intent {
    OptOut,
    OptIn,
    Help,
    /// Yes to whatever was asked; it is consent only while an opt-in prompt is pending (C-16).
    Affirm,
    Privacy,
    Delete,
}

impl Intent {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OptOut => "opt_out",
            Self::OptIn => "opt_in",
            Self::Help => "help",
            Self::Affirm => "affirm",
            Self::Privacy => "privacy",
            Self::Delete => "delete",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Keyword {
    pub intent: Intent,
    /// Which row matched, for audit: `optout.kw.stop`, `optout.nl.en.03`.
    pub pattern_id: &'static str,
    /// None for words we ask guests of any language to send (STOP, START, HELP).
    pub language: Option<Language>,
    /// The provider reacts to this very message itself: it blocks or unblocks the number and may answer.
    pub known_to_provider: bool,
}

/// The command a message is, if it is one. Opt-outs are also recognised as a sentence of their own ("Who is this?
/// STOP") and in plain language ([`crate::opt_out`]).
pub fn classify(text: &str) -> Option<Keyword> {
    let words = words(text);
    let found = whole_message(&words)
        .map(|row| (row.intent, row.id, row.language))
        .or_else(|| own_sentence(text).map(|row| (row.intent, row.id, row.language)))
        .or_else(|| opt_out::find(&words).map(|phrase| (Intent::OptOut, phrase.id, Some(phrase.language))));
    found.map(|(intent, pattern_id, language)| Keyword {
        intent,
        pattern_id,
        language,
        known_to_provider: provider_reacts(text),
    })
}

/// What Telnyx matches by default: the whole message, in any case, nothing else.
const PROVIDER_WORDS: &[&str] =
    &["stop", "stopall", "stop all", "unsubscribe", "cancel", "end", "quit", "start", "unstop", "help"];

fn provider_reacts(text: &str) -> bool {
    PROVIDER_WORDS.iter().any(|word| text.trim().eq_ignore_ascii_case(word))
}

/// The row a message consists of, said once or repeatedly, with nothing but courtesy around it.
fn whole_message(words: &[String]) -> Option<&'static Row> {
    covering(words).or_else(|| covering(&calmed(words)?))
}

fn covering(words: &[String]) -> Option<&'static Row> {
    let (mut rows, mut fillers) = (Vec::new(), Vec::new());
    let mut at = 0;
    while at < words.len() {
        let rest = &words[at..];
        if let Some((row, length)) = longest_row(rest) {
            rows.push(row);
            at += length;
        } else {
            let (kind, length) = filler(rest)?;
            fillers.push(kind);
            at += length;
        }
    }
    // "ok stop" is a STOP; "yes cancel" may answer "shall I cancel your table?".
    let core = rows.iter().find(|row| row.fit == Fit::Core);
    let row: &'static Row = core.or_else(|| rows.first())?;
    let agree = rows.iter().all(|other| other.intent == row.intent);
    ((agree || core.is_some()) && fillers.iter().all(|&kind| row.fit.allows(kind))).then_some(row)
}

fn longest_row(words: &[String]) -> Option<(&'static Row, usize)> {
    ROWS.iter()
        .filter_map(|row| {
            let phrase: Vec<&str> = row.words.split(' ').collect();
            starts_with(words, &phrase).then_some((row, phrase.len()))
        })
        .max_by_key(|&(_, length)| length)
}

/// An unmistakable STOP that is a sentence of its own, at the end ("Who is this? STOP") or at the beginning ("STOP. I am
/// not a customer"). "Stop! You are too kind" is not: banter opens that way.
fn own_sentence(text: &str) -> Option<&'static Row> {
    let sentences: Vec<(Vec<String>, Option<char>)> = text
        .split_inclusive(['.', '!', '?', ';', '\n', '…'])
        .map(|sentence| (words(sentence), sentence.chars().next_back()))
        .filter(|(words, _)| !words.is_empty())
        .collect();
    let [(first, first_end), .., (last, last_end)] = sentences.as_slice() else { return None };
    let core =
        |words: &[String]| whole_message(words).filter(|row| row.intent == Intent::OptOut && row.fit == Fit::Core);
    match last_end {
        Some('?') => None,
        _ => core(last),
    }
    .or_else(|| if matches!(first_end, Some('.' | '\n' | ';')) { core(first) } else { None })
}

impl Fit {
    fn allows(self, filler: Filler) -> bool {
        match self {
            Self::Alone => false,
            Self::Polite => filler == Filler::Courtesy,
            Self::Core => matches!(filler, Filler::Courtesy | Filler::LeadIn),
            Self::Agreeing => matches!(filler, Filler::Courtesy | Filler::Agreement),
        }
    }
}
