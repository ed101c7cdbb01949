//! Finds the phrases that call for a person. Texts and phrases are compared as folded words.

use serde::Deserialize;

use super::Severity;
use crate::extract::words;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Keyword {
    pub(super) reason: String,
    pub(super) severity: Severity,
    /// Whether the host keeps answering while a person looks at the case.
    #[serde(default)]
    pub(super) aside: bool,
    say: Vec<Phrase>,
    #[serde(default)]
    unless: Vec<Phrase>,
}

/// A list of phrases without a severity.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Phrases {
    say: Vec<Phrase>,
}

/// Consecutive folded words. Up to two other words may come before a word that is written as
/// `*word`.
#[derive(Debug, Deserialize)]
#[serde(from = "String")]
struct Phrase(Vec<String>);

impl From<String> for Phrase {
    fn from(phrase: String) -> Self {
        Self(phrase.split(' ').map(str::to_owned).collect())
    }
}

/// Returns whether a guest who asked for a person withdraws that request, as in "never mind, what
/// restaurants do you have?"
pub fn is_withdrawn(text: &str) -> bool {
    let said = words(text);
    super::TABLE
        .withdraw
        .say
        .iter()
        .any(|phrase| says(&said, phrase))
        && hits(&super::TABLE.keyword, text).next().is_none()
}

/// Returns the rows of the table that match: the text contains one of the row's `say` phrases and
/// none of its `unless` phrases.
pub(super) fn hits<'k>(table: &'k [Keyword], text: &str) -> impl Iterator<Item = &'k Keyword> {
    let said = words(text);
    table.iter().filter(move |row| {
        let any = |phrases: &[Phrase]| phrases.iter().any(|phrase| says(&said, phrase));
        any(&row.say) && !any(&row.unless)
    })
}

fn says(said: &[String], phrase: &Phrase) -> bool {
    (0..said.len()).any(|at| begins(&said[at..], &phrase.0))
}

fn begins(said: &[String], phrase: &[String]) -> bool {
    let Some((next, rest)) = phrase.split_first() else {
        return true;
    };
    let (skips, next) = next
        .strip_prefix('*')
        .map_or((0, next.as_str()), |word| (2, word));
    (0..=skips).any(|skip| {
        said.get(skip).is_some_and(|word| word == next) && begins(&said[skip + 1..], rest)
    })
}
