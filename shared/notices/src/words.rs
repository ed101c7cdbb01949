//! The fixed texts of notices, in English and Spanish, from the files in `words/`.

use std::{collections::BTreeMap, sync::LazyLock};

use seven_domain::Language;

type Table = BTreeMap<String, String>;

static ENGLISH: LazyLock<Table> = LazyLock::new(|| read(include_str!("../words/en.toml")));
static SPANISH: LazyLock<Table> = LazyLock::new(|| read(include_str!("../words/es.toml")));

fn read(text: &str) -> Table {
    toml::from_str(text).unwrap_or_default()
}

/// The fixed texts in one language.
#[derive(Debug, Clone, Copy)]
pub struct Words(pub Language);

impl Words {
    /// Returns the text under this key. If there is none, returns the key itself. A test checks
    /// that both languages have the same keys.
    pub fn t(self, key: &str) -> String {
        self.find(key).unwrap_or(key).to_owned()
    }

    fn find(self, key: &str) -> Option<&'static str> {
        let table: &'static Table = match self.0 {
            Language::Es => &SPANISH,
            Language::En => &ENGLISH,
        };
        table.get(key).map(String::as_str)
    }
}

/// Returns the reason of a case in words for people. If the reason has no text, returns its name
/// with spaces for underscores.
pub fn reason_name(language: Language, reason: &str) -> String {
    let named = Words(language).find(&format!("reason_{reason}"));
    named.map_or_else(|| reason.replace('_', " "), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_languages_have_the_same_keys_and_no_text_is_empty() {
        let keys = |table: &Table| table.keys().cloned().collect::<Vec<_>>();
        assert_eq!(keys(&ENGLISH), keys(&SPANISH));
        assert!(ENGLISH.len() > 30);
        let mut texts = ENGLISH.values().chain(SPANISH.values());
        assert!(texts.all(|text| !text.trim().is_empty()));
    }

    #[test]
    fn dangers_and_wishes_have_names_in_both_languages() {
        for reason in super::super::DANGERS.iter().chain(&["asks_for_human"]) {
            for language in [Language::En, Language::Es] {
                assert_ne!(reason_name(language, reason), reason.replace('_', " "));
            }
        }
        assert_eq!(reason_name(Language::En, "of_next_year"), "of next year");
    }
}
