//! Checks that the guest said the value that a model wants to store. That is so if extraction found
//! the value, or if the value's words occur in a text.

use seven_guest::{
    Confidence, Grant, Key, Observation, Setting, Source, Value, extract,
    extract::{Observed, observations},
};
use seven_text::{stem, words};

use crate::Toolbox;

/// Confidence of a value that a model extracted although no rule did. The value's words occur in a
/// text.
const READ: Confidence = Confidence::percent(70);

impl Toolbox<'_> {
    /// Returns the observation that supports this value, if the guest's new texts say it.
    pub(crate) fn said(&self, key: Key, value: &Value, grant: &Grant) -> Option<Observation<Key>> {
        let extracted = self.extracted(key, grant);
        if let Some(seen) = agreeing(&extracted, value) {
            return Some(Observation {
                value: value.clone(),
                ..seen.clone()
            });
        }
        let stands = match (key, value) {
            // These values are easily misread, so they are accepted only if a rule extracted them.
            (Key::Email | Key::VisitDate | Key::VisitEnd, _) => false,
            (_, Value::Text(text)) => self.stands(text),
            (_, Value::List(items)) => {
                let read = |item: &String| agreeing(&extracted, &Value::list([item])).is_some();
                !items.is_empty() && items.iter().all(|item| read(item) || self.stands(item))
            }
            (_, Value::Int(number)) => self.stands(&number.to_string()),
            (Key::KidsMenu, Value::Bool(true)) => {
                KIDS_MENU.iter().any(|phrase| self.stands(phrase))
            }
            (_, Value::Bool(_) | Value::Date(_)) => false,
        };
        stands.then(|| Observation {
            key,
            value: value.clone(),
            confidence: READ,
            source: Source::ContextualExtraction,
            at: self.given.now,
            grant: grant.clone(),
            correction: false,
        })
    }

    fn extracted(&self, key: Key, grant: &Grant) -> Vec<Observation<Key>> {
        let setting = Setting {
            now: self.given.now,
            zone: self.zone(),
            language: self.given.language,
            asked: self.guest.profile.engagement.last_profiling_topic,
        };
        let read = |text: &String| observations(&extract(text, &setting), self.given.now, grant);
        let fields = self
            .guest
            .texts
            .iter()
            .flat_map(read)
            .filter_map(|seen| match seen {
                Observed::Field(seen) => Some(seen),
                Observed::Companion(_) | Observed::Group(..) => None,
            });
        fields.filter(|seen| seen.key == key).collect()
    }

    /// Returns true if one of the guest's texts contains the phrase: the same words, in this order,
    /// with nothing between them.
    fn stands(&self, phrase: &str) -> bool {
        let stems = |text: &str| {
            words(text)
                .iter()
                .map(|word| stem(word))
                .collect::<Vec<_>>()
        };
        let wanted = stems(phrase);
        !wanted.is_empty()
            && self
                .guest
                .texts
                .iter()
                .any(|text| stems(text).windows(wanted.len()).any(|w| w == wanted))
    }
}

const KIDS_MENU: [&str; 5] = [
    "kids menu",
    "kid menu",
    "children's menu",
    "menu infantil",
    "menu para niños",
];

/// Returns the latest observation of the value. If the value is a list, every item needs an
/// observation; the least certain one is returned.
fn agreeing<'o>(extracted: &'o [Observation<Key>], value: &Value) -> Option<&'o Observation<Key>> {
    let same = |value: &Value| extracted.iter().rev().find(|seen| seen.value.agrees(value));
    match value {
        Value::List(items) => {
            let found: Option<Vec<_>> = items
                .iter()
                .map(|item| same(&Value::list([item])))
                .collect();
            found?.into_iter().min_by_key(|seen| seen.confidence)
        }
        value => same(value),
    }
}
