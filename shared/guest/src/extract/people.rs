//! Who comes along, and how old the children are.

use std::{collections::HashSet, sync::LazyLock};

use super::{
    Found, Slot,
    number::{any_number, number},
    said::{Gap, Said},
    terms::{Hit, List, terms},
};

static NAMES: LazyLock<HashSet<&'static str>> =
    LazyLock::new(|| include_str!("../../data/names.txt").split_whitespace().collect());

const CHILDREN: &[&str] = &["child", "children", "grandchild"];

pub(super) fn read(said: &Said<'_>) -> Vec<Found> {
    let mut found = Vec::new();
    for hit in terms(List::Kin, said) {
        let n = hit.words.start;
        if said.negated(n) || gone(said, &hit) {
            continue;
        }
        if CHILDREN.contains(&hit.is) {
            found.extend(children(said, &hit));
        } else if along(said, &hit) {
            let name = name(said, &hit);
            let to = if name.is_some() { hit.words.end + 1 } else { hit.words.end };
            found.push(Found::new(Slot::Companion { kin: hit.is.to_owned(), name, age: None }, 80, said.span(n, to)));
        }
    }
    found
}

/// Former and late ones, and what only belongs to somebody: "my ex wife", "my wife passed away".
fn gone(said: &Said<'_>, hit: &Hit) -> bool {
    let n = hit.words.start;
    ["ex", "late", "former", "exesposa", "difunta", "difunto", "dead"].contains(&said.before(n, 1))
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

/// "with my wife", "me and my husband", "my partner and I", "mi esposa y yo", "my wife is coming".
fn along(said: &Said<'_>, hit: &Hit) -> bool {
    let n = hit.words.start;
    let mine = ["my", "our", "mi", "mis", "nuestros", "nuestro", "the", "some", "two", "a", "unos", "la", "un", "una"]
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
    // "with" alone is weak: "dealing with friends" is not coming with friends.
    let possessive = said.words.get(n).is_some_and(|w| w.possessive);
    let and_alone = ["and", "y"].contains(&said.before(lead, 1)) && !owned;
    !possessive
        && ((with && !and_alone && (mine || said.is(n, &["friends", "family", "amigos", "amigas", "familia"])))
            || (owned && after))
}

fn after_name(said: &Said<'_>, hit: &Hit) -> usize {
    hit.words.end + usize::from(name(said, hit).is_some())
}

/// "my wife Ana".
fn name(said: &Said<'_>, hit: &Hit) -> Option<String> {
    let at = hit.words.end;
    let word =
        said.words.get(at).filter(|w| w.capital && !w.possessive && said.has_case && said.gap(at) <= Gap::Space)?;
    NAMES.contains(word.text.as_str()).then(|| said.spelled(at).to_owned())
}

/// "my 8 year old son", "kids 5 and 8", "mi hija tiene 6", "with our two kids".
fn children(said: &Said<'_>, hit: &Hit) -> Vec<Found> {
    let ages = ages(said, hit);
    let child = |age: Option<u32>, from: usize, to: usize, percent| {
        let kin = if hit.is == "grandchild" { "grandchild" } else { "child" };
        Found::new(Slot::Companion { kin: kin.to_owned(), name: None, age }, percent, said.span(from, to))
    };
    if !ages.is_empty() {
        return ages.into_iter().map(|(age, from, to)| child(Some(age), from, to, 88)).collect();
    }
    let n = hit.words.start;
    let lead = ["my", "our", "the", "mis", "mi", "nuestros"].contains(&said.before(n, 1))
        || any_number(said, n.wrapping_sub(1)).is_some() && n > 0;
    let lead = if lead { n - 1 } else { n };
    let lead =
        if lead < n && ["my", "our", "mis", "nuestros"].contains(&said.before(lead, 1)) { lead - 1 } else { lead };
    let with = ["with", "bringing", "bring", "con", "traigo", "have", "got", "tengo", "plus", "traer", "llevo"]
        .contains(&said.before(lead, 1));
    let adults = lead > 1
        && said.is(lead - 1, &["and", "y"])
        && said.is(lead - 2, &["adults", "adultos", "wife", "husband", "adult", "esposa", "esposo"]);
    let along = with
        || adults
        || said.one_of(hit.words.end, &["are coming", "is coming", "vienen", "viene", "love", "will be"]).is_some()
            && lead < n;
    if along { vec![child(None, n, hit.words.end, 75)] } else { Vec::new() }
}

/// Ages of children, with the words that say each.
fn ages(said: &Said<'_>, hit: &Hit) -> Vec<(u32, usize, usize)> {
    let (n, end) = (hit.words.start, hit.words.end);
    // "8 year old son", "8-year-old daughter", "my 5 and 7 year old kids".
    if n >= 3 && said.is(n - 1, &["old", "olds"]) && said.is(n - 2, &["year", "yr", "years"]) {
        return back(said, n - 3);
    }
    if n >= 2 && said.is(n - 1, &["yo", "yr"]) {
        return back(said, n - 2);
    }
    let cues = &[
        "is",
        "are",
        "aged",
        "ages",
        "age",
        "who is",
        "who are",
        "whos",
        "of",
        "de",
        "tiene",
        "tienen",
        "que tiene",
        "que tienen",
        "are ages",
        "is turning",
        "turning",
        "cumple",
        "they are",
        "theyre",
        "edades",
        "con edades de",
    ];
    let at = said.one_of(end, cues).filter(|_| said.gap(end) <= Gap::Comma).or_else(|| {
        // "kids (5, 8)", "kids: 5 and 8".
        (said.between(end).contains(['(', ':']) && any_number(said, end).is_some()).then_some(end)
    });
    let Some(at) = at else { return Vec::new() };
    let ages = forward(said, at);
    let next = ages.last().map_or(at, |(_, _, to)| *to);
    let bare = said.is(end, &["is", "are", "of", "who"])
        && !said.is(next, &["year", "years", "yrs", "yr", "and"])
        && said.gap(next) <= Gap::Space;
    let counts = said.is(
        next,
        &[
            "us", "them", "pm", "am", "minutes", "hours", "people", "st", "nd", "rd", "th", "percent", "feet", "times",
            "hermanos",
        ],
    );
    if bare || counts { Vec::new() } else { ages }
}

/// Numbers joined by "and" and commas, from word `n` on; adults are no children.
fn forward(said: &Said<'_>, n: usize) -> Vec<(u32, usize, usize)> {
    let (mut ages, mut at) = (Vec::new(), n);
    while let Some(age) = any_number(said, at).filter(|age| *age < 18) {
        if said.between(at).ends_with(['$', ':']) || ages.len() >= 8 {
            break;
        }
        let years = usize::from(said.is(at + 1, &["years", "year", "yrs", "anos", "ano"]));
        let years = years + usize::from(years > 0 && said.is(at + 2, &["old"]));
        ages.push((age, at, at + 1 + years));
        at += 1 + years;
        at += usize::from(said.is(at, &["and", "y"]) && any_number(said, at + 1).is_some());
        if said.gap(at) > Gap::Comma {
            break;
        }
    }
    ages
}

/// The number at word `n` and those joined to it before.
fn back(said: &Said<'_>, n: usize) -> Vec<(u32, usize, usize)> {
    let Some(age) = any_number(said, n).filter(|age| *age < 18) else { return Vec::new() };
    let first =
        (n >= 2 && said.is(n - 1, &["and", "y"])).then(|| number(said, n - 2)).flatten().filter(|age| *age < 18);
    first.map(|age| (age, n - 2, n - 1)).into_iter().chain([(age, n, n + 1)]).collect()
}
