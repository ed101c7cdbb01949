//! get_guest_profile and update_guest_profile.

use std::fmt;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value as Json, json};
use seven_guest::{
    Key, Merged, Value,
    profile::{Kind, home_of_target},
};

use crate::{
    Effect, Toolbox,
    fault::{Answer, Fault, arguments},
};

/// Maximum length of a value, in characters. A longer text is not a name, a taste or an occasion.
const MOST_CHARACTERS: usize = 80;
const MOST_ITEMS: usize = 10;
const MOST_PEOPLE: i64 = 100;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Nothing {}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// Name of the field: name, email, visit_date, party_size, occasion, dietary_restrictions,
    /// cuisine_preferences, budget_range, interests, accessibility_needs, preferred_games,
    /// gaming_level, loyalty_tier, visit_frequency, spa_preferences, date_preferences.
    field: String,
    /// In the guest's own words; a date as 2026-12-25, several things as a list.
    value: SentValue,
}

/// A value as a model sends it.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum SentValue {
    Flag(bool),
    Number(i64),
    Text(String),
    List(Vec<String>),
}

impl fmt::Debug for Arguments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Arguments(..)")
    }
}

impl Toolbox<'_> {
    pub(crate) fn get_guest_profile(&mut self, given: &Json) -> Answer {
        let Nothing {} = arguments(given)?;
        let context = self.profile.context(self.given.now);
        let doubtful: Vec<&str> = context
            .facts
            .iter()
            .filter(|fact| fact.doubtful)
            .map(|fact| fact.path.as_str())
            .collect();
        Ok(json!({
            "known": context.to_json(),
            "ask_again": doubtful,
            "completeness_percent": self.completeness(),
        }))
    }

    pub(crate) fn update_guest_profile(&mut self, given: &Json) -> Answer {
        let Arguments { field, value } = arguments(given)?;
        let key = key(&field)?;
        let value = value
            .of(key.kind())
            .and_then(|value| fits(key, value))
            .ok_or_else(|| unfit(key))?;
        let Some(grant) = self.guest.grant else {
            return Err(Fault::new(
                "no_consent",
                "the guest has not agreed that this is kept",
                "go on without storing it",
            ));
        };
        let Some(seen) = self.said(key, &value, grant) else {
            let fix = "store only what the guest just wrote, in the guest's words; else ask";
            return Err(Fault::new(
                "not_said",
                "the guest's new texts do not say this",
                fix,
            ));
        };
        if self.is_known(key, &value) {
            return Ok(json!({"field": key.path(), "stored": "known"}));
        }
        let merged = self.profile.observe(seen.clone());
        let stored = match merged {
            Merged::Added => "added",
            Merged::Confirmed => "confirmed",
            Merged::Extended => "extended",
            Merged::Replaced => "replaced",
            // The old value stays until a person has decided.
            Merged::Contradicted => "contradicts",
            Merged::Stale => {
                return Err(Fault::new(
                    "stale",
                    "something newer is known",
                    "nothing to do",
                ));
            }
            Merged::Withdrawn => {
                return Err(Fault::new(
                    "no_consent",
                    "the guest took the consent for this back",
                    "go on without storing it",
                ));
            }
            Merged::Refused => return Err(unfit(key)),
        };
        self.effects.push(Effect::Observe(seen));
        Ok(json!({"field": key.path(), "stored": stored}))
    }

    /// Returns whether the profile already has the value. Extraction has read the guest's texts
    /// before the turn, and the same words must not confirm a value twice.
    fn is_known(&self, key: Key, value: &Value) -> bool {
        match (self.profile.seen(key, self.given.now), value) {
            (Some(Value::List(known)), Value::List(items)) => {
                let known: Vec<String> = known
                    .iter()
                    .map(|item| item.trim().to_lowercase())
                    .collect();
                items
                    .iter()
                    .all(|item| known.contains(&item.trim().to_lowercase()))
            }
            (Some(known), value) => known.agrees(value),
            (None, _) => false,
        }
    }
}

// === impl SentValue ===

impl SentValue {
    fn of(self, kind: Kind) -> Option<Value> {
        Some(match (kind, self) {
            (Kind::Bool, Self::Flag(flag)) => Value::Bool(flag),
            (Kind::Int, Self::Number(number)) => Value::Int(number),
            (Kind::Int, Self::Text(text)) => Value::Int(text.trim().parse().ok()?),
            (Kind::Date, Self::Text(text)) => Value::Date(text.trim().parse().ok()?),
            (Kind::Text, Self::Text(text)) => Value::Text(plain(&text)?),
            (Kind::Text, Self::Number(number)) => Value::Text(number.to_string()),
            (Kind::List, Self::Text(text)) => Value::list([plain(&text)?]),
            (Kind::List, Self::List(items)) if (1..=MOST_ITEMS).contains(&items.len()) => {
                Value::List(
                    items
                        .iter()
                        .map(|item| plain(item))
                        .collect::<Option<_>>()?,
                )
            }
            _ => return None,
        })
    }
}

/// Returns the trimmed text if it is a short phrase. Returns `None` if it has characters that could
/// be markup, code or part of a prompt.
fn plain(text: &str) -> Option<String> {
    let text = text.trim();
    let harmless = |c: char| c.is_alphanumeric() || " '’.,:;@+-_&/$%()!?#".contains(c);
    let short = (1..=MOST_CHARACTERS).contains(&text.chars().count());
    (short && text.chars().all(harmless)).then(|| text.to_owned())
}

fn fits(key: Key, value: Value) -> Option<Value> {
    let fits = match (key, &value) {
        (Key::PartySize, Value::Int(people)) => (1..=MOST_PEOPLE).contains(people),
        (Key::Name | Key::FullName, Value::Text(name)) => {
            name.split_whitespace().count() <= 4
                && name
                    .chars()
                    .all(|c| c.is_alphabetic() || " '’.-".contains(c))
        }
        _ => key.kind().accepts(&value),
    };
    fits.then_some(value)
}

/// Finds a key of the profile by the name that agents use for it, or by its path.
fn key(field: &str) -> Result<Key, Fault> {
    let name = field.trim().to_lowercase().replace([' ', '-'], "_");
    let path = home_of_target(&name).unwrap_or(&name);
    if path.starts_with("companions") {
        let fix = "nothing to do: who comes along is read from the guest's texts by itself";
        return Err(Fault::new(
            "read_by_itself",
            "companions are not stored by this tool",
            fix,
        ));
    }
    match Key::at(path) {
        Some(Key::Language) => Err(Fault::new(
            "read_by_itself",
            "the language is not stored by this tool",
            "nothing to do: it is detected",
        )),
        Some(key) => Ok(key),
        None => Err(Fault::new(
            "unknown_field",
            "a profile has no such field",
            "use one of the fields that the schema names",
        )),
    }
}

fn unfit(key: Key) -> Fault {
    let fix = match key.kind() {
        Kind::Text => "send a short text",
        Kind::Int => "send a whole number, at least 1",
        Kind::Bool => "send true or false",
        Kind::Date => "send a date as 2026-12-25",
        Kind::List => "send a list of short texts",
    };
    Fault::new(
        "bad_value",
        format!("this is no value of {}", key.path()),
        fix,
    )
}
