//! Phrases written as data: `we|ill give ?you` matches "we give you", "ill give" and so on.

use std::collections::HashMap;

use super::words::{Gap, Word};

#[derive(Debug)]
pub(super) struct Phrases {
    phrases: Vec<Vec<Element>>,
    /// For each word, the indexes of the phrases that may begin with it.
    by_first: HashMap<&'static str, Vec<usize>>,
}

#[derive(Debug)]
struct Element {
    words: Vec<&'static str>,
    optional: bool,
}

// === impl Phrases ===

impl Phrases {
    pub(super) fn new(phrases: &[&'static str]) -> Self {
        let element = |text: &'static str| Element {
            words: text.trim_start_matches('?').split('|').collect(),
            optional: text.starts_with('?'),
        };
        let phrases: Vec<Vec<Element>> = phrases
            .iter()
            .map(|p| p.split(' ').map(element).collect())
            .collect();
        let mut by_first: HashMap<&str, Vec<usize>> = HashMap::new();
        for (index, phrase) in phrases.iter().enumerate() {
            let needed = phrase
                .iter()
                .position(|e| !e.optional)
                .unwrap_or(phrase.len() - 1);
            for &word in phrase[..=needed].iter().flat_map(|e| &e.words) {
                by_first.entry(word).or_default().push(index);
            }
        }
        Self { phrases, by_first }
    }

    /// Returns the end of the longest phrase that begins at this word. A phrase does not continue
    /// across a comma.
    pub(super) fn at(&self, words: &[Word], at: usize) -> Option<usize> {
        let candidates = self.by_first.get(words.get(at)?.text.as_str())?;
        candidates
            .iter()
            .filter_map(|&index| end(&self.phrases[index], &words[at..], 0))
            .max()
            .map(|length| at + length)
    }

    /// Returns whether a phrase ends just before this word.
    pub(super) fn end_at(&self, words: &[Word], end: usize) -> bool {
        let longest = self.phrases.iter().map(Vec::len).max().unwrap_or_default();
        (end.saturating_sub(longest)..end).any(|at| self.at(&words[..end], at) == Some(end))
    }
}

fn end(phrase: &[Element], words: &[Word], at: usize) -> Option<usize> {
    let Some((first, rest)) = phrase.split_first() else {
        return Some(at);
    };
    let here = words.get(at).is_some_and(|word| {
        (at == 0 || word.gap < Gap::Clause) && first.words.iter().any(|&text| word.is(text))
    });
    let taken = if here { end(rest, words, at + 1) } else { None };
    taken.max(if first.optional {
        end(rest, words, at)
    } else {
        None
    })
}

#[cfg(test)]
mod tests {
    use super::{super::words::sentences, *};

    #[test]
    fn matches() {
        let phrases = Phrases::new(&["we|ill give ?you ?a", "on us"]);
        let words = sentences("so I'll give you a drink on us, on, us").remove(0);
        assert_eq!(phrases.at(&words, 1), Some(5));
        assert_eq!(phrases.at(&words, 6), Some(8));
        assert_eq!(phrases.at(&words, 8), None);
        assert_eq!(phrases.at(&words, 0), None);
        assert!(
            phrases.end_at(&words, 5) && phrases.end_at(&words, 4) && phrases.end_at(&words, 3)
        );
        assert!(!phrases.end_at(&words, 2) && !phrases.end_at(&words, 6));
    }
}
