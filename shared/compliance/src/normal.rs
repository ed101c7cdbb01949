//! Folds the many ways of typing a text into one spelling: case, accents, look-alike letters,
//! invisible characters, punctuation, emoji. Each text is folded once, before all other checks.

mod glyphs;

use std::ops::Range;

use unicode_normalization::char::{decompose_compatible, is_combining_mark};

/// A folded text: words in lower case without accents and apostrophes ("don’t" is `dont`). Every
/// character that is neither letter nor digit separates words.
#[derive(Debug, Default)]
pub(crate) struct Folded {
    /// The words, with one space before, between and after them.
    line: String,
    tokens: Vec<Token>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token {
    start: u32,
    end: u32,
    pub(crate) gap: Gap,
    /// The character that ends the sentence after this word, if there is one.
    pub(crate) stop: Option<char>,
    pub(crate) digits: bool,
}

/// The characters between a word and the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Gap {
    first: Option<char>,
    /// Whether all these characters are equal.
    uniform: bool,
    count: u8,
    /// Whether the gap has a colon, bracket or similar character, which makes the words before it a
    /// label.
    pub(crate) label: bool,
}

/// Returns whether the character is Chinese. In folded texts, each Chinese character is a separate
/// word.
pub(crate) fn is_han(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}')
}

/// Returns the text without the characters that folding ignores: combining marks, invisible
/// characters, apostrophes other than `'`.
pub(crate) fn without_marks(text: &str) -> String {
    let ignored = |c: char| {
        !c.is_ascii()
            && (is_combining_mark(c)
                || matches!(glyphs::special(c), Some(glyphs::Special::Nothing)))
    };
    text.chars().filter(|c| !ignored(*c)).collect()
}

// === impl Gap ===

impl Gap {
    fn push(&mut self, c: char) {
        self.uniform = self.count == 0 || self.uniform && self.first == Some(c);
        self.first = self.first.or(Some(c));
        self.count = self.count.saturating_add(1);
        self.label |= matches!(c, ':' | ']' | '}' | '>' | '#' | '|');
    }

    /// Returns the gap's character if the gap has exactly one.
    pub(crate) fn single(self) -> Option<char> {
        self.first.filter(|_| self.count == 1)
    }

    /// Returns the gap's character and its count if all characters of the gap are the same.
    pub(crate) fn repeated(self) -> Option<(char, u8)> {
        self.first
            .filter(|_| self.uniform)
            .map(|sign| (sign, self.count))
    }
}

// === impl Folded ===

impl Folded {
    #[cfg(test)]
    pub(crate) fn new(text: &str) -> Self {
        let mut folded = Self::default();
        folded.read(text);
        folded
    }

    /// Folds a text in place of the previous one and reuses its memory.
    pub(crate) fn read(&mut self, text: &str) {
        self.clear();
        let mut gap = Gap::default();
        let mut open = false;
        let mut rest = text.chars();
        while let Some(c) = rest.next() {
            if c.is_ascii() {
                self.put(c, &mut gap, &mut open);
                continue;
            }
            if let Some(word) = enclosed_word(c, &mut rest) {
                for c in [' '].into_iter().chain(word.chars()).chain([' ']) {
                    self.put(c, &mut gap, &mut open);
                }
                continue;
            }
            match glyphs::special(c) {
                Some(glyphs::Special::Nothing) => {}
                Some(glyphs::Special::Separator) => self.put(' ', &mut gap, &mut open),
                Some(glyphs::Special::Letter(letter)) => self.put(letter, &mut gap, &mut open),
                Some(glyphs::Special::Word(word)) => {
                    for c in [' '].into_iter().chain(word.chars()).chain([' ']) {
                        self.put(c, &mut gap, &mut open);
                    }
                }
                None => decompose_compatible(c, |part| {
                    if !is_combining_mark(part) {
                        glyphs::latin(part, |letter| self.put(letter, &mut gap, &mut open));
                    }
                }),
            }
        }
        self.close();
    }

    pub(crate) fn clear(&mut self) {
        self.line.clear();
        self.line.push(' ');
        self.tokens.clear();
    }

    /// Adds a word that was joined from several tokens. The word takes its gap from the first token
    /// and its sentence end from the last.
    pub(crate) fn push(&mut self, word: &str, first: Token, last: Token) {
        let start = self.line.len();
        self.line.push_str(word);
        self.tokens.push(Token {
            start: offset(start),
            end: offset(self.line.len()),
            stop: last.stop,
            ..first
        });
        self.line.push(' ');
    }

    fn put(&mut self, c: char, gap: &mut Gap, open: &mut bool) {
        if c == '\'' || c == '`' {
            return;
        }
        // Chinese has no blanks between words, so each character is a separate word.
        let is_han = is_han(c);
        if is_han && *open {
            self.close();
            *open = false;
        }
        if c.is_alphanumeric() {
            if !*open {
                let at = offset(self.line.len());
                self.tokens.push(Token {
                    start: at,
                    end: at,
                    gap: *gap,
                    stop: None,
                    digits: true,
                });
                (*gap, *open) = (Gap::default(), true);
            }
            if !c.is_ascii_digit() {
                let unit = self
                    .tokens
                    .last_mut()
                    .map(|token| std::mem::replace(&mut token.digits, false));
                debug_assert!(unit.is_some());
            }
            self.line.push(c.to_ascii_lowercase());
            if is_han {
                self.close();
                *open = false;
            }
            return;
        }
        if *open {
            self.close();
            *open = false;
        }
        gap.push(c);
        if matches!(c, '.' | '!' | '?' | ';' | '\n')
            && let Some(token) = self.tokens.last_mut()
        {
            token.stop = token.stop.or(Some(c));
        }
    }

    /// Ends the current word. A number and the unit written directly after it ("18yo", "10k",
    /// "7pm") become two words.
    fn close(&mut self) {
        let end = self.line.len();
        if let Some(&last) = self.tokens.last()
            && last.end == last.start
        {
            let word = &self.line[last.start as usize..];
            let digits = word.bytes().take_while(u8::is_ascii_digit).count();
            let split = digits > 0 && UNITS.contains(&&word[digits..]);
            if split {
                let middle = last.start as usize + digits;
                self.line.insert(middle, ' ');
                let token = self.tokens.last_mut().expect("there is a last token");
                (token.end, token.digits) = (offset(middle), true);
                let unit = Token {
                    start: offset(middle + 1),
                    end: offset(end + 1),
                    gap: Gap::default(),
                    ..last
                };
                self.tokens.push(Token {
                    digits: false,
                    ..unit
                });
            } else {
                self.tokens.last_mut().expect("there is a last token").end = offset(end);
            }
        }
        if !self.line.ends_with(' ') {
            self.line.push(' ');
        }
    }

    /// Returns whether at least one word is a Chinese character.
    pub(crate) fn has_han(&self) -> bool {
        !self.line.is_ascii() && self.line.chars().any(is_han)
    }

    pub(crate) fn len(&self) -> usize {
        self.tokens.len()
    }

    pub(crate) fn line(&self) -> &str {
        &self.line
    }

    pub(crate) fn tokens(&self) -> &[Token] {
        &self.tokens
    }

    pub(crate) fn word(&self, at: usize) -> &str {
        let token = self.tokens[at];
        &self.line[token.start as usize..token.end as usize]
    }

    /// Returns each clause as a line. A clause ends at the end of a sentence, at a comma, or before
    /// a conjunction such as "and". Returns nothing for a text with a single clause.
    pub(crate) fn clauses(&self) -> Vec<String> {
        const CONJUNCTIONS: &[&str] = &[
            "and", "but", "so", "because", "cause", "cuz", "y", "pero", "porque", "aunque",
        ];
        let mut clauses = vec![String::from(" ")];
        for (at, token) in self.tokens.iter().enumerate() {
            let word = self.word(at);
            let joins = CONJUNCTIONS.contains(&word);
            let behind_sign =
                token.gap.first == Some(',') || at > 0 && self.tokens[at - 1].stop.is_some();
            if joins || behind_sign {
                clauses.push(String::from(" "));
            }
            if !joins && let Some(clause) = clauses.last_mut() {
                clause.push_str(word);
                clause.push(' ');
            }
        }
        clauses.retain(|clause| clause.len() > 1);
        if clauses.len() > 1 {
            clauses
        } else {
            Vec::new()
        }
    }

    /// Returns the range of words of each sentence, with the character that ends it.
    pub(crate) fn sentences(
        &self,
    ) -> impl DoubleEndedIterator<Item = (Range<usize>, Option<char>)> {
        let ends = self
            .tokens
            .iter()
            .enumerate()
            .filter(|(at, t)| t.stop.is_some() || at + 1 == self.tokens.len());
        let ends: Vec<(usize, Option<char>)> =
            ends.map(|(at, token)| (at + 1, token.stop)).collect();
        (0..ends.len()).map(move |k| (if k == 0 { 0 } else { ends[k - 1].0 }..ends[k].0, ends[k].1))
    }
}

impl Token {
    /// Returns the word's start in the line, in bytes.
    pub(crate) fn start(self) -> usize {
        self.start as usize
    }

    pub(crate) fn len(self) -> usize {
        (self.end - self.start) as usize
    }
}

/// Returns the word spelled by three or more letters in a row in circles, squares or flags. Removes
/// these letters from `rest`.
fn enclosed_word(first: char, rest: &mut std::str::Chars<'_>) -> Option<String> {
    let mut word = String::from(glyphs::enclosed(first)?);
    let mut ahead = rest.clone();
    let mut end = rest.clone();
    while let Some(c) = ahead.next() {
        match glyphs::enclosed(c) {
            Some(letter) => {
                word.push(letter);
                end = ahead.clone();
            }
            None if c == ' '
                || matches!(glyphs::special(c), Some(glyphs::Special::Nothing))
                || c == '\u{fe0f}' => {}
            None => break,
        }
    }
    (word.len() >= 3).then(|| {
        *rest = end;
        word
    })
}

/// Returns whether the character is invisible. Examples are joiners, direction marks, fillers and
/// the placeholder of a picture.
pub fn is_invisible(c: char) -> bool {
    matches!(glyphs::special(c), Some(glyphs::Special::Nothing))
        && !matches!(c, '´' | '‘' | '’' | '‛' | 'ʼ' | 'ʹ' | '′' | '＇')
        || matches!(
            c,
            '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
                | '\u{2028}' | '\u{2029}' | '\u{206a}'..='\u{206f}' | '\u{2800}' | '\u{3164}'
                | '\u{fe00}'..='\u{fe0f}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffc}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

/// Units that people write directly after a number.
const UNITS: &[&str] = &[
    "k", "yo", "yr", "yrs", "year", "years", "y", "yearold", "yrold", "ano", "anos", "mil", "am",
    "pm", "m", "hrs", "hr", "min", "mins", "usd", "dls", "bucks", "grand", "st", "th", "pesos",
    "dolares", "months", "meses",
];

fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_spellings() {
        for (text, expected) in [
            ("  STOP.  ", "stop"),
            ("No   MÁS!", "no mas"),
            ("no ma\u{301}s", "no mas"),
            ("ＳＴＯＰ", "stop"),
            ("𝐒𝐓𝐎𝐏", "stop"),
            ("st\u{200b}op", "stop"),
            ("opt-out", "opt out"),
            ("don’t / don't / don´t", "dont dont dont"),
            ("🙏 help 🙏🏽 ℹ️", "help"),
            ("STOP™ 🅰", "stop"),
            ("🅂🅃🄾🄿", "stop"),
            ("🆂 🆃 🅾 🅿 now", "stop now"),
            ("ⓢⓣⓞⓟ", "stop"),
            ("🇸🇹🇴🇵", "stop"),
            ("ꜱᴛᴏᴘ", "stop"),
            ("🛑", "stop"),
            ("are u a 🤖?", "are u a robot"),
            ("7:30 pm", "7 30 pm"),
            ("7pm 18yo k1ll 4ever 2nd", "7 pm 18 yo k1ll 4ever 2nd"),
            // Cyrillic and Greek letters that look Latin
            ("ѕuісіdе", "suicide"),
            ("ѕtор", "stop"),
            ("ΚΙLL", "kill"),
            ("кill ΜΥSELF", "kill myself"),
            ("niño Ł", "nino l"),
            ("?!…", ""),
            ("", ""),
        ] {
            let folded = Folded::new(text);
            assert_eq!(folded.line().trim(), expected, "{text:?}");
            let words: Vec<&str> = (0..folded.len()).map(|at| folded.word(at)).collect();
            assert_eq!(words.join(" "), expected, "{text:?}");
        }
    }

    #[test]
    fn clauses_are_what_signs_and_conjunctions_part() {
        let clauses =
            Folded::new("took a bunch of pills, what time does it close? and then").clauses();
        assert_eq!(
            clauses,
            [
                " took a bunch of pills ",
                " what time does it close ",
                " then "
            ]
        );
        assert!(Folded::new("is the pool open").clauses().is_empty());
    }

    #[test]
    fn remembers_what_stood_between() {
        let folded = Folded::new("078-05-1120 f**k System: who? me\nnow");
        let gaps: Vec<_> = folded
            .tokens()
            .iter()
            .map(|t| (t.gap.single(), t.gap.repeated().map(|r| r.1)))
            .collect();
        assert_eq!(gaps[1], (Some('-'), Some(1)));
        assert_eq!(folded.tokens()[4].gap.repeated(), Some(('*', 2)));
        assert!(folded.tokens()[6].gap.label, "who, after the label");
        assert!(folded.tokens()[0].digits && !folded.tokens()[3].digits);
        let sentences: Vec<_> = folded.sentences().collect();
        assert_eq!(
            sentences,
            [(0..7, Some('?')), (7..8, Some('\n')), (8..9, None)]
        );
        assert_eq!(Folded::new("").sentences().count(), 0);
    }
}
