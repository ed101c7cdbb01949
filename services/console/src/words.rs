//! The texts of the pages in English and Spanish, from the files in `words/`.

use std::{collections::BTreeMap, sync::LazyLock};

use seven_content::said;
use seven_domain::Language;

type Table = BTreeMap<String, String>;

static ENGLISH: LazyLock<Table> = LazyLock::new(|| read(include_str!("../words/en.toml")));
static SPANISH: LazyLock<Table> = LazyLock::new(|| read(include_str!("../words/es.toml")));

fn read(text: &str) -> Table {
    toml::from_str(text).unwrap_or_default()
}

/// Gives the texts of the pages in one language.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Words(Language);

impl Words {
    pub(crate) fn of(language: &str) -> Self {
        Self(language.parse().unwrap_or(Language::En))
    }

    /// Chooses the language of pages before the login: Spanish if the browser names it first,
    /// otherwise English.
    pub(crate) fn preferred(accept_language: &str) -> Self {
        let first = accept_language.split([',', ';']).next().unwrap_or_default();
        let spanish = first.trim().to_ascii_lowercase().starts_with("es");
        Self(if spanish { Language::Es } else { Language::En })
    }

    /// Returns the text under this key, or the key itself if there is no text. A test checks that
    /// every key in the templates has a text.
    pub(crate) fn t<'a>(&self, key: &'a str) -> &'a str {
        let table: &'static Table = match self.0 {
            Language::Es => &SPANISH,
            Language::En => &ENGLISH,
        };
        table.get(key).map_or(key, String::as_str)
    }

    /// Returns the text under the key `{kind}_{name}`, such as `role_host`. If there is no text,
    /// returns `name`.
    pub(crate) fn of_kind(&self, kind: &str, name: &str) -> String {
        let key = format!("{kind}_{name}");
        let text = self.t(&key);
        if text == key {
            name.to_owned()
        } else {
            text.to_owned()
        }
    }

    /// Returns the name shown for a guest: the last digits of the phone number or, without a phone,
    /// "visitor of the website".
    pub(crate) fn guest(&self, last_four: Option<&str>) -> String {
        match last_four {
            Some(digits) => format!("{} {digits}", self.t("guest_ending")),
            None => self.t("guest_web").to_owned(),
        }
    }

    /// Translates the messages of content checks and guards, one per line.
    pub(crate) fn problem(&self, text: &str) -> String {
        let lines: Vec<_> = text.lines().map(|line| said(self.0, line)).collect();
        lines.join("\n")
    }

    pub(crate) fn language(self) -> Language {
        self.0
    }

    /// Returns the language's code for `<html lang>`.
    pub(crate) fn code(&self) -> &'static str {
        self.0.as_str()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_languages_have_the_same_keys_and_no_text_is_empty() {
        let keys = |table: &Table| table.keys().cloned().collect::<Vec<_>>();
        assert_eq!(keys(&ENGLISH), keys(&SPANISH));
        assert!(ENGLISH.len() > 50);
        let mut texts = ENGLISH.values().chain(SPANISH.values());
        assert!(texts.all(|text| !text.trim().is_empty()));
    }

    #[test]
    fn every_key_that_a_template_names_exists() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/templates");
        let mut named = 0;
        for file in std::fs::read_dir(folder).unwrap() {
            let path = file.unwrap().path();
            let text = std::fs::read_to_string(&path).unwrap();
            assert!(
                !text.contains("|safe") && !text.contains("| safe"),
                "{path:?}"
            );
            for key in text
                .split(".t(\"")
                .skip(1)
                .filter_map(|rest| rest.split('"').next())
            {
                assert!(ENGLISH.contains_key(key), "{path:?}: {key}");
                named += 1;
            }
        }
        assert!(named > 40, "{named}");
    }

    #[test]
    fn a_browser_that_prefers_spanish_gets_spanish() {
        for (accept, code) in [
            ("es-MX,es;q=0.9,en;q=0.8", "es"),
            ("en-US,es;q=0.9", "en"),
            ("fr", "en"),
            ("", "en"),
        ] {
            assert_eq!(Words::preferred(accept).code(), code, "{accept}");
        }
    }
}
