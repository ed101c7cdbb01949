//! Reads a JSON object field by field, and collects every problem instead of stopping at the first.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

/// An error in one field, and what to write in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Dotted path, such as `details.hours`.
    pub field: String,
    pub problem: String,
    pub fix: String,
}

pub(crate) struct Fields<'m, 'p> {
    map: &'m Map<String, Value>,
    prefix: &'static str,
    known: BTreeSet<&'static str>,
    problems: &'p mut Vec<Problem>,
}

impl<'m, 'p> Fields<'m, 'p> {
    pub(crate) fn new(
        map: &'m Map<String, Value>,
        prefix: &'static str,
        problems: &'p mut Vec<Problem>,
    ) -> Self {
        Self {
            map,
            prefix,
            known: BTreeSet::new(),
            problems,
        }
    }

    pub(crate) fn complain(
        &mut self,
        key: &str,
        problem: impl Into<String>,
        fix: impl Into<String>,
    ) {
        self.problems.push(Problem {
            field: format!("{}{key}", self.prefix),
            problem: problem.into(),
            fix: fix.into(),
        });
    }

    /// Returns the value, unless it is absent, null or blank. Blank cells of a spreadsheet count as
    /// absent.
    pub(crate) fn value(&mut self, key: &'static str) -> Option<&'m Value> {
        self.known.insert(key);
        self.map
            .get(key)
            .filter(|v| !v.is_null() && v.as_str().is_none_or(|s| !s.trim().is_empty()))
    }

    pub(crate) fn require<T>(
        &mut self,
        key: &'static str,
        value: Option<T>,
        fix: &str,
    ) -> Option<T> {
        let absent = self.value(key).is_none();
        if value.is_none() && absent {
            self.complain(key, "is missing", fix);
        }
        value
    }

    pub(crate) fn text(&mut self, key: &'static str, max: usize) -> Option<String> {
        match self.value(key)? {
            Value::String(text) => {
                let (text, length) = (text.trim(), text.trim().chars().count());
                if length > max {
                    self.complain(
                        key,
                        format!("has {length} characters"),
                        format!("shorten it to at most {max}"),
                    );
                }
                Some(text.to_owned())
            }
            Value::Number(number) => Some(number.to_string()),
            other => self.wrong(key, other, "text in quotes"),
        }
    }

    pub(crate) fn flag(&mut self, key: &'static str) -> Option<bool> {
        match self.value(key)? {
            Value::Bool(flag) => Some(*flag),
            Value::String(text) if text.eq_ignore_ascii_case("true") => Some(true),
            Value::String(text) if text.eq_ignore_ascii_case("false") => Some(false),
            other => self.wrong(key, other, "true or false"),
        }
    }

    pub(crate) fn amount(&mut self, key: &'static str) -> Option<f64> {
        match self.value(key)? {
            Value::Number(number) if number.as_f64().is_some_and(|n| n >= 0.0) => number.as_f64(),
            other => self.wrong(key, other, "a number of 0 or more, without $ or quotes"),
        }
    }

    pub(crate) fn whole(&mut self, key: &'static str, from: u32, to: u32) -> Option<u32> {
        match self.value(key)? {
            Value::Number(number) => {
                let whole = number
                    .as_u64()
                    .and_then(|n| u32::try_from(n).ok())
                    .filter(|n| (from..=to).contains(n));
                if whole.is_none() {
                    self.complain(
                        key,
                        format!("is {number}"),
                        format!("write a whole number from {from} to {to}"),
                    );
                }
                whole
            }
            other => self.wrong(key, other, "a whole number"),
        }
    }

    /// Reads one of a fixed list of texts. Accepts any letter case, and returns the list's
    /// spelling.
    pub(crate) fn one_of(&mut self, key: &'static str, allowed: &[&str]) -> Option<String> {
        let text = self.text(key, 200)?;
        let found = allowed
            .iter()
            .find(|a| a.eq_ignore_ascii_case(&text))
            .map(|a| (*a).to_owned());
        if found.is_none() {
            self.complain(
                key,
                format!("is `{text}`"),
                format!("use one of: {}", allowed.join(", ")),
            );
        }
        found
    }

    /// Reads a list of texts, or one text that is split at commas.
    pub(crate) fn list(&mut self, key: &'static str) -> Option<Vec<String>> {
        match self.value(key)? {
            Value::String(text) => Some(
                text.split(',')
                    .map(|part| part.trim().to_owned())
                    .filter(|p| !p.is_empty())
                    .collect(),
            ),
            Value::Array(values) if values.iter().all(Value::is_string) => Some(
                values
                    .iter()
                    .filter_map(Value::as_str)
                    .map(|s| s.trim().to_owned())
                    .filter(|s| !s.is_empty())
                    .collect(),
            ),
            other => self.wrong(
                key,
                other,
                "a list of texts, such as [\"vegan\", \"gluten-free\"]",
            ),
        }
    }

    pub(crate) fn wrong<T>(&mut self, key: &str, value: &Value, expected: &str) -> Option<T> {
        let shown: String = value.to_string().chars().take(40).collect();
        self.complain(key, format!("is {shown}"), format!("write {expected}"));
        None
    }

    /// Reports every key that was never read; `hint` says where such a key may belong.
    pub(crate) fn refuse_unknown(self, hint: &str) {
        for key in self.map.keys().filter(|k| !self.known.contains(k.as_str())) {
            let known: Vec<_> = self.known.iter().copied().collect();
            self.problems.push(Problem {
                field: format!("{}{key}", self.prefix),
                problem: "is not a known field".into(),
                fix: format!("{hint}remove it or use one of: {}", known.join(", ")),
            });
        }
    }

    /// Returns the fields that were never read; used for categories without a schema.
    pub(crate) fn rest(&self) -> std::collections::BTreeMap<String, Value> {
        self.map
            .iter()
            .filter(|(k, v)| !self.known.contains(k.as_str()) && !v.is_null())
            .map(|(k, v)| (k.clone(), v.clone()))
            .collect()
    }
}
