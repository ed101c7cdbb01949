//! The reasons why a pack is refused. A retry cannot help, because the pack's files stay as they
//! are.

use crate::TextKey;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("the pack `{name}`")]
    Pack {
        name: String,
        #[source]
        source: Box<Error>,
    },
    #[error("two packs are called `{0}`; give one folder another name")]
    Twice(String),
    #[error("reading {file} of the pack")]
    File {
        file: &'static str,
        #[source]
        source: toml::de::Error,
    },
    #[error("agents.toml of the pack")]
    Agents(#[from] seven_host::manifest::Problem),
    #[error("prompts of the pack")]
    Prompts(#[from] seven_host::prompt::PromptProblem),
    #[error("guardrails.toml of the pack")]
    Guardrails(#[from] seven_compliance::guardrails::Error),
    #[error("guardrails.toml of the pack has no rule of the layer `{0}`, which every pack needs")]
    Unguarded(&'static str),
    #[error("texts.toml of the pack has no `{key}`", key = .0.as_str())]
    Missing(TextKey),
    #[error("texts.toml of the pack: `{key}` {why}", key = .key.as_str())]
    Text { key: TextKey, why: String },
    #[error(
        "the pack speaks `{language}` in its safety layers: {file} has no {what} for `{layer}` in it"
    )]
    NoSafetyText {
        language: String,
        layer: &'static str,
        file: &'static str,
        what: &'static str,
    },
    #[error("`{0}` is not among the safety_languages of rules.toml")]
    NotSafetyLanguage(String),
    #[error("rules.toml of the pack: {0}")]
    Rule(&'static str),
    #[error("rendering `{key}` ({language})", key = .key.as_str())]
    Template {
        key: TextKey,
        language: String,
        #[source]
        source: minijinja::Error,
    },
    #[error("rendering a text of the casino's own")]
    Own(#[source] minijinja::Error),
}
