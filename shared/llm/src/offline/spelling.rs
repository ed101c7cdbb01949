//! How thumbs write: "u", "tmrw", "restaraunt".

use std::collections::{BTreeMap, BTreeSet, HashSet};

use seven_knowledge::text::{fold, stem, words};

/// Shorter words have too many neighbours ("shoes" is no slip of "shows").
const SHORTEST: usize = 8;

/// Writes a guest's words out in full, as the pack spells them.
#[derive(Debug, Clone, Default)]
pub(super) struct Speller {
    shorthand: BTreeMap<String, String>,
    /// Long words of the pack.
    long: BTreeSet<String>,
    /// Stems of all its words: another ending is no slip.
    stems: HashSet<String>,
}

// === impl Speller ===

impl Speller {
    pub(super) fn new(shorthand: BTreeMap<String, String>, pack: &str) -> Self {
        // What a comment says may be a slip it explains.
        let pack: String = pack.lines().filter(|line| !line.starts_with('#')).flat_map(|line| [line, "\n"]).collect();
        let pack = pack.as_str();
        let long = words(pack).into_iter().filter(|w| w.len() >= SHORTEST && w.chars().all(char::is_alphabetic));
        let stems = words(pack).iter().map(|w| stem(w)).collect();
        Self { shorthand, long: long.collect(), stems }
    }

    /// The text with each word replaced that is shorthand or a slip; words of the content (`known`) stay as they are.
    pub(super) fn mend(&self, text: &str, known: &HashSet<String>) -> String {
        let mut mended = String::with_capacity(text.len());
        let mut word = String::new();
        for c in text.chars().chain([' ']) {
            if c.is_alphanumeric() || c == '\'' {
                word.push(c);
                continue;
            }
            if !word.is_empty() {
                mended.push_str(&self.word(&word, known).unwrap_or_else(|| word.clone()));
                word.clear();
            }
            mended.push(c);
        }
        mended.pop();
        mended
    }

    fn word(&self, word: &str, known: &HashSet<String>) -> Option<String> {
        let folded = fold(word).replace('\'', "");
        if known.contains(&folded) {
            return None;
        }
        if let Some(whole) = self.shorthand.get(&folded) {
            return Some(whole.clone());
        }
        let slip = folded.len() >= SHORTEST - 1 && folded.is_ascii() && !self.stems.contains(&stem(&folded));
        if !slip {
            return None;
        }
        let ends = |word: &str| word.chars().next().zip(word.chars().next_back());
        let near = |long: &&String| ends(long) == ends(&folded) && long.len().abs_diff(folded.len()) <= 1;
        let edits = |long: &String| (edits(&folded, long), long.clone());
        let (count, best) = self.long.iter().filter(near).map(edits).min()?;
        (count <= if best.len() < 10 { 1 } else { 2 }).then_some(best)
    }
}

/// Letters to insert, drop, replace or swap with a neighbour.
fn edits(a: &str, b: &str) -> usize {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut rows = vec![vec![0usize; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            if i == 0 || j == 0 {
                rows[i][j] = i + j;
                continue;
            }
            let replace = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replace.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = best;
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_mended_and_the_casinos_own_words_are_not() {
        let shorthand =
            BTreeMap::from([("u".to_owned(), "you".to_owned()), ("2nite".to_owned(), "tonight".to_owned())]);
        let speller = Speller::new(shorthand, "restaurant restaurants reservation tomorrow breakfast");
        let known = HashSet::from(["brickfast".to_owned()]);
        for (said, meant) in [
            ("any Restaraunts open 2nite?", "any restaurants open tonight?"),
            ("u need a resevation", "you need a reservation"),
            ("brickfast at Brekfast", "brickfast at breakfast"),
            ("¿Restaurante?", "¿Restaurante?"),
            ("shoes, tomorow 3pm!", "shoes, tomorrow 3pm!"),
            ("\u{1f355}", "\u{1f355}"),
        ] {
            assert_eq!(speller.mend(said, &known), meant);
        }
    }
}
