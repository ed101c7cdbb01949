//! Finds the pack's phrases in a guest's text.

use seven_text::{stem, words};

/// A guest's text as words, folded to lower case without accents, with their stems.
#[derive(Debug, Clone)]
pub(crate) struct Tokens {
    pub(crate) words: Vec<String>,
    /// The words as the guest wrote them.
    written: Vec<String>,
    stems: Vec<String>,
}

impl Tokens {
    pub(crate) fn new(text: &str) -> Self {
        let words = words(text);
        let stems = words.iter().map(|w| stem(w)).collect();
        let as_written = |c: char| !c.is_alphanumeric() && !['\'', '\u{2019}', '&'].contains(&c);
        let written: Vec<String> = text
            .split(as_written)
            .filter(|w| !w.is_empty())
            .map(str::to_owned)
            .collect();
        let written = if written.len() == words.len() {
            written
        } else {
            words.clone()
        };
        Self {
            words,
            written,
            stems,
        }
    }

    /// Returns words `from..to` as the guest wrote them.
    pub(crate) fn span(&self, from: usize, to: usize) -> String {
        self.written[from..to].join(" ")
    }
}

#[derive(Debug, Clone)]
struct Phrase(Vec<Pattern>);

#[derive(Debug, Clone)]
enum Pattern {
    Stem(String),
    /// Any word that begins with these letters; written "reserv*".
    Prefix(String),
}

/// A group of phrases with one meaning.
#[derive(Debug, Clone, Default)]
pub(crate) struct Phrases(Vec<Phrase>);

impl Phrases {
    pub(crate) fn new<'a>(texts: impl IntoIterator<Item = &'a String>) -> Self {
        let pattern = |word: &str| match word.strip_suffix('*') {
            Some(start) => words(start)
                .into_iter()
                .next()
                .map(Pattern::Prefix)
                .into_iter()
                .collect(),
            None => words(word)
                .iter()
                .map(|w| Pattern::Stem(stem(w)))
                .collect::<Vec<_>>(),
        };
        let phrase = |text: &String| Phrase(text.split_whitespace().flat_map(pattern).collect());
        Self(
            texts
                .into_iter()
                .map(phrase)
                .filter(|p| !p.0.is_empty())
                .collect(),
        )
    }

    /// Returns the range of words of every phrase found in the text.
    pub(crate) fn places(&self, said: &Tokens) -> Vec<(usize, usize)> {
        let mut places = Vec::new();
        for Phrase(patterns) in &self.0 {
            let length = patterns.len();
            for at in 0..(said.words.len() + 1).saturating_sub(length) {
                let fits = patterns
                    .iter()
                    .enumerate()
                    .all(|(n, pattern)| match pattern {
                        Pattern::Stem(stem) => said.stems[at + n] == *stem,
                        Pattern::Prefix(start) => said.words[at + n].starts_with(start.as_str()),
                    });
                if fits {
                    places.push((at, at + length));
                }
            }
        }
        places
    }

    pub(crate) fn found(&self, said: &Tokens) -> bool {
        !self.places(said).is_empty()
    }
}
