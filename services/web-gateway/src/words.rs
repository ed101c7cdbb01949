//! The texts of streams and pages that are not replies of the host, in English and Spanish.

use std::{collections::BTreeMap, sync::LazyLock};

use serde::Deserialize;
use seven_domain::Language;

static ENGLISH: LazyLock<Words> = LazyLock::new(|| read(include_str!("../words/en.toml")));
static SPANISH: LazyLock<Words> = LazyLock::new(|| read(include_str!("../words/es.toml")));

/// The texts in one language.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Words {
    pub(crate) status_reading: String,
    pub(crate) status_searching: String,
    pub(crate) status_waiting: String,
    /// Says that the conversation waits for a person and the host does not answer.
    pub(crate) waiting: String,
    /// Says that the message gets no answer, because it was empty or the guest sent too many.
    pub(crate) not_answered: String,
    pub(crate) slow: String,
    /// The text beside the number of a ticket that waits for a person.
    pub(crate) ticket: String,
    pub(crate) page_title: String,
    pub(crate) page_intro: String,
    pub(crate) page_suggestions: String,
    /// Names of the subjects that the host knows, by category of the content.
    pub(crate) categories: BTreeMap<String, String>,
    /// Suggested first questions, by category.
    pub(crate) suggestions: BTreeMap<String, String>,
}

impl Words {
    pub(crate) fn of(language: Language) -> &'static Self {
        match language {
            Language::En => &ENGLISH,
            Language::Es => &SPANISH,
        }
    }
}

/// Returns the language that a browser prefers: Spanish if it comes first, else English.
pub(crate) fn preferred(accept_language: &str) -> Language {
    let first = accept_language.split([',', ';']).next().unwrap_or_default();
    match first.trim().to_ascii_lowercase().starts_with("es") {
        true => Language::Es,
        false => Language::En,
    }
}

fn read(text: &str) -> Words {
    toml::from_str(text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_languages_have_all_words() {
        for language in Language::ALL {
            assert_ne!(Words::of(language), &Words::default(), "{language}");
        }
        assert_ne!(Words::of(Language::En), Words::of(Language::Es));
        for (header, language) in [
            ("es-MX,es;q=0.9,en;q=0.8", Language::Es),
            ("ES", Language::Es),
            ("en-US,es;q=0.9", Language::En),
            ("", Language::En),
        ] {
            assert_eq!(preferred(header), language, "{header}");
        }
    }
}
