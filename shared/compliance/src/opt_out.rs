//! Opt-outs in plain language: wording a reasonable person would understand as "stop texting me" (SMS-19, C-11, SEC C-3).
//!
//! In doubt between an opt-out and anything else it is an opt-out, but a booking to cancel, a bus stop or fries one
//! cannot stop eating leave no doubt.

mod phrases;

use std::sync::LazyLock;

use seven_domain::Language;

use self::phrases::{GROUPS, PHRASES};
use crate::{
    keywords::courtesy,
    normal::{calmed, words},
    pattern::{Pattern, Text},
};

/// One way to say it.
#[derive(Debug)]
pub(crate) struct Phrase {
    pub(crate) id: &'static str,
    pub(crate) language: Language,
    pattern: &'static str,
}

static COMPILED: LazyLock<Vec<(&'static Phrase, Pattern)>> =
    LazyLock::new(|| PHRASES.iter().map(|phrase| (phrase, Pattern::parse(phrase.pattern, GROUPS))).collect());

/// Whether the text revokes consent in plain language.
pub fn is_revocation(text: &str) -> bool {
    find(&words(text)).is_some()
}

pub(crate) fn find(words: &[String]) -> Option<&'static Phrase> {
    let first = |words: &[String]| {
        let text = Text::new(words, courtesy);
        COMPILED.iter().find(|(_, pattern)| pattern.is_in(&text)).map(|&(phrase, _)| phrase)
    };
    first(words).or_else(|| first(&calmed(words)?))
}

#[cfg(test)]
mod examples;
#[cfg(test)]
mod tests;
