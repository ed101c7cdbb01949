//! Reads the guest's name: "I'm Maria", "me llamo José", "this is Bob Smith", but not "I'm hungry".

use std::{collections::HashSet, sync::LazyLock};

use super::{
    Extracted, Setting, Slot,
    said::{Gap, Utterance},
};
use crate::Topic;

static NAMES: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    include_str!("../../data/names.txt")
        .split_whitespace()
        .collect()
});

/// Words that are often capitalised although they are not names.
static NO_NAMES: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    include_str!("../../data/no_names.txt")
        .split_whitespace()
        .collect()
});
/// Names that are also ordinary words. After a `LOOSE` phrase they are read as names only if
/// capitalised.
static WORDS: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    include_str!("../../data/names_that_are_words.txt")
        .split_whitespace()
        .collect()
});

/// Phrases that only a name can follow.
const SURE: &[&str] = &[
    "my name is",
    "my names",
    "my name s",
    "me llamo",
    "mi nombre es",
    "i go by",
    "they call me",
    "everyone calls me",
    "me dicen",
    "people call me",
];
/// Phrases after which a name may follow, but also any other word.
const LOOSE: &[&str] = &[
    "i am",
    "im",
    "i m",
    "this is",
    "its",
    "it is",
    "soy",
    "habla",
    "le habla",
    "te habla",
    "le saluda",
    "te saluda",
    "you can call me",
    "call me",
    "puedes llamarme",
    "puede llamarme",
    "llameme",
    "llamame",
    "the names",
    "names",
    "name is",
    "the name is",
    "aqui",
];
/// Words that may come between a `LOOSE` phrase and the name.
const FILLER: &[&str] = &["also", "actually"];

/// Endings of words that describe a person. An unknown word with such an ending is not read as a
/// name, unless it is capitalised after a `SURE` phrase.
const ENDINGS: &[&str] = &[
    "ing", "ed", "ous", "ful", "less", "ible", "able", "ish", "ese", "ian", "ican", "ist", "tic",
    "ly", "ando", "endo", "ado", "ada", "ista", "oso", "osa",
];
/// Small words that occur inside surnames.
const PARTICLES: &[&str] = &[
    "de", "del", "la", "las", "los", "van", "von", "der", "da", "di",
];

#[derive(Clone, Copy, PartialEq)]
enum Cue {
    Sure,
    Loose,
    /// The text answers the host's question for the name.
    Answer,
}

pub(super) fn read(said: &Utterance<'_>, setting: &Setting) -> Vec<Extracted> {
    let asked = setting.asked == Some(Topic::Name);
    let answer = (asked && said.len() <= 3)
        .then(|| named(said, 0, Cue::Answer))
        .flatten();
    let cued =
        || (0..said.len()).find_map(|n| cue(said, n).and_then(|(kind, at)| named(said, at, kind)));
    // The name may come before "here", as in "Maria here".
    let here = || {
        let at = (1..said.len()).find(|n| {
            said.is(*n, &["here"])
                && said.gap(*n) == Gap::Space
                && said.gap(n - 1) >= Gap::Comma
                && said.gap(n + 1) >= Gap::Comma
        })?;
        named(said, at - 1, Cue::Loose)
    };
    cued().or_else(here).or(answer).unwrap_or_default()
}

/// Looks for a phrase that introduces a name, such as "my name is", at word `n`. Returns the kind
/// of the phrase, and the index of the first word after the phrase.
fn cue(said: &Utterance<'_>, n: usize) -> Option<(Cue, usize)> {
    if let Some(at) = said.one_of(n, SURE) {
        // A negated phrase introduces no name, as in "I never said my name is Bob".
        return (!said.negated(n)).then_some((Cue::Sure, at));
    }
    let at = said.one_of(n, LOOSE)?;
    let begins = said.gap(n) >= Gap::Comma
        || said.is(
            n.wrapping_sub(1),
            &[
                "hi",
                "hello",
                "hey",
                "hola",
                "and",
                "y",
                "thanks",
                "gracias",
                "yes",
                "si",
                "so",
                "well",
                "buenas",
                "dias",
                "tardes",
                "noches",
                "morning",
                "evening",
                "afternoon",
                "there",
                "yo",
            ],
        );
    let statement = !said.is_question(n) || !said.is(n, &["this", "its", "it"]);
    let at = if said.is(at, FILLER) { at + 1 } else { at };
    (begins && statement && !said.negated(n)).then_some((Cue::Loose, at))
}

/// Returns the name that begins at word `n`.
fn named(said: &Utterance<'_>, n: usize, cue: Cue) -> Option<Vec<Extracted>> {
    let word = said.words.get(n)?;
    let name = word.text.as_str();
    let letters = (2..=20).contains(&name.chars().count()) && name.chars().all(char::is_alphabetic);
    let here = cue == Cue::Answer
        || said.gap(n) <= Gap::Space
        || (cue == Cue::Loose && said.gap(n) >= Gap::Comma && said.gap(n + 1) == Gap::Space);
    if !letters
        || !here
        || word.possessive
        || NO_NAMES.contains(name) && !(NAMES.contains(name) && word.capital && said.has_case)
    {
        return None;
    }
    let capital = word.capital && said.has_case;
    let common = NAMES.contains(name);
    let plain = common && !WORDS.contains(name);
    let ends = said.gap(n + 1) >= Gap::Comma
        || said.is(
            n + 1,
            &[
                "and", "y", "from", "de", "i", "we", "but", "thanks", "gracias", "please",
            ],
        )
        || surname(said, n + 1);
    let describes = ENDINGS.iter().any(|end| name.ends_with(end));
    let percent = match cue {
        Cue::Sure if common || capital => 97,
        Cue::Sure if ends && !describes => 85,
        Cue::Loose if capital && common => 95,
        Cue::Loose | Cue::Answer if plain => 90,
        Cue::Answer if common => 85,
        Cue::Loose | Cue::Answer if capital && ends && !describes => 70,
        _ => return None,
    };
    let mut to = n + 1;
    let mut full = vec![spell(said, n)];
    while to < said.len() && full.len() < 5 && (surname(said, to) || particle(said, to)) {
        full.push(said.spelled(to).to_owned());
        to += 1;
    }
    // "I'm Jordan's guest" names somebody else.
    if said.words.get(to - 1).is_some_and(|last| last.possessive) {
        return None;
    }
    let mut found = vec![Extracted::new(
        Slot::Name(spell(said, n)),
        percent,
        said.span(n, n + 1),
    )];
    if full.len() > 1 {
        found.push(Extracted::new(
            Slot::FullName(full.join(" ")),
            percent,
            said.span(n, to),
        ));
    }
    Some(found)
}

fn surname(said: &Utterance<'_>, n: usize) -> bool {
    let word = said
        .words
        .get(n)
        .filter(|_| said.has_case && said.gap(n) <= Gap::Space);
    word.is_some_and(|w| {
        w.capital
            && w.text.chars().count() > 1
            && w.text.chars().all(char::is_alphabetic)
            && !NO_NAMES.contains(w.text.as_str())
            && w.text != "im"
    })
}

fn particle(said: &Utterance<'_>, n: usize) -> bool {
    said.is(n, PARTICLES)
        && said.gap(n) == Gap::Space
        && (surname(said, n + 1) || (said.is(n + 1, PARTICLES) && surname(said, n + 2)))
        && said.has_case
        && said.is(n + 1, PARTICLES) | surname(said, n + 1)
        && is_family(said, n)
}

/// Returns whether the particle at word `n` begins a surname, as in "Maria de la Cruz". In "Maria
/// de Boston", a place follows.
fn is_family(said: &Utterance<'_>, n: usize) -> bool {
    said.words.get(n).is_some_and(|w| w.capital)
        || said.is(n + 1, PARTICLES)
        || said.is(
            n,
            &["la", "las", "los", "van", "von", "der", "da", "di", "del"],
        )
}

/// Returns the name as the guest spells it, but "maria" and "MARIA" become "Maria".
fn spell(said: &Utterance<'_>, n: usize) -> String {
    let raw = said.spelled(n);
    let mixed = raw.chars().any(char::is_lowercase) && raw.chars().any(char::is_uppercase);
    if mixed {
        return raw.to_owned();
    }
    let mut letters = raw.chars();
    let first: String = letters
        .next()
        .into_iter()
        .flat_map(char::to_uppercase)
        .collect();
    first + &letters.as_str().to_lowercase()
}
