//! Splits a text into words with their positions; extraction rules read these words.

use std::ops::Range;

use seven_text::fold;
use unicode_normalization::char::is_combining_mark;

/// The maximum number of words that are read. No SMS has more, and the limit bounds the work of
/// every rule.
const LONGEST: usize = 400;

/// One word, of letters alone or digits alone: "7pm" is two words.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Word {
    /// The word in lower case, without accents and apostrophes, and without a possessive ending.
    pub(super) text: String,
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) capital: bool,
    pub(super) possessive: bool,
}

/// The separator between a word and the word before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Gap {
    /// Nothing, a hyphen or a slash.
    Joined,
    Space,
    Comma,
    /// The end of a sentence or of the text, a bracket, or a part of the text that was left out.
    Stop,
}

pub(super) struct Utterance<'t> {
    pub(super) raw: &'t str,
    pub(super) words: Vec<Word>,
    gaps: Vec<Gap>,
    /// Whether the text has lower-case letters; without them, capitals mean nothing.
    pub(super) has_case: bool,
}

// === impl Utterance ===

impl<'t> Utterance<'t> {
    /// Splits a text into words. Words in the `masked` ranges, which hold addresses, are left out.
    pub(super) fn read(raw: &'t str, masked: &[Range<usize>]) -> Self {
        let mut said = Self {
            raw,
            words: Vec::new(),
            gaps: Vec::new(),
            has_case: raw.chars().any(char::is_lowercase),
        };
        let mut last = 0;
        for range in runs(raw) {
            if said.words.len() >= LONGEST {
                break;
            }
            if masked
                .iter()
                .any(|m| m.start < range.end && range.start < m.end)
            {
                continue;
            }
            let gap = if said.words.is_empty() {
                Gap::Stop
            } else {
                gap(&raw[last..range.start])
            };
            last = range.end;
            let word = word(&raw[range.clone()], range);
            if !word.text.is_empty() {
                said.words.push(word);
                said.gaps.push(gap);
            }
        }
        said
    }

    pub(super) fn len(&self) -> usize {
        self.words.len()
    }

    /// Returns the folded word at `n`, or an empty string.
    pub(super) fn at(&self, n: usize) -> &str {
        self.words.get(n).map_or("", |word| &word.text)
    }

    /// Returns the word that is `by` places before `n`.
    pub(super) fn before(&self, n: usize, by: usize) -> &str {
        n.checked_sub(by).map_or("", |n| self.at(n))
    }

    /// Returns the separator before word `n`; `Gap::Stop` past the last word.
    pub(super) fn gap(&self, n: usize) -> Gap {
        self.gaps.get(n).copied().unwrap_or(Gap::Stop)
    }

    pub(super) fn is(&self, n: usize, words: &[&str]) -> bool {
        self.words
            .get(n)
            .is_some_and(|word| words.contains(&word.text.as_str()))
    }

    /// If the phrase begins at word `n` and lies within one clause, returns the index of the word
    /// after the phrase.
    pub(super) fn phrase(&self, n: usize, phrase: &[&str]) -> Option<usize> {
        let fits = |(by, word): (usize, &&str)| {
            self.at(n + by) == *word && (by == 0 || self.gap(n + by) <= Gap::Space)
        };
        phrase
            .iter()
            .enumerate()
            .all(fits)
            .then_some(n + phrase.len())
            .filter(|_| !phrase.is_empty())
    }

    /// Returns the index of the word after a phrase that begins at word `n`. If several of the
    /// phrases begin there, the first in the list is taken.
    pub(super) fn one_of(&self, n: usize, phrases: &[&str]) -> Option<usize> {
        // Compares only the first words at first. Hundreds of phrases are tried, and nearly all
        // differ from the text in their first word.
        let begins = |phrase: &&&str| {
            phrase
                .strip_prefix(self.at(n))
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        };
        phrases
            .iter()
            .filter(begins)
            .find_map(|phrase| self.phrase(n, &phrase.split(' ').collect::<Vec<_>>()))
    }

    /// Returns whether one of the phrases occurs anywhere in the text.
    pub(super) fn has(&self, phrases: &[&str]) -> bool {
        (0..self.len()).any(|n| self.one_of(n, phrases).is_some())
    }

    pub(super) fn span(&self, from: usize, to: usize) -> Range<usize> {
        let start = self.words.get(from).map_or(0, |word| word.start);
        let end = to
            .checked_sub(1)
            .and_then(|n| self.words.get(n))
            .map_or(start, |word| word.end);
        start..end.max(start)
    }

    /// Returns the word as the guest spelled it.
    pub(super) fn spelled(&self, n: usize) -> &'t str {
        self.words
            .get(n)
            .map_or("", |word| &self.raw[word.start..word.end])
    }

    /// Returns the characters between word `n` and the one before it.
    pub(super) fn between(&self, n: usize) -> &'t str {
        let from = n
            .checked_sub(1)
            .and_then(|n| self.words.get(n))
            .map_or(0, |word| word.end);
        self.words
            .get(n)
            .map_or(&self.raw[from..], |word| &self.raw[from..word.start])
    }

    /// Returns the index of the first word of the clause that contains word `n`. Commas end
    /// clauses, too.
    pub(super) fn clause(&self, n: usize) -> usize {
        (1..=n.min(self.len()))
            .rev()
            .find(|n| self.gap(*n) >= Gap::Comma)
            .unwrap_or(0)
    }

    /// Returns whether one of the five words before word `n` is "not", "no" or a similar word.
    /// Looks only within the clause.
    pub(super) fn negated(&self, n: usize) -> bool {
        let from = self.clause(n).max(n.saturating_sub(5));
        (from..n).any(|n| self.is(n, NOT) && !(self.at(n) == "not" && self.at(n + 1) == "only"))
    }

    /// Returns whether the sentence that contains word `n` ends with a question mark.
    pub(super) fn is_question(&self, n: usize) -> bool {
        let from = self.words.get(n).map_or(self.raw.len(), |word| word.end);
        self.raw[from..]
            .chars()
            .find(|c| matches!(c, '?' | '!' | '\n') || *c == '.')
            .is_some_and(|c| c == '?')
    }
}

const NOT: &[&str] = &[
    "not", "no", "dont", "doesnt", "didnt", "isnt", "arent", "wasnt", "werent", "never", "without",
    "cant", "wont", "aint", "nor", "neither", "hate", "hates", "dislike", "sin", "nunca", "ni",
    "tampoco", "jamas", "odio", "nobody", "none", "neither", "stop", "quit",
];

fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '\u{2018}' | '\u{2019}' | '\u{b4}' | '`')
}

/// Returns the ranges of letters, with apostrophes inside, and the ranges of digits.
fn runs(raw: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let class = |c: char| match c {
        _ if c.is_numeric() => 2,
        _ if c.is_alphabetic() || is_combining_mark(c) => 1,
        _ => 0,
    };
    let mut chars = raw.char_indices().peekable();
    std::iter::from_fn(move || {
        let (start, first) = chars.find(|(_, c)| class(*c) != 0)?;
        let kind = class(first);
        let mut end = start + first.len_utf8();
        while let Some((at, c)) = chars.peek().copied() {
            let inside = kind == 1
                && is_apostrophe(c)
                && raw[at + c.len_utf8()..]
                    .chars()
                    .next()
                    .is_some_and(|next| class(next) == 1);
            if class(c) != kind && !inside {
                break;
            }
            end = at + c.len_utf8();
            chars.next();
        }
        Some(start..end)
    })
}

fn word(raw: &str, range: Range<usize>) -> Word {
    let mut base = raw;
    let mut possessive = false;
    if let Some((at, mark)) = raw.char_indices().rev().find(|(_, c)| is_apostrophe(*c))
        && raw[at + mark.len_utf8()..].eq_ignore_ascii_case("s")
    {
        // The "'s" of "it's" means "is"; in "Maria's" it is a possessive ending.
        let short = [
            "it", "that", "what", "he", "she", "name", "there", "here", "let", "who", "how",
            "where", "when", "todd",
        ];
        if !short.contains(&fold(&raw[..at]).as_str()) {
            (base, possessive) = (&raw[..at], true);
        }
    }
    let text = fold(base).chars().filter(|c| c.is_alphanumeric()).collect();
    Word {
        text,
        start: range.start,
        end: range.end,
        capital: raw.starts_with(char::is_uppercase),
        possessive,
    }
}

fn gap(between: &str) -> Gap {
    let stop = |c: char| {
        matches!(
            c,
            '.' | '!'
                | '?'
                | ';'
                | ':'
                | '('
                | ')'
                | '['
                | ']'
                | '\n'
                | '"'
                | '\u{2014}'
                | '\u{bf}'
                | '\u{a1}'
                | '@'
        )
    };
    match between {
        _ if between.contains(stop) => Gap::Stop,
        _ if between.contains(',') || between.contains(" - ") || between.contains('\u{2013}') => {
            Gap::Comma
        }
        _ if between.contains(char::is_whitespace) => Gap::Space,
        "" | "-" | "/" | "&" | "$" => Gap::Joined,
        // These signs join words without ending a clause.
        _ if between.chars().all(|c| {
            matches!(
                c,
                '-' | '/' | '\'' | '*' | '_' | '#' | '+' | '%' | '\u{2019}'
            )
        }) =>
        {
            Gap::Joined
        }
        _ => Gap::Stop,
    }
}
