//! Word lists of the index: stop words, words too common to name a venue, English and Spanish
//! synonyms. The lists are in `vocabulary.txt`.

use std::{
    collections::{HashMap, HashSet},
    sync::LazyLock,
};

use seven_text::stem;

/// Returns the words under a heading of the data file: `[stop]`, `[common]`, `[synonyms]`.
fn block(name: &str) -> impl Iterator<Item = &'static str> {
    let heading = format!("[{name}]");
    include_str!("vocabulary.txt")
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .skip_while(move |line| *line != heading)
        .skip(1)
        .take_while(|line| !line.starts_with('['))
}

pub(super) static STOP: LazyLock<HashSet<&'static str>> =
    LazyLock::new(|| block("stop").flat_map(str::split_whitespace).collect());

static COMMON: LazyLock<HashSet<String>> = LazyLock::new(|| {
    block("common")
        .flat_map(str::split_whitespace)
        .map(stem)
        .chain(SYNONYMS.keys().cloned())
        .collect()
});

/// For each stem, the stems of its synonyms.
pub(super) static SYNONYMS: LazyLock<HashMap<String, Vec<String>>> = LazyLock::new(|| {
    let mut table: HashMap<String, Vec<String>> = HashMap::new();
    for line in block("synonyms") {
        let stems: Vec<String> = line.split_whitespace().map(stem).collect();
        for one in &stems {
            table
                .entry(one.clone())
                .or_default()
                .extend(stems.iter().filter(|s| *s != one).cloned());
        }
    }
    table
});

/// Returns true for a word that does not show which venue is meant, such as "room", "grill",
/// "friday" or "restaurante".
pub(crate) fn is_common(word: &str) -> bool {
    STOP.contains(word) || COMMON.contains(&stem(word))
}

/// Returns whether the search skips the word.
pub fn is_stop(word: &str) -> bool {
    STOP.contains(word)
}
