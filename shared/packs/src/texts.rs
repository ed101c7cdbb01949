//! System texts: the fixed texts that a guest gets when no agent writes. The pack has their
//! wording.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::Arc,
};

use minijinja::{Environment, UndefinedBehavior, context};
use serde::Deserialize;
use seven_domain::{Language, MessageClass};

use crate::{Error, law, text_key::TextKey};

/// The values that a text may mention. No text exceeds its maximum number of segments if the values
/// have at most these lengths in characters: casino 24, phone 16, persona 10, helplines 16 each,
/// guest 16, topic 40.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slots<'a> {
    pub casino: &'a str,
    pub phone: &'a str,
    pub persona: &'a str,
    /// The national helpline for problem gambling; empty if the trade has none.
    pub helpline: &'a str,
    /// The state's helpline; empty if there is none.
    pub state_helpline: &'a str,
    pub min_age: u8,
    /// The guest's name, at most 16 characters; empty if it is unknown.
    pub guest: &'a str,
    /// The subject discussed last, at most 40 characters; empty if it must not be mentioned.
    pub topic: &'a str,
}

/// A pack's system texts, each rendered once as a check. Cheap to clone.
#[derive(Clone)]
pub struct Texts(Arc<Inner>);

struct Inner {
    classes: BTreeMap<TextKey, (MessageClass, usize)>,
    /// For each text, the languages that it has besides English and Spanish.
    others: BTreeMap<TextKey, BTreeSet<String>>,
    templates: Environment<'static>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    class: MessageClass,
    /// Maximum number of segments of the text if every slot has its maximum length.
    #[serde(default = "one")]
    segments: usize,
    en: String,
    es: String,
    /// The text in each safety language, by the language's BCP 47 name.
    #[serde(default)]
    others: BTreeMap<String, String>,
}

fn one() -> usize {
    1
}

/// The maximum number of instructions that a template may execute. It is enough for a text of two
/// segments, but ends a very long loop in an operator's template.
const FUEL: u64 = 10_000;

// === impl Texts ===

impl Texts {
    /// Reads a pack's texts. Each text must exist in English and Spanish, and may use only known
    /// slots. A key may be missing only if it belongs to a layer that the pack may leave out.
    pub fn parse(source: &str) -> Result<Self, Error> {
        let entries: BTreeMap<TextKey, Entry> =
            toml::from_str(source).map_err(|source| Error::File {
                file: "texts.toml",
                source,
            })?;
        let (mut classes, mut others) = (BTreeMap::new(), BTreeMap::new());
        let mut templates = Environment::new();
        templates.set_undefined_behavior(UndefinedBehavior::Strict);
        templates.set_fuel(Some(FUEL));
        for &key in TextKey::ALL {
            let entry = match entries.get(&key) {
                Some(entry) => entry,
                None if law::may_miss(key) => continue,
                None => return Err(Error::Missing(key)),
            };
            classes.insert(key, (entry.class, entry.segments));
            let own = [("en", &entry.en), ("es", &entry.es)];
            let more = entry
                .others
                .iter()
                .map(|(language, text)| (&**language, text));
            for (language, text) in own.into_iter().chain(more) {
                templates
                    .add_template_owned(template_name(key, language), text.clone())
                    .map_err(|source| Error::Template {
                        key,
                        language: language.to_owned(),
                        source,
                    })?;
            }
            others.insert(key, entry.others.keys().cloned().collect());
        }
        let texts = Self(Arc::new(Inner {
            classes,
            others,
            templates,
        }));
        // Renders every text once, so that `render` cannot fail later.
        let sample = Slots {
            casino: "Casino",
            phone: "1-860-555-0199",
            persona: "Seven",
            helpline: "1-800-555-0100",
            state_helpline: "1-800-555-0101",
            min_age: 21,
            guest: "Ana",
            topic: "Lakeside Grill",
        };
        for &key in texts.0.classes.keys() {
            let mut languages: Vec<&str> = texts.others(key).collect();
            languages.extend(Language::ALL.map(Language::as_str));
            for language in languages {
                texts
                    .try_render(key, language, &sample)
                    .map_err(|source| Error::Template {
                        key,
                        language: language.to_owned(),
                        source,
                    })?;
            }
        }
        Ok(texts)
    }

    pub fn render(&self, key: TextKey, language: Language, slots: &Slots<'_>) -> String {
        self.try_render(key, language.as_str(), slots)
            .expect("every text was rendered once when the pack was read")
    }

    /// Renders a text in a safety language; `None` if the text does not exist in that language.
    pub fn render_safety(&self, key: TextKey, language: &str, slots: &Slots<'_>) -> Option<String> {
        let known = self.others(key).any(|other| other == language);
        known.then(|| self.try_render(key, language, slots).ok())?
    }

    /// Returns the languages that the text has besides English and Spanish.
    pub(crate) fn others(&self, key: TextKey) -> impl Iterator<Item = &str> {
        let others = self.0.others.get(&key).into_iter().flatten();
        others.map(String::as_str)
    }

    /// Returns whether the pack has this text.
    pub fn has(&self, key: TextKey) -> bool {
        self.0.classes.contains_key(&key)
    }

    /// Returns whether the text mentions the slot, in English or Spanish.
    pub(crate) fn mentions(&self, key: TextKey, slot: &str) -> bool {
        Language::ALL.into_iter().any(|language| {
            let name = template_name(key, language.as_str());
            let template = self.0.templates.get_template(&name);
            template.is_ok_and(|template| template.undeclared_variables(false).contains(slot))
        })
    }

    /// Renders a casino's own text, such as `prompts.fallback_message`. The text may use the same
    /// slots and as many instructions as the pack's texts.
    pub fn render_own(&self, template: &str, slots: &Slots<'_>) -> Result<String, Error> {
        self.0
            .templates
            .render_str(template, slots.context())
            .map_err(Error::Own)
    }

    pub fn class(&self, key: TextKey) -> MessageClass {
        self.0.classes[&key].0
    }

    /// Returns the maximum number of segments that the text may take, whatever its slots contain.
    pub fn most_segments(&self, key: TextKey) -> usize {
        self.0.classes[&key].1
    }

    fn try_render(
        &self,
        key: TextKey,
        language: &str,
        slots: &Slots<'_>,
    ) -> Result<String, minijinja::Error> {
        self.0
            .templates
            .get_template(&template_name(key, language))?
            .render(slots.context())
    }
}

fn template_name(key: TextKey, language: &str) -> String {
    // The template engine looks at the end of the name to decide whether to escape HTML; `.txt`
    // turns escaping off.
    format!("{}.{language}.txt", key.as_str())
}

// === impl Slots ===

impl Slots<'_> {
    fn context(&self) -> minijinja::Value {
        context! {
            casino => self.casino, phone => self.phone, persona => self.persona,
            helpline => self.helpline, state_helpline => self.state_helpline,
            min_age => self.min_age,
            guest => self.guest, topic => self.topic,
        }
    }
}

impl fmt::Debug for Texts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Texts")
            .field("classes", &self.0.classes)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
