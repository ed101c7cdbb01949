//! Gives each word of the patterns a number, called its symbol. One pass of an automaton finds
//! these words in a text. Words that it misses are checked again for disguises ("stoooop", "k1ll",
//! "s t o p") and typos.

use std::collections::{HashMap, HashSet};

use aho_corasick::AhoCorasick;

use super::{
    parse::{Number, Term},
    reading::{Reading, Symbol},
    typo::{FnvBuild, Typos},
};
use crate::normal::{Folded, Token};

/// The words of the base (keywords and opt-outs) and of a pack. A pack does not change which base
/// words are found: ingress, which has no pack, must find a STOP as the gate does.
#[derive(Debug, Default, Clone)]
pub(crate) struct Lexicon {
    words: HashMap<Box<str>, Symbol, FnvBuild>,
    /// Beginnings of words, each of which matches every word that starts with it.
    stems: HashMap<Box<str>, Symbol, FnvBuild>,
    numbers: Vec<(Number, Symbol)>,
    base: Option<Symbol>,
    typos: Typos<Symbol>,
    /// Real words that are not typos of a base word, although they differ by one letter.
    real: HashSet<String, FnvBuild>,
    real_to_pack: HashSet<String, FnvBuild>,
    /// For a pack word, the base word that the base alone would read in its place.
    also: HashMap<Symbol, Symbol, FnvBuild>,
    automaton: Option<AhoCorasick>,
    /// For each pattern of the automaton, its symbol. The flag is true for a whole word, false for
    /// a stem.
    found: Vec<(Symbol, bool)>,
}

/// The maximum number of letters of a word that is assembled from single letters.
const SPELLED: usize = 20;

impl Lexicon {
    pub(crate) fn intern(&mut self, term: Term<'_>) -> Symbol {
        let next = self.len();
        match term {
            Term::Word(word) => number_of(&mut self.words, word, next),
            Term::Prefix(stem) => number_of(&mut self.stems, stem, next),
            Term::Number(number) => match self.numbers.iter().find(|(known, _)| *known == number) {
                Some(&(_, symbol)) => symbol,
                None => {
                    self.numbers.push((number, next));
                    next
                }
            },
        }
    }

    pub(crate) fn len(&self) -> u32 {
        u32::try_from(self.words.len() + self.stems.len() + self.numbers.len()).unwrap_or(u32::MAX)
    }

    /// Ends the base: every word added later belongs to the pack.
    pub(super) fn end_base(&mut self) {
        self.base = Some(self.len());
    }

    /// Adds words that are recognised even with a typo, and `real` words that are never corrected.
    pub(super) fn forgive<'a>(
        &mut self,
        words: impl Iterator<Item = &'a str>,
        real: impl Iterator<Item = &'a str>,
    ) {
        for word in words {
            let symbol = self.intern(Term::Word(word));
            self.typos.insert(word, symbol);
        }
        let guard = if self.base.is_none() {
            &mut self.real
        } else {
            &mut self.real_to_pack
        };
        guard.extend(real.map(str::to_owned));
    }

    pub(super) fn finish(&mut self) -> Result<(), aho_corasick::BuildError> {
        let words = self
            .words
            .iter()
            .map(|(word, symbol)| (format!(" {word} "), *symbol, true));
        let stems = self
            .stems
            .iter()
            .map(|(stem, symbol)| (format!(" {stem}"), *symbol, false));
        let mut patterns: Vec<_> = words.chain(stems).collect();
        patterns.sort();
        self.automaton = Some(
            AhoCorasick::builder()
                .kind(Some(aho_corasick::AhoCorasickKind::ContiguousNFA))
                .build(patterns.iter().map(|(pattern, ..)| pattern))?,
        );
        self.found = patterns
            .into_iter()
            .map(|(_, symbol, whole)| (symbol, whole))
            .collect();
        let pack_words = self
            .words
            .iter()
            .filter(|(_, symbol)| !self.is_base(**symbol));
        self.also = pack_words
            .filter_map(|(word, &symbol)| Some((symbol, self.meant(word).1?)))
            .collect();
        Ok(())
    }

    fn is_base(&self, symbol: Symbol) -> bool {
        self.base.is_none_or(|base| symbol < base)
    }

    /// Folds a text and finds the symbol of each word that the lexicon knows.
    pub(crate) fn read(&self, text: &str, reading: &mut Reading) {
        reading.clear();
        reading.folded.read(text);
        if let Some((joined, foreign)) = self.join(&reading.folded) {
            reading.folded = joined;
            reading.foreign_joins = foreign;
        }
        let folded = &reading.folded;
        reading.base.resize(folded.len(), None);
        reading.whole.resize(folded.len(), None);
        let mut at = 0;
        for hit in self
            .automaton
            .iter()
            .flat_map(|automaton| automaton.find_overlapping_iter(folded.line()))
        {
            while folded.tokens()[at].start() <= hit.start() {
                at += 1;
            }
            let (symbol, whole) = self.found[hit.pattern().as_usize()];
            reading.seen.push((offset(at), symbol));
            if whole {
                reading.whole[at] = Some(symbol);
            }
        }
        let (known, folded_len) = (reading.seen.len(), folded.len());
        for at in 0..folded_len {
            self.look_again(at, reading);
        }
        if reading.seen.len() > known && folded_len > super::reading::WINDOW {
            reading.seen.sort_unstable();
        }
    }

    /// Adds the symbols that the automaton misses for the word at `at`: numbers, respellings and
    /// typos.
    fn look_again(&self, at: usize, reading: &mut Reading) {
        let word = reading.folded.word(at);
        let token = offset(at);
        if word.bytes().any(|b| b.is_ascii_digit()) {
            for &(number, symbol) in &self.numbers {
                if number.fits(word) {
                    reading.seen.push((token, symbol));
                }
            }
        }
        let (any, base) = match reading.whole[at] {
            Some(symbol) if self.is_base(symbol) => return reading.base[at] = Some(symbol),
            Some(symbol) => (None, self.also.get(&symbol).copied()),
            None => self.meant(word),
        };
        reading.base[at] = base;
        reading.seen.extend(base.map(|symbol| (token, symbol)));
        reading
            .seen
            .extend(any.filter(|_| any != base).map(|symbol| (token, symbol)));
    }

    /// Returns the symbols of the known words that an unknown word probably means. The first symbol
    /// is from the whole lexicon, the second from the base alone.
    fn meant(&self, word: &str) -> (Option<Symbol>, Option<Symbol>) {
        let mut found = (None, None);
        let note = |symbol: Symbol, found: &mut (Option<Symbol>, Option<Symbol>)| {
            found.0 = found.0.or(Some(symbol));
            found.1 = found.1.or(Some(symbol).filter(|_| self.is_base(symbol)));
        };
        if word.len() < 3 || word.len() > 4 * SPELLED || !word.is_ascii() {
            return found;
        }
        for spelling in respelled(word) {
            if let Some(&symbol) = self.words.get(spelling.as_str()) {
                note(symbol, &mut found);
            }
            for symbol in self.near(&spelling) {
                note(symbol, &mut found);
            }
        }
        for symbol in self.near(word) {
            note(symbol, &mut found);
        }
        found
    }

    fn near(&self, word: &str) -> impl Iterator<Item = Symbol> {
        let real = self.real.contains(word);
        let guarded = move |symbol: &Symbol| {
            real || !self.is_base(*symbol) && self.real_to_pack.contains(word)
        };
        self.typos.near(word).filter(move |symbol| !guarded(symbol))
    }

    /// Joins the split words of a text; `None` if the text has none. The flag says whether a joined
    /// word is known only to the pack.
    fn join(&self, folded: &Folded) -> Option<(Folded, bool)> {
        let tokens = folded.tokens();
        let single = |token: &Token| token.len() == 1;
        let spelled = tokens.windows(3).any(|three| three.iter().all(single));
        if !spelled && !tokens.iter().any(|token| sign(token).is_some()) {
            return None;
        }
        let mut out = Folded::default();
        out.clear();
        let (mut at, mut foreign) = (0, false);
        while at < tokens.len() {
            let letters = tokens[at..]
                .iter()
                .take(SPELLED)
                .take_while(|token| single(token))
                .count();
            let glued = 1 + tokens[at + 1..]
                .iter()
                .take(4)
                .take_while(|token| sign(token).is_some())
                .count();
            let (word, length) = self
                .spelled(folded, at, letters)
                .or_else(|| self.masked(folded, at, glued))
                .unwrap_or_else(|| (folded.word(at).to_owned(), 1));
            foreign |= length > 1
                && self
                    .words
                    .get(word.as_str())
                    .is_some_and(|symbol| !self.is_base(*symbol));
            out.push(&word, tokens[at], tokens[at + length - 1]);
            at += length;
        }
        Some((out, foreign))
    }

    fn spelled(&self, folded: &Folded, at: usize, letters: usize) -> Option<(String, usize)> {
        (3..=letters).rev().find_map(|length| {
            let word: String = (at..at + length).map(|k| folded.word(k)).collect();
            self.words
                .contains_key(word.as_str())
                .then_some((word, length))
        })
    }

    fn masked(&self, folded: &Folded, at: usize, length: usize) -> Option<(String, usize)> {
        (2..=length).rev().find_map(|length| {
            let guess = |vowel: &str| {
                let mut word = folded.word(at).to_owned();
                for k in at + 1..at + length {
                    let (sign, count) = sign(&folded.tokens()[k])?;
                    let letter = match sign {
                        '@' => "a",
                        '$' => "s",
                        '!' | '|' => "i",
                        _ => vowel,
                    };
                    word.push_str(&letter.repeat(count.into()));
                    word.push_str(folded.word(k));
                }
                self.words
                    .contains_key(word.as_str())
                    .then_some((word, length))
            };
            ["u", "i", "a", "e", "o", ""].into_iter().find_map(guess)
        })
    }
}

/// Returns the word's symbol; a new word gets the symbol `next`.
fn number_of(list: &mut HashMap<Box<str>, Symbol, FnvBuild>, text: &str, next: Symbol) -> Symbol {
    list.get(text).copied().unwrap_or_else(|| {
        list.insert(text.into(), next);
        next
    })
}

/// Returns the sign before this word that replaces a letter, and how often it is repeated.
fn sign(token: &Token) -> Option<(char, u8)> {
    token
        .gap
        .repeated()
        .filter(|&(sign, count)| count <= 3 && matches!(sign, '@' | '$' | '!' | '|' | '*'))
}

/// Returns the spellings a word may have had before letters were replaced by digits or drawn out.
fn respelled(word: &str) -> impl Iterator<Item = String> {
    let mixed =
        word.bytes().any(|b| b.is_ascii_digit()) && word.bytes().any(|b| b.is_ascii_alphabetic());
    let drawn_out = word
        .as_bytes()
        .windows(3)
        .any(|w| w[0] == w[1] && w[1] == w[2]);
    let spellings = match (mixed, drawn_out) {
        (false, false) => Vec::new(),
        (true, false) => vec![with_letters(word, 'i'), with_letters(word, 'l')],
        (false, true) => vec![calmed(word, 1), calmed(word, 2)],
        (true, true) => {
            let letters = ['i', 'l'].map(|one| with_letters(word, one));
            letters
                .iter()
                .flat_map(|word| [calmed(word, 1), calmed(word, 2)])
                .collect()
        }
    };
    spellings.into_iter()
}

fn calmed(word: &str, keep: usize) -> String {
    let runs = word.as_bytes().chunk_by(|a, b| a == b);
    let kept = runs.flat_map(|run| {
        let length = if run.len() >= 3 { keep } else { run.len() };
        run[..length].iter().map(|b| char::from(*b))
    });
    kept.collect()
}

fn with_letters(word: &str, one: char) -> String {
    let letter = |c: char| match c {
        '0' => 'o',
        '1' => one,
        '3' => 'e',
        '4' => 'a',
        '5' => 's',
        '7' => 't',
        '8' => 'b',
        other => other,
    };
    word.chars().map(letter).collect()
}

fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
