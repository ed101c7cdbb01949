//! Tells English from Spanish by short common words (SMS-24, CONV-40, C-28).

use std::collections::HashSet;

use seven_domain::Language;
use seven_knowledge::text::words;

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

    /// Returns the language that the guest asks for by name: "prefiero hablar en español".
    pub(crate) fn preferred(&self, said: &Tokens) -> Option<Language> {
        if self.prefer_spanish.found(said) {
            Some(Language::Es)
        } else {
            self.prefer_english.found(said).then_some(Language::En)
        }
    }

    /// Returns the language of the words; `None` when they do not show it ("ok", a name, a number).
    pub(crate) fn detect(&self, text: &str) -> Option<Language> {
        if let Some(asked) = self.preferred(&Tokens::new(text)) {
            return Some(asked);
        }
        let said = words(text);
        let count = |list: &HashSet<String>| said.iter().filter(|w| list.contains(*w)).count();
        let (english, spanish) = (count(&self.english), count(&self.spanish));
        match english.cmp(&spanish) {
            std::cmp::Ordering::Greater => Some(Language::En),
            std::cmp::Ordering::Less => Some(Language::Es),
            std::cmp::Ordering::Equal => text.contains(['ñ', 'Ñ', '¿', '¡']).then_some(Language::Es),
        }
    }

    /// Chooses the language of the newest text that shows one, else of the profile, else English.
    pub(crate) fn choose(&self, texts: &[String], stored: Option<Language>) -> Language {
        texts.iter().rev().find_map(|text| self.detect(text)).or(stored).unwrap_or_default()
    }
}
