//! Recognises opt-outs in plain language; a doubtful text counts as one. The list
//! (`data/opt_out.toml`) is compiled in, because ingress uses it and has no pack.

use std::{collections::BTreeMap, sync::LazyLock};

use serde::Deserialize;
use seven_domain::Language;

use crate::{
    Intent,
    pattern::{Builder, Groups, Rule},
};

static LIST: LazyLock<List> = LazyLock::new(|| {
    toml::from_str(include_str!("../data/opt_out.toml")).expect("the list can be read, says a test")
});

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    typos: Typos,
    groups: BTreeMap<String, String>,
    /// The opt-out phrases, by id.
    phrases: BTreeMap<String, String>,
    /// The phrases, by id, with which a guest asks to get our texts again.
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

/// The meaning of one rule that [`add_to`] adds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OptOutRule {
    /// An opt-out, or a request for our texts again.
    Words {
        id: &'static str,
        intent: Intent,
        language: Language,
    },
    /// Wording that only looks like an opt-out. If a text has such wording, the likeness classifier
    /// reports no opt-out.
    Spared,
    /// Wording that refuses another channel, such as calls, but keeps our texts. If a text has such
    /// wording, its opt-out phrases are ignored.
    Kept,
}

/// Returns whether the text opts out, by a command or in plain language.
pub fn is_revocation(text: &str) -> bool {
    crate::classify(text).is_some_and(|keyword| keyword.intent == crate::Intent::OptOut)
}

/// The meaning of each rule, in the order in which [`add_to`] adds them.
pub(crate) static RULES: LazyLock<Vec<OptOutRule>> = LazyLock::new(|| {
    let words = |id: &'static str, intent: Intent| {
        let language = if id.contains(".nl.es.") {
            Language::Es
        } else {
            Language::En
        };
        OptOutRule::Words {
            id,
            intent,
            language,
        }
    };
    let phrases = LIST.phrases.keys().map(|id| words(id, Intent::OptOut));
    let phrases = phrases.chain(LIST.returns.keys().map(|id| words(id, Intent::OptIn)));
    let spared = LIST.spared.patterns.iter().map(|_| OptOutRule::Spared);
    phrases
        .chain(spared)
        .chain(LIST.kept.patterns.iter().map(|_| OptOutRule::Kept))
        .collect()
});

pub(crate) fn add_to(builder: &mut Builder<'_>) {
    let groups = Groups::new(
        LIST.groups
            .iter()
            .map(|(name, list)| (name.as_str(), list.as_str())),
    );
    let words = LIST.phrases.values().chain(LIST.returns.values());
    for pattern in words
        .chain(&LIST.spared.patterns)
        .chain(&LIST.kept.patterns)
    {
        let pattern = groups
            .pattern(pattern)
            .expect("the phrases can be read, says a test");
        builder.add(&Rule {
            patterns: vec![pattern],
            unless: Vec::new(),
        });
    }
    builder.forgive(
        LIST.typos.forgive.split_whitespace(),
        LIST.typos.real.split_whitespace(),
    );
}

#[cfg(test)]
mod tests;
