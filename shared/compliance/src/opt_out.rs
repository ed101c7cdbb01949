//! Opt-outs in plain language: wording a reasonable person would understand as "stop texting me" (SMS-19, C-11, SEC C-3).
//!
//! In doubt between an opt-out and anything else it is an opt-out, but a booking to cancel, a bus stop or fries one
//! cannot stop eating leave no doubt. The list is `data/opt_out.toml`, compiled in: ingress reads it too, which has no pack.

use std::{collections::BTreeMap, sync::LazyLock};

use serde::Deserialize;
use seven_domain::Language;

use crate::{
    Intent,
    pattern::{Builder, Groups, Rule},
};

static LIST: LazyLock<List> =
    LazyLock::new(|| toml::from_str(include_str!("../data/opt_out.toml")).expect("the list can be read, says a test"));

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    typos: Typos,
    groups: BTreeMap<String, String>,
    /// By id.
    phrases: BTreeMap<String, String>,
    /// By id: a guest who wants our texts again.
    returns: BTreeMap<String, String>,
    spared: Spared,
    kept: Spared,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Typos {
    forgive: String,
    real: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Spared {
    patterns: Vec<String>,
}

/// The meaning of one of the rules that [`add_to`] adds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OptOutRule {
    /// An opt-out, or the wish to get our texts again.
    Words { id: &'static str, intent: Intent, language: Language },
    /// No opt-out however much it looks like one: keeps the net of likeness silent.
    Spared,
    /// Turns down another channel and keeps this one: keeps the phrases silent too.
    Kept,
}

/// Whether the text revokes consent in plain language or by a command.
pub fn is_revocation(text: &str) -> bool {
    crate::classify(text).is_some_and(|keyword| keyword.intent == crate::Intent::OptOut)
}

/// The meaning of each rule, in the order in which they are added.
pub(crate) static RULES: LazyLock<Vec<OptOutRule>> = LazyLock::new(|| {
    let words = |id: &'static str, intent: Intent| {
        let language = if id.contains(".nl.es.") { Language::Es } else { Language::En };
        OptOutRule::Words { id, intent, language }
    };
    let phrases = LIST.phrases.keys().map(|id| words(id, Intent::OptOut));
    let phrases = phrases.chain(LIST.returns.keys().map(|id| words(id, Intent::OptIn)));
    let spared = LIST.spared.patterns.iter().map(|_| OptOutRule::Spared);
    phrases.chain(spared).chain(LIST.kept.patterns.iter().map(|_| OptOutRule::Kept)).collect()
});

pub(crate) fn add_to(builder: &mut Builder<'_>) {
    let groups = Groups::new(LIST.groups.iter().map(|(name, list)| (name.as_str(), list.as_str())));
    let words = LIST.phrases.values().chain(LIST.returns.values());
    for pattern in words.chain(&LIST.spared.patterns).chain(&LIST.kept.patterns) {
        let pattern = groups.pattern(pattern).expect("the phrases can be read, says a test");
        builder.add(&Rule { patterns: vec![pattern], unless: Vec::new() });
    }
    builder.forgive(LIST.typos.forgive.split_whitespace(), LIST.typos.real.split_whitespace());
}

#[cfg(test)]
mod tests;
