//! Corrects texts as people type them on phones: "u", "tmrw", "restaraunt".

use std::collections::{BTreeMap, BTreeSet, HashSet};

use seven_text::{fold, stem, words};
use strsim::osa_distance;

/// Verbs of which guests often leave out the last g. "goin" is corrected to "going" even if the
/// pack does not contain "going".
const GOING: [&str; 14] = [
    "going",
    "thinking",
    "coming",
    "doing",
    "staying",
    "looking",
    "playing",
    "trying",
    "wondering",
    "bringing",
    "getting",
    "eating",
    "having",
    "feeling",
];
/// Minimum length of words that take part in corrections; shorter words resemble too many others.
const SHORTEST: usize = 5;

/// Writes shorthand out and corrects misspelt words to the words of the pack.
#[derive(Debug, Clone, Default)]
pub(crate) struct Speller {
    shorthand: BTreeMap<String, String>,
    /// The words of the pack that are long enough for corrections.
    long: BTreeSet<String>,
    /// The stems of all words of the pack, because a word with another ending is not a typing
    /// error.
    stems: HashSet<String>,
}

// === impl Speller ===

impl Speller {
    pub(crate) fn new(shorthand: BTreeMap<String, String>, pack: &str) -> Self {
        // Skips the comment lines of the pack, because they may quote a misspelling.
        let pack: String = pack
            .lines()
            .filter(|line| !line.starts_with('#'))
            .flat_map(|line| [line, "\n"])
            .collect();
        let pack = pack.as_str();
        let long = words(pack)
            .into_iter()
            .filter(|w| w.len() >= SHORTEST && w.chars().all(char::is_alphabetic));
        let stems = words(pack).iter().map(|w| stem(w)).collect();
        Self {
            shorthand,
            long: long.collect(),
            stems,
        }
    }

    /// Replaces shorthand, misspelt words and emoji in the text. Words of the content (`known`) and
    /// of the language stay as they are.
    pub(crate) fn mend(&self, text: &str, known: &Known<'_>) -> String {
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
            match self.shorthand.get(c.encode_utf8(&mut [0; 4]) as &str) {
                Some(picture) => mended.extend([" ", picture.as_str(), " "]),
                None => mended.push(c),
            }
        }
        mended.pop();
        mended
    }

    fn word(&self, word: &str, known: &Known<'_>) -> Option<String> {
        let folded = fold(word).replace('\'', "");
        if known.content.contains(&folded) {
            return None;
        }
        if let Some(whole) = self.shorthand.get(&folded) {
            return Some(whole.clone());
        }
        let ours = |word: &str| self.stems.contains(&stem(word)) || known.content.contains(word);
        let plural = folded.strip_suffix('z').map(|start| format!("{start}s"));
        if let Some(plural) = plural.filter(|plural| plural.len() > 3 && ours(plural)) {
            return Some(plural);
        }
        // Adds the g that people leave out: "Goin", "playin".
        let whole = folded
            .strip_suffix("in")
            .filter(|start| start.len() > 1)
            .map(|start| format!("{start}ing"));
        if let Some(whole) = whole.filter(|whole| ours(whole) || GOING.contains(&whole.as_str())) {
            return Some(whole);
        }
        let letters = folded.chars().all(|c| c.is_ascii_lowercase());
        if folded.len() < 4
            || !letters
            || self.stems.contains(&stem(&folded))
            || (known.is_word)(&folded)
        {
            return None;
        }
        let content = known
            .content
            .iter()
            .filter(|w| w.len() >= SHORTEST && !known.names.contains(*w));
        let targets: Vec<&String> = self.long.iter().chain(content).collect();
        let spoken = sound(&folded);
        if let Some(alike) = targets
            .iter()
            .filter(|target| sound(target) == spoken)
            .min()
        {
            return Some((*alike).clone());
        }
        // "Priya" sounds almost like "parrilla", but nobody writes three letters less.
        let sounds_near = |target: &str| {
            folded.len().abs_diff(target.len()) <= 2 && slips(&spoken, &sound(target))
        };
        let near = |target: &&&String| slips(&folded, target) || sounds_near(target);
        let best = targets
            .iter()
            .filter(near)
            .map(|target| (osa_distance(&folded, target), *target))
            .min()?;
        Some(best.1.clone())
    }
}

/// The words that are not corrected.
pub(crate) struct Known<'a> {
    pub(crate) content: &'a HashSet<String>,
    /// Words that occur only in names. No word is corrected to one of them.
    pub(crate) names: &'a HashSet<String>,
    /// Returns whether a word belongs to the language.
    pub(crate) is_word: &'a dyn Fn(&str) -> bool,
}

/// Returns whether `word` is a likely misspelling of `meant`. In a short word, one letter may be
/// omitted, doubled or swapped. A long word may have any two errors.
fn slips(word: &str, meant: &str) -> bool {
    let ends = |word: &str| word.chars().next().zip(word.chars().next_back());
    if word.len() < SHORTEST || ends(word) != ends(meant) || word.len().abs_diff(meant.len()) > 2 {
        return false;
    }
    let swapped = || {
        let sorted = |word: &str| {
            let mut letters: Vec<u8> = word.bytes().collect();
            letters.sort_unstable();
            letters
        };
        sorted(word) == sorted(meant)
    };
    match osa_distance(word, meant) {
        0 | 1 => word.len() > 6 || word.len() != meant.len() || swapped(),
        2 => word.len() >= 8 && meant.len() >= 9,
        _ => false,
    }
}

/// Returns how a Spanish word sounds. Leaves out h and doubled letters, and writes one letter for
/// each of the groups k/qu/c, s/z/c, b/v and y/ll.
fn sound(word: &str) -> String {
    let letters: Vec<char> = word.chars().collect();
    let mut sound = String::with_capacity(word.len());
    let mut at = 0;
    while at < letters.len() {
        let next = letters.get(at + 1).copied().unwrap_or(' ');
        let soft = next == 'e' || next == 'i';
        let (letter, taken) = match letters[at] {
            'c' if next == 'h' => ('x', 2),
            'q' if next == 'u' => ('k', 2),
            'l' if next == 'l' => ('y', 2),
            'h' => (' ', 1),
            'c' if soft => ('s', 1),
            'g' if soft => ('j', 1),
            'c' | 'q' => ('k', 1),
            'z' => ('s', 1),
            'v' => ('b', 1),
            other => (other, 1),
        };
        if letter != ' ' && !sound.ends_with(letter) {
            sound.push(letter);
        }
        at += taken;
    }
    sound
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_mended_by_their_sound() {
        let none = HashSet::new();
        let known = Known {
            content: &none,
            names: &none,
            is_word: &|_| false,
        };
        let speller = Speller::new(
            BTreeMap::new(),
            "cuanto cuesta habitaciones hasta buffet massage shows",
        );
        for (said, meant) in [
            ("kuanto kuesta", "cuanto cuesta"),
            ("avitasiones", "habitaciones"),
            ("bufet masage showz", "buffet massage shows"),
            ("shoes", "shoes"),
        ] {
            assert_eq!(speller.mend(said, &known), meant);
        }
    }

    #[test]
    fn slips_are_mended_and_the_casinos_own_words_are_not() {
        let shorthand = BTreeMap::from([
            ("u".to_owned(), "you".to_owned()),
            ("2nite".to_owned(), "tonight".to_owned()),
        ]);
        let speller = Speller::new(
            shorthand,
            "restaurant restaurants reservation tomorrow breakfast",
        );
        let content = HashSet::from(["brickfast".to_owned()]);
        let known = Known {
            content: &content,
            names: &content,
            is_word: &|_| false,
        };
        for (said, meant) in [
            (
                "any Restaraunts open 2nite?",
                "any restaurants open tonight?",
            ),
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
