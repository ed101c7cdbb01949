//! Replaces "that massage" by the name of the row that it means, so that every later step reads the
//! text as if the guest had named the row.

use std::{ops::Range, sync::Arc};

use seven_knowledge::{Category, Item, index::is_stop};
use seven_llm::Request;
use seven_text::words;

use crate::{calendar::is_calendar, pack::HostPack, phrases::Tokens};

/// Words that point to a thing named before, if a word for the thing follows.
const THAT: [&str; 9] = [
    "that", "this", "ese", "esa", "este", "esta", "aquel", "aquella", "dicho",
];
/// Articles before a word for the only row that the last reply named: "how long is the show".
const THE: [&str; 3] = ["the", "el", "la"];
/// The lowest score at which a row's name, keywords or kind count as containing a word.
const CALLED: f32 = 0.82;
/// Maximum number of words that stand for the thing: "that free play".
const MOST_WORDS: usize = 2;

/// Returns the text with the first such phrase replaced; `None` if it has none, or if it fits
/// several rows of the last reply.
pub(crate) fn named(pack: &HostPack, request: &Request, text: &str) -> Option<String> {
    let recent: Vec<Arc<Item>> = rows(request, request.state.recent.iter().rev());
    let (said, places) = (Tokens::new(text), places(text));
    if recent.is_empty() || places.len() != said.words.len() {
        return None;
    }
    let is = |known: &[&str], at: usize| known.contains(&said.words[at].as_str());
    (0..said.words.len()).find_map(|at| {
        let (row, end) = if is(&THAT, at) {
            meant(pack, request, &recent, &said, at + 1, text)?
        } else {
            let [one] = request.state.listed.as_slice() else {
                return None;
            };
            let (row, end) = is(&THE, at)
                .then(|| meant(pack, request, &recent, &said, at + 1, text))
                .flatten()?;
            let word = &said.words[end - 1];
            let show = row.category == Category::Entertainment;
            let own = show || names(&row).any(|name| words(name).contains(word));
            let only = row.id == *one && own && !is_named_elsewhere(request, &row, word);
            only.then_some((row, end))?
        };
        let (from, to) = (places[at].start, places[end - 1].end);
        Some(format!("{}{}{}", &text[..from], row.name, &text[to..]))
    })
}

/// Returns the row that the words from `noun` on mean, and the end of those words.
fn meant(
    pack: &HostPack,
    request: &Request,
    recent: &[Arc<Item>],
    said: &Tokens,
    noun: usize,
    text: &str,
) -> Option<(Arc<Item>, usize)> {
    let index = &request.index;
    let terms = index.terms(text);
    let last = rows(request, request.state.listed.iter());
    (1..=MOST_WORDS).rev().find_map(|length| {
        let end = noun + length;
        let word = said.words.get(end - 1)?;
        if is_stop(word) || is_calendar(word) {
            return None;
        }
        let called = |row: &Arc<Item>| {
            let mut own = terms.iter().filter(|t| t.from >= noun && t.to == end);
            own.any(|term| index.is_called(row, term) >= CALLED)
        };
        let of_topic = |row: &Arc<Item>| {
            let topics = pack.topics.iter().filter(|t| t.category == row.category);
            length == 1
                && topics
                    .flat_map(|topic| topic.phrases.places(said))
                    .any(|place| place == (noun, end))
        };
        let fits = |row: &&Arc<Item>| called(row) || of_topic(row);
        let of_last: Vec<&Arc<Item>> = last.iter().filter(fits).collect();
        match of_last.as_slice() {
            [one] => Some((Arc::clone(one), end)),
            [] => Some((recent.iter().find(fits).cloned()?, end)),
            _ => None,
        }
    })
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

/// Returns the place of each word in the text.
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
