//! Why a pack was refused. A pack is data that ships with the program: none of these goes away by trying again.

use seven_domain::Language;

use crate::TextKey;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("reading {file} of the pack")]
    File {
        file: &'static str,
        #[source]
        source: toml::de::Error,
    },
    #[error("texts.toml of the pack has no `{key}`", key = .0.as_str())]
    Missing(TextKey),
    #[error("rules.toml of the pack: {0}")]
    Rule(&'static str),
    #[error("rendering `{key}` ({language})", key = .key.as_str(), language = .language.as_str())]
    Template {
        key: TextKey,
        language: Language,
        #[source]
        source: minijinja::Error,
    },
    #[error("rendering a text of the casino's own")]
    Own(#[source] minijinja::Error),
}
