//! Words around a command that do not change it.

use crate::pattern::starts_with;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Filler {
    /// please, thank you, now
    Courtesy,
    /// How an impatient guest begins: "hey stop", "just stop".
    LeadIn,
    /// What follows a yes: "yes sounds good".
    Agreement,
}

const COURTESY: &[&str] = &[
    "please and thank you",
    "please",
    "pls",
    "plz",
    "plse",
    "thanks so much",
    "thanks",
    "thank you so much",
    "thank you very much",
    "thank you",
    "thankyou",
    "thx",
    "tks",
    "ty",
    "por favor",
    "porfavor",
    "porfa",
    "xfa",
    "favor",
    "muchas gracias",
    "gracias",
    "right now",
    "now",
    "immediately",
    "asap",
    "already",
    "ya",
    "sir",
    "maam",
];

const LEAD_IN: &[&str] =
    &["hi", "hello", "hey", "hola", "no", "nope", "just", "so", "then", "seriously", "and", "pues", "everything"];

const AGREEMENT: &[&str] = &[
    "sounds good",
    "sounds great",
    "that sounds good",
    "that sounds great",
    "of course",
    "please do",
    "im in",
    "count me in",
    "sign me up",
    "thats fine",
    "lets do it",
    "i do",
    "i agree",
    "i would",
    "id love to",
    "id like that",
    "absolutely",
    "definitely",
    "great",
    "perfect",
    "claro que si",
    "claro",
    "por supuesto",
    "perfecto",
    "acepto",
    "quiero",
    "me gustaria",
    "suena bien",
    "esta bien",
];

/// The kind and length of the filler these words begin with.
pub(super) fn filler(words: &[String]) -> Option<(Filler, usize)> {
    [(COURTESY, Filler::Courtesy), (LEAD_IN, Filler::LeadIn), (AGREEMENT, Filler::Agreement)]
        .into_iter()
        .find_map(|(list, kind)| longest(words, list).map(|length| (kind, length)))
}

/// Courtesy at the edge of an opt-out in plain language.
pub(crate) fn courtesy(words: &[String]) -> Option<usize> {
    filler(words).filter(|(kind, _)| *kind != Filler::Agreement).map(|(_, length)| length)
}

fn longest(words: &[String], list: &[&str]) -> Option<usize> {
    list.iter()
        .filter_map(|phrase| {
            let phrase: Vec<&str> = phrase.split(' ').collect();
            starts_with(words, &phrase).then_some(phrase.len())
        })
        .max()
}
