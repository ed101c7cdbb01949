//! Reads a pack's rules from its file and names the reasons for refusing them.

use std::collections::BTreeMap;

use serde::Deserialize;
use seven_domain::Language;

use super::Layer;
use crate::pattern::{Builder, Groups, Problem, Rule};

/// The reason why a pack's rules were refused. A retry cannot help, because packs ship with the
/// program.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("reading the guardrails of the pack")]
    Toml(#[from] toml::de::Error),
    #[error("rule `{rule}`: {problem}")]
    Rule { rule: String, problem: Problem },
    #[error("two rules are called `{0}`")]
    Twice(String),
    #[error(
        "rule `{0}` spares a layer where a life may be at stake; nothing may silence the net there"
    )]
    Spares(String),
    #[error("rule `{0}` has neither pattern nor shape")]
    Empty(String),
    #[error("building the automaton of all words")]
    Automaton(#[from] aho_corasick::BuildError),
    #[error("{} examples fail, the first: {}", .0.len(), .0[0])]
    Examples(Vec<Failure>),
}

/// An example in the pack that the rules do not judge as the pack says.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    #[error("rule `{rule}` does not match {example:?}")]
    Missed { rule: String, example: String },
    #[error("{example:?} of rule `{rule}` should pass its layer and hits `{by}`")]
    Caught {
        rule: String,
        example: String,
        by: String,
    },
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Pack {
    #[serde(default)]
    groups: BTreeMap<String, String>,
    #[serde(default)]
    typos: Typos,
    #[serde(default, rename = "rule")]
    pub(super) rules: Vec<PackRule>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Typos {
    /// Words that are recognised even with a typo; each entry has several, separated by blanks.
    #[serde(default)]
    forgive: Vec<String>,
    /// Real words that differ by one letter from a word in `forgive`. They are never corrected.
    #[serde(default)]
    real: Vec<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PackRule {
    pub(super) id: String,
    pub(super) layer: Layer,
    pub(super) intent: String,
    #[serde(default)]
    pub(super) language: Option<Language>,
    /// The rule's language (BCP 47, such as `zh`) if the pack has only safety layers in that
    /// language; `None` for any other rule.
    #[serde(default)]
    pub(super) safety_language: Option<String>,
    #[serde(default)]
    pattern: Patterns,
    /// Patterns that cancel the rule's match when they match too.
    #[serde(default)]
    unless: Patterns,
    /// Whether a match is always a hit. For other rules, the classifier may find that the text does
    /// not belong to the layer (D20).
    #[serde(default)]
    pub(super) certain: bool,
    /// Whether the rule describes ordinary wording. A match is then no hit, and stops the
    /// classifier from finding this layer (D20). Not allowed for urgent layers.
    #[serde(default)]
    pub(super) spares: bool,
    #[serde(default)]
    pub(super) shape: Option<super::shapes::Shape>,
    #[serde(default)]
    pub(super) matches: Vec<String>,
    #[serde(default)]
    pub(super) passes: Vec<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
enum Patterns {
    One(String),
    Several(Vec<String>),
}

impl Default for Patterns {
    fn default() -> Self {
        Self::Several(Vec::new())
    }
}

impl Patterns {
    fn iter(&self) -> impl Iterator<Item = &str> {
        match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::Several(several) => several,
        }
        .iter()
        .map(String::as_str)
    }
}

impl PackRule {
    /// Returns whether a match is a hit whatever the classifier finds. Every rule of a safety
    /// language is certain, because the classifier knows only English and Spanish.
    pub(super) fn is_certain(&self) -> bool {
        self.certain || self.safety_language.is_some()
    }
}

impl Pack {
    pub(super) fn parse(source: &str) -> Result<Self, Error> {
        let pack: Self = toml::from_str(source)?;
        for (at, rule) in pack.rules.iter().enumerate() {
            if pack.rules[..at].iter().any(|other| other.id == rule.id) {
                return Err(Error::Twice(rule.id.clone()));
            }
            let grave = matches!(
                rule.layer,
                Layer::Crisis | Layer::Emergency | Layer::ResponsibleGaming
            );
            if rule.spares && grave {
                return Err(Error::Spares(rule.id.clone()));
            }
            if rule.shape.is_none() && rule.pattern.iter().next().is_none() {
                return Err(Error::Empty(rule.id.clone()));
            }
        }
        Ok(pack)
    }

    /// Adds the patterns of every rule to the builder, in the order of the file.
    pub(super) fn add_to<'a>(&'a self, builder: &mut Builder<'a>) -> Result<(), Error> {
        let groups = Groups::new(
            self.groups
                .iter()
                .map(|(name, list)| (name.as_str(), list.as_str())),
        );
        let read = |rule: &'a PackRule, patterns: &'a Patterns| {
            let patterns = patterns.iter().map(|pattern| {
                groups.pattern(pattern).map_err(|problem| Error::Rule {
                    rule: format!("{}` in `{pattern}", rule.id),
                    problem,
                })
            });
            patterns.collect::<Result<Vec<_>, _>>()
        };
        for rule in &self.rules {
            builder.add(&Rule {
                patterns: read(rule, &rule.pattern)?,
                unless: read(rule, &rule.unless)?,
            });
        }
        builder.forgive(self.forgiven(), self.real());
        Ok(())
    }

    fn forgiven(&self) -> impl Iterator<Item = &str> {
        self.typos
            .forgive
            .iter()
            .flat_map(|line| line.split_whitespace())
    }

    fn real(&self) -> impl Iterator<Item = &str> {
        self.typos
            .real
            .iter()
            .flat_map(|line| line.split_whitespace())
    }
}
