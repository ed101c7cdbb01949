//! Replaces "that massage" by the name of the row that it means. Every later step then reads the
//! text as if the guest had named the row.

use std::{ops::Range, sync::Arc};

use seven_knowledge::{Category, Item, Term, index::is_stop};
use seven_llm::Request;
use seven_text::words;

use crate::{calendar::is_calendar, pack::HostPack, phrases::Tokens};

/// Words that point to a thing named before, if a word for the thing follows.
const THAT: [&str; 9] = [
    "that", "this", "ese", "esa", "este", "esta", "aquel", "aquella", "dicho",
];
/// Articles before a word for the only row that the last reply named: "how long is the show".
const THE: [&str; 3] = ["the", "el", "la"];
/// Words that state a degree after a pointing word and name no thing: "this late".
const DEGREES: [&str; 8] = [
    "late", "early", "far", "much", "many", "often", "tarde", "temprano",
];
/// The lowest score at which a row's name, keywords or kind count as containing a word.
const CALLED: f32 = 0.82;
/// Maximum number of words that name the thing after the pointing word: "free play" in "that free
/// play".
const MOST_WORDS: usize = 2;

/// Replaces the first phrase such as "that massage" by the name of the row that it means. Returns
/// `None` if no such phrase means a certain row, for example because it fits several rows of the
/// last reply.
pub(crate) fn named(pack: &HostPack, request: &Request, text: &str) -> Option<String> {
    let (said, places) = (Tokens::new(text), places(text));
    let is = |known: &[&str], at: &usize| known.contains(&said.words[*at].as_str());
    let points: Vec<usize> = (0..said.words.len())
        .filter(|at| is(&THAT, at) || is(&THE, at) && request.state.listed.len() == 1)
        .collect();
    if points.is_empty() || request.state.recent.is_empty() || places.len() != said.words.len() {
        return None;
    }
    let talk = Talk {
        pack,
        request,
        terms: request.index.terms(text),
        last: rows(request, request.state.listed.iter()),
        recent: rows(request, request.state.recent.iter().rev()),
        said: &said,
    };
    points.into_iter().find_map(|at| {
        let (row, end) = talk.meant(at + 1)?;
        if !is(&THAT, &at) && !talk.is_the_one(&row, end) {
            return None;
        }
        let (from, to) = (places[at].start, places[end - 1].end);
        Some(format!("{}{}{}", &text[..from], row.name, &text[to..]))
    })
}

/// A text and the rows that it may mean.
struct Talk<'a> {
    pack: &'a HostPack,
    request: &'a Request,
    said: &'a Tokens,
    terms: Vec<Term>,
    /// The rows that the last reply named.
    last: Vec<Arc<Item>>,
    /// The rows that the replies of the session named, the newest first.
    recent: Vec<Arc<Item>>,
}

impl Talk<'_> {
    /// Returns the row that the words from `noun` on mean, and the index of the word after them.
    fn meant(&self, noun: usize) -> Option<(Arc<Item>, usize)> {
        (1..=MOST_WORDS).rev().find_map(|length| {
            let end = noun + length;
            let word = self.said.words.get(end - 1)?;
            if is_stop(word) || is_calendar(word) || DEGREES.contains(&word.as_str()) {
                return None;
            }
            let fits = |row: &&Arc<Item>| self.is_called(row, noun, end);
            let of_last: Vec<&Arc<Item>> = self.last.iter().filter(fits).collect();
            match of_last.as_slice() {
                [one] => Some((Arc::clone(one), end)),
                [] => Some((self.recent.iter().find(fits).cloned()?, end)),
                _ => None,
            }
        })
    }

    /// Returns whether the words from `noun` to `end` occur in the row's name or keywords, or name
    /// the row's category.
    fn is_called(&self, row: &Item, noun: usize, end: usize) -> bool {
        let index = &self.request.index;
        let own = |term: &Term| term.from >= noun && term.to == end;
        let named = |term: &Term| own(term) && index.is_called(row, term) >= CALLED;
        let topics = self.pack.topics.iter();
        let of_row = topics.filter(|topic| topic.category == row.category);
        let mut places = of_row.flat_map(|topic| topic.phrases.places(self.said));
        self.terms.iter().any(named) || places.any(|place| place == (noun, end))
    }

    /// Returns whether an article and the word before `end` mean this row and no other ("the
    /// show"). For this, three conditions must hold:
    /// - The last reply named the row.
    /// - No other row has the word in its name.
    /// - The row has the word in its name, or the row is a show.
    fn is_the_one(&self, row: &Item, end: usize) -> bool {
        let word = &self.said.words[end - 1];
        let last = self.last.iter().any(|last| last.id == row.id);
        let own = || names(row).any(|name| words(name).contains(word));
        last && (row.category == Category::Entertainment || own())
            && !is_named_elsewhere(self.request, row, word)
    }
}

/// Returns whether the name of another row contains the word.
fn is_named_elsewhere(request: &Request, row: &Item, word: &String) -> bool {
    let mut others = request.index.current(request.now);
    others.any(|other| other.id != row.id && names(other).any(|name| words(name).contains(word)))
}

/// Returns the row's names in both languages.
fn names(row: &Item) -> impl Iterator<Item = &String> {
    std::iter::once(&row.name).chain(row.name_es.as_ref())
}

fn rows<'a>(request: &Request, ids: impl Iterator<Item = &'a String>) -> Vec<Arc<Item>> {
    ids.filter_map(|id| request.index.get(id).cloned())
        .collect()
}

/// Returns the byte range of each word in the text.
fn places(text: &str) -> Vec<Range<usize>> {
    let is_word = |c: char| c.is_alphanumeric() || ['\'', '\u{2019}', '&'].contains(&c);
    let mut places: Vec<Range<usize>> = Vec::new();
    for (at, c) in text.char_indices().filter(|(_, c)| is_word(*c)) {
        let end = at + c.len_utf8();
        match places.last_mut() {
            Some(place) if place.end == at => place.end = end,
            _ => places.push(at..end),
        }
    }
    places
}
