//! Finds the people who come along with the guest.

use std::{collections::HashSet, sync::LazyLock};

use super::{
    Extracted, Slot, children,
    said::{Gap, Utterance},
    terms::{Hit, List, terms},
};

static NAMES: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    include_str!("../../data/names.txt")
        .split_whitespace()
        .collect()
});

const CHILDREN: &[&str] = &["child", "children", "grandchild"];

pub(super) fn read(said: &Utterance<'_>) -> Vec<Extracted> {
    let mut found = Vec::new();
    for hit in terms(List::Kin, said) {
        let n = hit.words.start;
        if said.negated(n) || gone(said, &hit) {
            continue;
        }
        if CHILDREN.contains(&hit.is) {
            found.extend(children::of(said, &hit));
        } else if along(said, &hit) {
            let name = name(said, &hit);
            let to = if name.is_some() {
                hit.words.end + 1
            } else {
                hit.words.end
            };
            found.push(Extracted::new(
                Slot::Companion {
                    kin: hit.is.to_owned(),
                    name,
                    age: None,
                },
                80,
                said.span(n, to),
            ));
        }
    }
    for child in children::by_age(said) {
        if !found
            .iter()
            .any(|known| known.span.start < child.span.end && child.span.start < known.span.end)
        {
            found.push(child);
        }
    }
    found
}

/// Returns whether the person is not part of the party: "my ex wife", "my wife passed away", "my
/// wife is not coming".
fn gone(said: &Utterance<'_>, hit: &Hit) -> bool {
    let n = hit.words.start;
    [
        "ex", "late", "former", "exesposa", "difunta", "difunto", "dead",
    ]
    .contains(&said.before(n, 1))
        || said
            .one_of(
                hit.words.end,
                &[
                    "passed",
                    "died",
                    "left",
                    "fallecio",
                    "murio",
                    "is not coming",
                    "isnt coming",
                    "cant come",
                    "cant make",
                    "wont be",
                    "no viene",
                    "no puede",
                    "se murio",
                ],
            )
            .is_some()
}

/// Returns whether the person comes along: "with my wife", "me and my husband", "my partner and I",
/// "mi esposa y yo", "my wife is coming".
fn along(said: &Utterance<'_>, hit: &Hit) -> bool {
    let n = hit.words.start;
    let mine = [
        "my", "our", "mi", "mis", "nuestros", "nuestro", "the", "some", "two", "a", "unos", "la",
        "un", "una",
    ]
    .contains(&said.before(n, 1));
    let lead = if mine { n - 1 } else { n };
    let with = [
        "with",
        "bringing",
        "bring",
        "con",
        "taking",
        "and",
        "y",
        "plus",
        "traer",
        "traigo",
        "llevo",
        "llevar",
        "surprise",
        "sorprender",
    ]
    .contains(&said.before(lead, 1));
    let owned = ["my", "our", "mi", "mis"].contains(&said.before(n, 1));
    let after = said
        .one_of(
            after_name(said, hit),
            &[
                "and i",
                "and me",
                "y yo",
                "is coming",
                "are coming",
                "will be",
                "is joining",
                "joining",
                "viene",
                "vienen",
                "is vegan",
                "is vegetarian",
                "is allergic",
                "is celiac",
                "es vegana",
                "es vegano",
                "es alergica",
                "es alergico",
                "loves",
                "likes",
                "le encanta",
                "le gusta",
                "uses a",
                "is in a",
                "usa",
                "is turning",
                "cumple",
            ],
        )
        .is_some();
    // A partner whose wishes the guest reports comes along: "my wife wants to know if there is
    // parking".
    let wishes = ["spouse", "partner", "fiance"].contains(&hit.is)
        && said.one_of(after_name(said, hit), WISHES).is_some();
    // "With" alone proves little: "dealing with friends" does not mean that friends come along.
    let possessive = said.words.get(n).is_some_and(|w| w.possessive);
    let and_alone = ["and", "y"].contains(&said.before(lead, 1)) && !owned;
    !possessive
        && ((with
            && !and_alone
            && (mine || said.is(n, &["friends", "family", "amigos", "amigas", "familia"])))
            || (owned && (after || wishes)))
}

const WISHES: &[&str] = &[
    "asks",
    "is asking",
    "wants to know",
    "is wondering",
    "would like",
    "would love",
    "wants to try",
    "prefers",
    "pregunta",
    "quiere saber",
    "quiere probar",
    "quisiera",
    "prefiere",
];

fn after_name(said: &Utterance<'_>, hit: &Hit) -> usize {
    hit.words.end + usize::from(name(said, hit).is_some())
}

/// Returns the name that follows the relationship, as in "my wife Ana".
fn name(said: &Utterance<'_>, hit: &Hit) -> Option<String> {
    let at = hit.words.end;
    let word = said
        .words
        .get(at)
        .filter(|w| w.capital && !w.possessive && said.has_case && said.gap(at) <= Gap::Space)?;
    NAMES
        .contains(word.text.as_str())
        .then(|| said.spelled(at).to_owned())
}
