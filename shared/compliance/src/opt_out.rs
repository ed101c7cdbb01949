//! Opt-outs in plain language: wording a reasonable person would understand as "stop texting me" (SMS-19, C-11, SEC C-3).
//!
//! In doubt between an opt-out and anything else it is an opt-out, but a booking to cancel, a bus stop or fries one
//! cannot stop eating leave no doubt.

mod phrases;

use seven_domain::Language;

use self::phrases::GROUPS;
pub(crate) use self::phrases::{PHRASES, REAL, SPARED, TYPOS};
use crate::pattern::{Builder, Groups, Rule};

/// One way to say it.
#[derive(Debug)]
pub(crate) struct Phrase {
    pub(crate) id: &'static str,
    pub(crate) language: Language,
    pattern: &'static str,
}

/// Whether the text revokes consent in plain language or by a command.
pub fn is_revocation(text: &str) -> bool {
    crate::classify(text).is_some_and(|keyword| keyword.intent == crate::Intent::OptOut)
}

/// How many rules [`add_to`] adds: one per phrase, in the order of the list, then what is spared.
pub(crate) const RULES: usize = PHRASES.len() + SPARED.len();

pub(crate) fn add_to(builder: &mut Builder) {
    let groups = Groups::new(GROUPS.iter().copied());
    for pattern in PHRASES.iter().map(|phrase| phrase.pattern).chain(SPARED.iter().copied()) {
        let pattern = groups.pattern(pattern).expect("the phrases can be read, says a test");
        builder.add(&Rule { patterns: vec![pattern], unless: Vec::new() });
    }
    builder.forgive(TYPOS.iter().copied(), REAL.iter().copied());
}

#[cfg(test)]
mod examples;
#[cfg(test)]
mod tests;
