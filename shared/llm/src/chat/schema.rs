//! Checks replies of models against the part of JSON Schema that we use; not a complete validator.
//!
//! Checks the keywords type, enum, const, properties, required, additionalProperties, items, anyOf,
//! oneOf (as anyOf), allOf, local `$ref`, and the keywords for a minimum or maximum. Ignores all
//! others.

use serde_json::{Map, Value};

use super::{Defect, lenient};

/// The position and the rule of a violation. `at` holds names from the schema, never from the
/// value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    pub at: String,
    pub rule: &'static str,
}

/// Maximum nesting depth. Deeper nesting is a violation, so that a check of circular references
/// ends.
const DEEPEST: usize = 64;

/// Returns the first violation, if any.
pub fn violation(schema: &Value, value: &Value) -> Option<Violation> {
    Checker { root: schema }.check(schema, value, "$", 0).err()
}

/// Parses the JSON of the answer, even if other text surrounds it, and checks it against the
/// schema.
pub(super) fn read(schema: &Value, text: &str) -> Result<Value, Defect> {
    let value = serde_json::from_str(text).or_else(|_| lenient::object(text))?;
    match violation(schema, &value) {
        None => Ok(value),
        Some(Violation { at, rule }) => Err(Defect::Schema { at, rule }),
    }
}

struct Checker<'a> {
    root: &'a Value,
}

type Checked = Result<(), Violation>;

fn require(holds: bool, at: &str, rule: &'static str) -> Checked {
    if holds {
        Ok(())
    } else {
        Err(Violation {
            at: at.to_owned(),
            rule,
        })
    }
}

impl<'a> Checker<'a> {
    fn check(&self, schema: &'a Value, value: &Value, at: &str, depth: usize) -> Checked {
        require(depth < DEEPEST, at, "depth")?;
        let rules = match schema {
            Value::Bool(allowed) => return require(*allowed, at, "false"),
            Value::Object(rules) => rules,
            _ => return Ok(()),
        };
        if let Some(target) = rules.get("$ref").and_then(Value::as_str) {
            let target = target
                .strip_prefix('#')
                .and_then(|pointer| self.root.pointer(pointer));
            let target = target.ok_or_else(|| Violation {
                at: at.to_owned(),
                rule: "$ref",
            })?;
            self.check(target, value, at, depth + 1)?;
        }
        self.kind(rules, value, at)?;
        self.combined(rules, value, at, depth)?;
        match value {
            Value::Object(fields) => self.object(rules, fields, at, depth),
            Value::Array(items) => self.array(rules, items, at, depth),
            Value::Number(_) => number(rules, value, at),
            Value::String(text) => {
                length(rules, text.chars().count(), at, "minLength", "maxLength")
            }
            Value::Null | Value::Bool(_) => Ok(()),
        }
    }

    fn kind(&self, rules: &Map<String, Value>, value: &Value, at: &str) -> Checked {
        let fits = match rules.get("type") {
            Some(Value::String(kind)) => is(kind, value),
            Some(Value::Array(kinds)) => kinds
                .iter()
                .filter_map(Value::as_str)
                .any(|kind| is(kind, value)),
            _ => true,
        };
        require(fits, at, "type")?;
        if let Some(Value::Array(allowed)) = rules.get("enum") {
            require(allowed.contains(value), at, "enum")?;
        }
        rules
            .get("const")
            .map_or(Ok(()), |only| require(only == value, at, "const"))
    }

    fn combined(
        &self,
        rules: &'a Map<String, Value>,
        value: &Value,
        at: &str,
        depth: usize,
    ) -> Checked {
        if let Some(Value::Array(all)) = rules.get("allOf") {
            all.iter()
                .try_for_each(|schema| self.check(schema, value, at, depth + 1))?;
        }
        for word in ["anyOf", "oneOf"] {
            if let Some(Value::Array(any)) = rules.get(word) {
                require(
                    any.iter()
                        .any(|schema| self.check(schema, value, at, depth + 1).is_ok()),
                    at,
                    "anyOf",
                )?;
            }
        }
        Ok(())
    }

    fn object(
        &self,
        rules: &'a Map<String, Value>,
        fields: &Map<String, Value>,
        at: &str,
        depth: usize,
    ) -> Checked {
        let known = rules.get("properties").and_then(Value::as_object);
        for name in rules
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
        {
            require(
                fields.contains_key(name),
                &format!("{at}.{name}"),
                "required",
            )?;
        }
        for (name, value) in fields {
            match known.and_then(|known| known.get(name)) {
                Some(schema) => self.check(schema, value, &format!("{at}.{name}"), depth + 1)?,
                None => match rules.get("additionalProperties") {
                    // The model chose the name of an unknown field, so the error must not repeat
                    // it.
                    Some(Value::Bool(false)) => require(false, at, "additionalProperties")?,
                    Some(schema) => self.check(schema, value, &format!("{at}.*"), depth + 1)?,
                    None => {}
                },
            }
        }
        Ok(())
    }

    fn array(
        &self,
        rules: &'a Map<String, Value>,
        items: &[Value],
        at: &str,
        depth: usize,
    ) -> Checked {
        length(rules, items.len(), at, "minItems", "maxItems")?;
        let Some(schema) = rules.get("items") else {
            return Ok(());
        };
        items
            .iter()
            .enumerate()
            .try_for_each(|(n, item)| self.check(schema, item, &format!("{at}[{n}]"), depth + 1))
    }
}

fn is(kind: &str, value: &Value) -> bool {
    match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "number" => value.is_number(),
        "integer" => {
            value.is_i64()
                || value.is_u64()
                || value.as_f64().is_some_and(|number| number.fract() == 0.0)
        }
        _ => true,
    }
}

fn number(rules: &Map<String, Value>, value: &Value, at: &str) -> Checked {
    let Some(number) = value.as_f64() else {
        return Ok(());
    };
    let bound = |word: &str| rules.get(word).and_then(Value::as_f64);
    require(
        bound("minimum").is_none_or(|least| number >= least),
        at,
        "minimum",
    )?;
    require(
        bound("maximum").is_none_or(|most| number <= most),
        at,
        "maximum",
    )
}

fn length(
    rules: &Map<String, Value>,
    length: usize,
    at: &str,
    least: &'static str,
    most: &'static str,
) -> Checked {
    let length = length as u64;
    let bound = |word: &str| rules.get(word).and_then(Value::as_u64);
    require(bound(least).is_none_or(|bound| length >= bound), at, least)?;
    require(bound(most).is_none_or(|bound| length <= bound), at, most)
}

#[cfg(test)]
#[path = "schema_tests.rs"]
mod tests;
