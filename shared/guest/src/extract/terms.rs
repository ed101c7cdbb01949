//! Finds the terms listed in `data/terms.toml`.

use std::{collections::HashMap, ops::Range, sync::LazyLock};

use serde::Deserialize;

use super::said::{Gap, Utterance};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum List {
    Diet,
    Allergen,
    Avoid,
    Occasion,
    Interest,
    Treatment,
    Cuisine,
    Game,
    Access,
    Kin,
}

/// A term found in a text: its name in the profile, and the words that state it.
#[derive(Clone)]
pub(super) struct Hit {
    pub(super) is: &'static str,
    pub(super) words: Range<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Term {
    is: String,
    say: Vec<String>,
}

type Index = HashMap<String, Vec<(Vec<String>, String)>>;

struct Terms(HashMap<List, Index>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    diet: Vec<Term>,
    allergen: Vec<Term>,
    avoid: Vec<Term>,
    occasion: Vec<Term>,
    interest: Vec<Term>,
    treatment: Vec<Term>,
    cuisine: Vec<Term>,
    game: Vec<Term>,
    access: Vec<Term>,
    kin: Vec<Term>,
}

static TERMS: LazyLock<Terms> = LazyLock::new(|| {
    let file: File = toml::from_str(include_str!("../../data/terms.toml"))
        .expect("the table is part of the crate and tested");
    let lists = [
        (List::Diet, file.diet),
        (List::Allergen, file.allergen),
        (List::Avoid, file.avoid),
        (List::Occasion, file.occasion),
        (List::Interest, file.interest),
        (List::Treatment, file.treatment),
        (List::Cuisine, file.cuisine),
        (List::Game, file.game),
        (List::Access, file.access),
        (List::Kin, file.kin),
    ];
    Terms(
        lists
            .into_iter()
            .map(|(list, terms)| (list, index(terms)))
            .collect(),
    )
});

fn index(terms: Vec<Term>) -> Index {
    let mut index = Index::new();
    for term in terms {
        for phrase in term.say {
            let words: Vec<String> = phrase.split(' ').map(str::to_owned).collect();
            if let Some(first) = words.first() {
                index
                    .entry(first.clone())
                    .or_default()
                    .push((words, term.is.clone()));
            }
        }
    }
    for phrases in index.values_mut() {
        phrases.sort_by_key(|(words, _)| std::cmp::Reverse(words.len()));
    }
    index
}

/// Returns the longest term of the list that begins at word `n`.
pub(super) fn term(list: List, said: &Utterance<'_>, n: usize) -> Option<Hit> {
    let (words, is) = TERMS
        .0
        .get(&list)?
        .get(said.at(n))?
        .iter()
        .find(|(words, _)| {
            words.iter().enumerate().all(|(by, word)| {
                said.at(n + by) == word && (by == 0 || said.gap(n + by) <= Gap::Space)
            })
        })?;
    Some(Hit {
        is,
        words: n..n + words.len(),
    })
}

/// Returns every term of the list in the order of the text, without overlaps.
pub(super) fn terms(list: List, said: &Utterance<'_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    let mut n = 0;
    while n < said.len() {
        let hit = term(list, said, n);
        n = hit.as_ref().map_or(n + 1, |hit| hit.words.end);
        hits.extend(hit);
    }
    hits
}
