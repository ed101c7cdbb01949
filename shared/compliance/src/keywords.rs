//! Keywords: a whole message that is a command, tolerant of spelling and courtesy (SMS-15, C-6, C-7).

mod courtesy;
mod table;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use seven_domain::Language;

pub(crate) use self::courtesy::courtesy;
use self::{
    courtesy::{FILLERS, Filler},
    table::{Fit, ROWS, Row},
};
use crate::{
    Guardrails,
    pattern::{Builder, Groups, Reading, Symbol},
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
/// STOP") and in plain language ([`crate::opt_out`]). Every [`Guardrails::decide`] says the same.
pub fn classify(text: &str) -> Option<Keyword> {
    Guardrails::default().decide(text).keyword
}

/// What Telnyx matches by default: the whole message, in any case, nothing else.
const PROVIDER_WORDS: &[&str] =
    &["stop", "stopall", "stop all", "unsubscribe", "cancel", "end", "quit", "start", "unstop", "help"];

pub(crate) fn provider_reacts(text: &str) -> bool {
    PROVIDER_WORDS.iter().any(|word| text.trim().eq_ignore_ascii_case(word))
}

/// The commands, by their first word.
#[derive(Debug, Default, Clone)]
pub(crate) struct Commands(HashMap<Symbol, Vec<(Vec<Symbol>, Meaning)>>);

#[derive(Debug, Clone, Copy)]
enum Meaning {
    Row(&'static Row),
    Filler(Filler),
}

impl Commands {
    pub(crate) fn new(builder: &mut Builder<'_>) -> Self {
        let rows = ROWS.iter().map(|row| (row.words, Meaning::Row(row)));
        let fillers = FILLERS.iter().flat_map(|(list, kind)| list.iter().map(|one| (*one, Meaning::Filler(*kind))));
        let mut commands = Self::default();
        for (words, meaning) in rows.chain(fillers) {
            let alternatives = Groups::default().alternatives(words).expect("the tables are folded words, says a test");
            let phrase = builder.symbols(alternatives.phrases[0]);
            commands.0.entry(phrase[0]).or_default().push((phrase, meaning));
        }
        commands
    }

    /// The row a message consists of, said once or repeatedly, with nothing but courtesy around it.
    pub(crate) fn whole_message(&self, words: &[Option<Symbol>]) -> Option<&'static Row> {
        let (mut first, mut core) = (None, None);
        let (mut agree, mut fillers) = (true, [false; 3]);
        let mut at = 0;
        while at < words.len() {
            let (meaning, length) = self.longest(&words[at..])?;
            match meaning {
                Meaning::Row(row) => {
                    agree &= first.get_or_insert(row).intent == row.intent;
                    core = core.or(Some(row).filter(|row| row.fit == Fit::Core));
                }
                Meaning::Filler(kind) => fillers[kind as usize] = true,
            }
            at += length;
        }
        // "ok stop" is a STOP; "yes cancel" may answer "shall I cancel your table?".
        let row: &'static Row = core.or(first)?;
        let fits = FILLERS.iter().all(|(_, kind)| !fillers[*kind as usize] || row.fit.allows(*kind));
        ((agree || core.is_some()) && fits).then_some(row)
    }

    /// The longest row these words begin with, else the longest filler.
    fn longest(&self, words: &[Option<Symbol>]) -> Option<(Meaning, usize)> {
        let here = self.0.get(&(*words.first()?)?)?.iter().filter(|(phrase, _)| {
            phrase.len() <= words.len() && phrase.iter().zip(words).all(|(one, word)| Some(*one) == *word)
        });
        let best = here.max_by_key(|(phrase, meaning)| (matches!(meaning, Meaning::Row(_)), phrase.len()));
        best.map(|(phrase, meaning)| (*meaning, phrase.len()))
    }

    /// An unmistakable STOP that is a sentence of its own, at the end ("Who is this? STOP") or at the beginning ("STOP. I
    /// am not a customer"). "Stop! You are too kind" is not: banter opens that way.
    pub(crate) fn own_sentence(&self, reading: &Reading) -> Option<&'static Row> {
        let mut sentences = reading.folded.sentences();
        let ((first, first_end), (last, last_end)) = (sentences.next()?, sentences.next_back()?);
        let core = |sentence: std::ops::Range<usize>| {
            self.whole_message(&reading.base[sentence])
                .filter(|row| row.intent == Intent::OptOut && row.fit == Fit::Core)
        };
        let at_end = if last_end == Some('?') { None } else { core(last) };
        at_end.or_else(|| if matches!(first_end, Some('.' | '\n' | ';')) { core(first) } else { None })
    }
}

impl Row {
    pub(crate) fn keyword(&self, text: &str) -> Keyword {
        Keyword {
            intent: self.intent,
            pattern_id: self.id,
            language: self.language,
            known_to_provider: provider_reacts(text),
        }
    }
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
