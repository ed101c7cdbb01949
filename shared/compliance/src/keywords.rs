//! Recognises keywords: messages that consist of a command. Typos in the command and courtesy words
//! around it are allowed.

mod courtesy;
mod slip;
mod table;
#[cfg(test)]
mod tests;
mod wrapping;

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};
use seven_domain::Language;

pub(crate) use self::{courtesy::courtesy, table::Row};
use self::{
    courtesy::{FILLERS, Filler},
    table::{Fit, ROWS},
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
    /// Yes, in answer to any question. It counts as consent only while an opt-in question is open.
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
    /// The id of the row that matched, for audit: `optout.kw.stop`, `optout.nl.en.03`.
    pub pattern_id: &'static str,
    /// The language of the words; `None` for words that guests of any language are asked to send
    /// (STOP, START, HELP).
    pub language: Option<Language>,
}

/// Returns the command in a message, if any. Also finds an opt-out in a sentence of its own ("Who
/// is this? STOP") or in plain language ([`crate::opt_out`]).
pub fn classify(text: &str) -> Option<Keyword> {
    Guardrails::default().decide(text).keyword
}

/// The command phrases of the keyword table, indexed by their first word.
#[derive(Debug, Default, Clone)]
pub(crate) struct Commands {
    /// The command rows and the courtesy words, indexed by their first word.
    phrases: HashMap<Symbol, Vec<(Vec<Symbol>, Meaning)>>,
    /// The first words of opt-out and opt-in rows. Only texts with one of these words are searched
    /// for a wrapped command (see `wrapping`).
    openers: HashSet<Symbol>,
}

/// Words that cannot end a sentence: if a line ends with one, the next line continues the sentence.
const LEADS_ON: &[&str] = &[
    "dont", "not", "never", "cant", "wont", "to", "the", "a", "my", "next", "last", "bus", "tram",
    "and", "or", "no", "nunca", "el", "la",
];
/// The maximum number of words of a message that is checked for typos of a command.
const SLIP_WORDS: usize = 4;
const WRAPPED_WORDS: usize = 40;

#[derive(Debug, Clone, Copy)]
enum Meaning {
    Row(&'static Row),
    Filler(Filler),
}

impl Commands {
    pub(crate) fn new(builder: &mut Builder<'_>) -> Self {
        let rows = ROWS.iter().map(|row| (row.words, Meaning::Row(row)));
        let fillers = FILLERS
            .iter()
            .flat_map(|(list, kind)| list.iter().map(|one| (*one, Meaning::Filler(*kind))));
        let mut commands = Self::default();
        for (words, meaning) in rows.chain(fillers) {
            let alternatives = Groups::default()
                .alternatives(words)
                .expect("the tables are folded words, says a test");
            let phrase = builder.symbols(alternatives.phrases[0]);
            if matches!(
                meaning,
                Meaning::Row(row) if matches!(row.intent, Intent::OptOut | Intent::OptIn)
            ) {
                commands.openers.insert(phrase[0]);
            }
            commands
                .phrases
                .entry(phrase[0])
                .or_default()
                .push((phrase, meaning));
        }
        commands
    }

    /// Returns the row that makes up the whole message. The row may be repeated, and courtesy words
    /// may stand around it.
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
        // "ok stop" is a STOP. "yes cancel" is not, because it may answer "shall I cancel your
        // table?".
        let row: &'static Row = core.or(first)?;
        let fits = FILLERS
            .iter()
            .all(|(_, kind)| !fillers[*kind as usize] || row.fit.allows(*kind));
        ((agree || core.is_some()) && fits).then_some(row)
    }

    /// Returns the longest row that these words begin with, or else the longest filler. Also
    /// returns its length in words.
    fn longest(&self, words: &[Option<Symbol>]) -> Option<(Meaning, usize)> {
        let here = self
            .phrases
            .get(&(*words.first()?)?)?
            .iter()
            .filter(|(phrase, _)| {
                phrase.len() <= words.len()
                    && phrase
                        .iter()
                        .zip(words)
                        .all(|(one, word)| Some(*one) == *word)
            });
        let best =
            here.max_by_key(|(phrase, meaning)| (matches!(meaning, Meaning::Row(_)), phrase.len()));
        best.map(|(phrase, meaning)| (*meaning, phrase.len()))
    }

    /// First corrects typos and looks for an opt-out. Then removes the additions of phones and mail
    /// programs, such as signatures, and looks for an opt-out or opt-in. `whole_message` looks up
    /// the text that is left.
    pub(crate) fn wrapped(
        &self,
        text: &str,
        reading: &Reading,
        whole_message: impl Fn(&str) -> Option<&'static Row>,
    ) -> Option<&'static Row> {
        let words = reading.folded.len();
        if (1..=SLIP_WORDS).contains(&words)
            && let Some(corrected) = corrected(reading)
            && let Some(row) = whole_message(&corrected).filter(|row| row.intent == Intent::OptOut)
        {
            return Some(row);
        }
        // Most texts contain no first word of a command and are done here.
        if !(2..=WRAPPED_WORDS).contains(&words)
            || !reading
                .base
                .iter()
                .flatten()
                .any(|word| self.openers.contains(word))
        {
            return None;
        }
        let inside = wrapping::unwrap(text)?;
        let row = whole_message(&inside.text)?;
        let leaves_or_returns = matches!(row.intent, Intent::OptOut | Intent::OptIn);
        (leaves_or_returns && (!inside.doubtful || row.is_unmistakable())).then_some(row)
    }

    /// Returns an unmistakable STOP that is the last or the first sentence ("Who is this? STOP").
    /// "Stop! You are too kind" does not count, because banter begins this way.
    pub(crate) fn own_sentence(&self, reading: &Reading) -> Option<&'static Row> {
        let mut sentences = reading.folded.sentences();
        let ((first, first_end), (last, last_end)) = (sentences.next()?, sentences.next_back()?);
        let core = |sentence: std::ops::Range<usize>| {
            self.whole_message(&reading.base[sentence])
                .filter(|row| row.intent == Intent::OptOut && row.fit == Fit::Core)
        };
        // "Please don't" and "stop" on two lines are one sentence, not an opt-out.
        let goes_on = last.start > 0 && {
            let before = last.start - 1;
            reading.folded.tokens()[before].stop == Some('\n')
                && LEADS_ON.contains(&reading.folded.word(before))
        };
        let at_end = if last_end == Some('?') || goes_on {
            None
        } else {
            core(last)
        };
        at_end.or_else(|| {
            if matches!(first_end, Some('.' | '\n' | ';')) {
                core(first)
            } else {
                None
            }
        })
    }
}

/// Returns the message with its typos corrected, or none if it has no typos.
fn corrected(reading: &Reading) -> Option<String> {
    let folded = &reading.folded;
    let squeezed: String = (0..folded.len()).map(|at| folded.word(at)).collect();
    if let Some(word) = slip::in_pieces(&squeezed) {
        return Some(word.to_owned());
    }
    let mut mended = false;
    let words = (0..folded.len()).map(|at| {
        let slipped = slip::command(folded.word(at)).filter(|word| *word != folded.word(at));
        mended |= slipped.is_some();
        slipped.unwrap_or_else(|| folded.word(at))
    });
    let words: Vec<&str> = words.collect();
    mended.then(|| words.join(" "))
}

impl Row {
    pub(crate) fn keyword(&self) -> Keyword {
        Keyword {
            intent: self.intent,
            pattern_id: self.id,
            language: self.language,
        }
    }

    /// Returns whether the command is recognised even inside instruction words or next to a
    /// lower-case signature: "Reply END" is a command, "say no more" is not.
    fn is_unmistakable(&self) -> bool {
        self.fit == Fit::Core
            || matches!(
                self.words,
                "cancel" | "end" | "quit" | "revoke" | "start" | "unstop" | "baja" | "cancelar"
            )
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
