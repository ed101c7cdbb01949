//! A pack's declaration of its content categories. `item/read.rs` always checks the eight
//! categories that the code knows, declared or not. Any other category that is not declared may
//! have any fields.

use std::{collections::BTreeMap, fmt};

use chrono::{DateTime, NaiveDate};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Category, Item, Problem, WeeklyHours};

/// A pack's categories by name; empty if the pack declares none.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Categories(BTreeMap<String, Schema>);

/// The details that an item of one category may or must have.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Schema {
    pub fields: BTreeMap<String, Field>,
    /// Whether an item may also have fields that are not declared.
    pub more: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Field {
    pub kind: Kind,
    #[serde(default)]
    pub required: bool,
    /// The only texts allowed, with this letter case; empty if any text is allowed.
    #[serde(default)]
    pub one_of: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Text,
    /// A number of at least 0.
    Number,
    /// Dollars as a number, or words such as "from $15".
    Price,
    Flag,
    /// A list of texts.
    List,
    /// Opening hours as `Daily 7am-2am`.
    Hours,
    /// A day as `2026-12-31`.
    Date,
    /// A day and an hour as `2026-12-31 20:00`, on the property's clock.
    Moment,
}

// === impl Categories ===

impl Categories {
    pub fn get(&self, category: &Category) -> Option<&Schema> {
        self.0.get(category.as_str())
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Returns every way in which an item violates its category's declaration.
    pub fn problems(&self, item: &Item) -> Vec<Problem> {
        let Some(schema) = self.get(&item.category) else {
            return Vec::new();
        };
        let value = item.to_json();
        let empty = Map::new();
        schema.problems(
            value
                .get("details")
                .and_then(Value::as_object)
                .unwrap_or(&empty),
        )
    }
}

// === impl Schema ===

impl Schema {
    fn problems(&self, details: &Map<String, Value>) -> Vec<Problem> {
        let said = |name: &String| details.get(name).filter(|value| !is_blank(value));
        let mut problems: Vec<Problem> = Vec::new();
        for (name, field) in &self.fields {
            match said(name) {
                Some(value) if !field.allows(value) => {
                    let shown: String = value.to_string().chars().take(40).collect();
                    problems.push(problem(
                        name,
                        format!("is {shown}"),
                        format!("write {field}"),
                    ));
                }
                None if field.required => {
                    problems.push(problem(name, "is missing".into(), format!("write {field}")));
                }
                _ => {}
            }
        }
        if !self.more {
            let known: Vec<&str> = self.fields.keys().map(String::as_str).collect();
            let strays = details
                .keys()
                .filter(|name| !self.fields.contains_key(*name));
            let stray = |name: &String| {
                problem(
                    name,
                    "is no field here".into(),
                    format!("use: {}", known.join(", ")),
                )
            };
            problems.extend(strays.map(stray));
        }
        problems
    }
}

/// Returns true for null and for blank text, because a blank cell of a spreadsheet means no value.
fn is_blank(value: &Value) -> bool {
    value.is_null() || value.as_str().is_some_and(|text| text.trim().is_empty())
}

fn problem(field: &str, problem: String, fix: String) -> Problem {
    Problem {
        field: format!("details.{field}"),
        problem,
        fix,
    }
}

// === impl Field ===

impl Field {
    fn allows(&self, value: &Value) -> bool {
        let of_kind = match self.kind {
            Kind::Text => value.is_string() || value.is_number(),
            Kind::Number => value.as_f64().is_some_and(|number| number >= 0.0),
            Kind::Price => value.is_string() || value.as_f64().is_some_and(|number| number >= 0.0),
            Kind::Flag => value.is_boolean(),
            Kind::List => value
                .as_array()
                .is_some_and(|list| list.iter().all(Value::is_string)),
            Kind::Hours => WeeklyHours::from_json(value).is_ok(),
            Kind::Date => value
                .as_str()
                .is_some_and(|text| text.trim().parse::<NaiveDate>().is_ok()),
            Kind::Moment => value
                .as_str()
                .is_some_and(|text| DateTime::parse_from_rfc3339(text.trim()).is_ok()),
        };
        let listed =
            |text: &str| self.one_of.is_empty() || self.one_of.iter().any(|one| one == text);
        of_kind
            && match value {
                Value::String(text) => listed(text.trim()),
                Value::Array(list) => list
                    .iter()
                    .filter_map(Value::as_str)
                    .all(|text| listed(text.trim())),
                _ => true,
            }
    }
}

/// Writes what a person should enter in the field.
impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.one_of.is_empty() {
            return write!(f, "one of: {}", self.one_of.join(", "));
        }
        f.write_str(match self.kind {
            Kind::Text => "text in quotes",
            Kind::Number => "a number of 0 or more, without quotes",
            Kind::Price => "dollars as a number, or words such as \"from $15\"",
            Kind::Flag => "true or false",
            Kind::List => "a list of texts, such as [\"vegan\", \"gluten-free\"]",
            Kind::Hours => "hours such as `Daily 7am-2am` or `24 hours`",
            Kind::Date => "a day such as 2026-12-31",
            Kind::Moment => "a day and an hour such as 2026-12-31 20:00",
        })
    }
}

#[cfg(test)]
mod tests {
    use chrono::{TimeZone, Utc};
    use serde_json::json;

    use super::*;
    use crate::{Reference, parse_content_of};

    fn declared() -> Categories {
        serde_json::from_value(json!({
            "berths": {"fields": {
                "length": {"kind": "number", "required": true},
                "price": {"kind": "price", "required": true},
                "power": {"kind": "text", "one_of": ["30 A", "50 A"]},
                "gate": {"kind": "hours"},
                "water": {"kind": "flag"},
                "for": {"kind": "list", "one_of": ["sail", "motor"]},
            }},
            "dining": {"fields": {"location": {"kind": "text", "required": true}}, "more": true},
        }))
        .unwrap()
    }

    fn problems(category: &str, details: &Value) -> Vec<String> {
        let item = json!([{
            "id": "a",
            "category": category,
            "name": "A",
            "description": "A.",
            "details": details,
        }]);
        let now = Utc.with_ymd_and_hms(2026, 3, 6, 17, 0, 0).unwrap();
        let reference = Reference {
            now,
            zone: chrono_tz::America::New_York,
        };
        let read = parse_content_of("c.json", &item.to_string(), reference, &declared());
        read.err()
            .unwrap_or_default()
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    #[test] // CMS-11, CMS-24, SUP-3
    fn a_declared_category_is_checked_field_by_field() {
        let good = json!({
            "length": 40,
            "price": "from $3 a foot",
            "power": "30 A",
            "gate": "Daily 7am-9pm",
            "water": true,
            "for": ["sail"],
        });
        assert_eq!(problems("berths", &good), Vec::<String>::new());
        for (field, value, says) in [
            (
                "length",
                json!("long"),
                "details.length: is \"long\"; write a number",
            ),
            (
                "length",
                json!(null),
                "details.length: is missing; write a number",
            ),
            (
                "price",
                json!("  "),
                "details.price: is missing; write dollars",
            ),
            ("price", json!(-1), "details.price: is -1"),
            ("power", json!("30 a"), "write one of: 30 A, 50 A"),
            ("gate", json!("when it suits"), "hours such as"),
            ("water", json!("yes"), "true or false"),
            ("for", json!(["sail", "oars"]), "one of: sail, motor"),
            (
                "colour",
                json!("red"),
                "details.colour: is no field here; use: for, gate, length, power, price, water",
            ),
        ] {
            let mut details = good.clone();
            details[field] = value;
            let found = problems("berths", &details);
            assert!(
                found.len() == 1 && found[0].contains(says),
                "{field}: {found:?}"
            );
        }
    }

    #[test] // RAG-16
    fn others_stay_free_and_known_forms_are_asked_for_more() {
        assert_eq!(
            problems("parking", &json!({"levels": 4, "colour": "red"})),
            Vec::<String>::new()
        );
        let dining = json!({"cuisine_type": "Italian", "price_range": "$", "hours": "24 hours"});
        assert_eq!(
            problems("dining", &dining),
            ["c.json:1:details.location: is missing; write text in quotes"]
        );
        let found = problems("dining", &json!({"location": "Pier"}));
        assert!(
            found.len() == 3 && found[0].contains("cuisine_type"),
            "{found:?}"
        );
    }
}
