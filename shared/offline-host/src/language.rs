//! Tells English from Spanish by short, common words.

use std::collections::HashSet;

use seven_domain::Language;
use seven_text::words;

use super::{
    pack::LanguageFile,
    phrases::{Phrases, Tokens},
};

#[derive(Debug, Clone)]
pub(crate) struct Tongue {
    english: HashSet<String>,
    spanish: HashSet<String>,
    prefer_english: Phrases,
    prefer_spanish: Phrases,
}

impl Tongue {
    pub(crate) fn new(file: &LanguageFile) -> Self {
        Self {
            english: words(&file.en).into_iter().collect(),
            spanish: words(&file.es).into_iter().collect(),
            prefer_english: Phrases::new(&file.prefer.en),
            prefer_spanish: Phrases::new(&file.prefer.es),
        }
    }

    /// Returns the language that the guest asks for, as in "prefiero hablar en español".
    pub(crate) fn preferred(&self, said: &Tokens) -> Option<Language> {
        if self.prefer_spanish.found(said) {
            Some(Language::Es)
        } else {
            self.prefer_english.found(said).then_some(Language::En)
        }
    }

    /// Returns the language of the text; `None` if its words do not show it ("ok", a name, a
    /// number).
    pub(crate) fn detect(&self, text: &str) -> Option<Language> {
        if let Some(asked) = self.preferred(&Tokens::new(text)) {
            return Some(asked);
        }
        match self.margin(text).cmp(&0) {
            std::cmp::Ordering::Greater => Some(Language::En),
            std::cmp::Ordering::Less => Some(Language::Es),
            std::cmp::Ordering::Equal => {
                text.contains(['ñ', 'Ñ', '¿', '¡']).then_some(Language::Es)
            }
        }
    }

    /// Returns the language of the newest text that shows one, else the profile's, else English.
    pub(crate) fn choose(&self, texts: &[String], stored: Option<Language>) -> Language {
        let shown = texts.iter().rev().find_map(|text| {
            let language = self.detect(text)?;
            let sure = self.preferred(&Tokens::new(text)).is_some()
                || self.margin(text).unsigned_abs() >= SURE_MARGIN;
            (stored.is_none() || stored == Some(language) || sure).then_some(language)
        });
        shown.or(stored).unwrap_or_default()
    }

    /// Returns how many more English than Spanish words the text has.
    fn margin(&self, text: &str) -> isize {
        let said = words(text);
        let count = |list: &HashSet<String>| said.iter().filter(|w| list.contains(*w)).count();
        count(&self.english).cast_signed() - count(&self.spanish).cast_signed()
    }
}

/// A text changes the stored language only if it has at least this many more words of the other
/// language.
const SURE_MARGIN: usize = 2;
