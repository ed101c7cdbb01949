//! The form of a content item: the fields that every item has, and the fields of its category's
//! schema.

use std::collections::BTreeMap;

use chrono_tz::Tz;
use serde_json::{Map, Value};
use seven_content::Finding;
use seven_knowledge::schema::{Kind, Schema};
use seven_store::content::Revision;

use crate::words::Words;

pub(super) struct Field {
    pub(super) name: String,
    /// The name as it is used in element ids, without dots: a CSS selector would read a dot as a
    /// class.
    pub(super) id: String,
    pub(super) label: String,
    /// The kind of input: `text`, `area`, `select`, `date`, `datetime-local` or `number`.
    pub(super) input: &'static str,
    pub(super) value: String,
    pub(super) required: bool,
    /// The choices of a select: value and text.
    pub(super) options: Vec<(String, String)>,
    pub(super) hint: String,
    pub(super) problems: Vec<String>,
}

/// Fields that every item has. `FIRST` come before the fields of the category's schema, `LAST` come
/// after them. Each has a name, a kind of input, and whether it is required.
const FIRST: [(&str, &str, bool); 5] = [
    ("name", "text", true),
    ("name_es", "text", false),
    ("subcategory", "text", false),
    ("description", "area", true),
    ("description_es", "area", false),
];
const LAST: [(&str, &str, bool); 6] = [
    ("keywords", "text", false),
    ("tip", "text", false),
    ("notes", "area", false),
    ("active", "select", false),
    ("publish_at", "datetime-local", false),
    ("take_down_at", "datetime-local", false),
];
/// Name of the input that holds, as one JSON object, all details for which the form has no input.
const OTHERS: &str = "details_json";
/// Prefix of the names of inputs for details, so that a detail is never taken for a field of the
/// item.
const DETAIL: &str = "d.";

/// Returns the name of the form's field that a finding is about.
pub(super) fn field_of(finding: &Finding) -> String {
    match finding.problem.field.strip_prefix("details.") {
        Some(detail) => format!("{DETAIL}{detail}"),
        None if finding.problem.field == "details" => OTHERS.to_owned(),
        None => finding.problem.field.clone(),
    }
}

/// Returns the form's fields with their values and problems.
pub(super) fn fields(
    w: Words,
    schema: Option<&Schema>,
    values: &BTreeMap<String, String>,
    findings: &[Finding],
) -> Vec<Field> {
    let problems = |name: &str| -> Vec<String> {
        let about = findings.iter().filter(|f| field_of(f) == name);
        about
            .map(|f| w.problem(&format!("{}; {}", f.problem.problem, f.problem.fix)))
            .collect()
    };
    let field = |name: &str, input: &'static str, required: bool| {
        let short = name.strip_prefix(DETAIL).unwrap_or(name);
        let label = w.of_kind("field", short);
        Field {
            name: name.to_owned(),
            id: name.replace('.', "-"),
            label: if label == short {
                short.replace('_', " ")
            } else {
                label
            },
            input,
            value: values.get(name).cloned().unwrap_or_default(),
            required,
            options: Vec::new(),
            hint: String::new(),
            problems: problems(name),
        }
    };
    let own = |(name, input, required): &(&str, &'static str, bool)| field(name, input, *required);
    let mut all: Vec<Field> = FIRST.iter().map(own).collect();
    let declared = schema.into_iter().flat_map(|schema| &schema.fields);
    for (name, of) in declared {
        let mut one = field(&format!("{DETAIL}{name}"), input_of(of.kind), of.required);
        if !of.one_of.is_empty() && of.kind != Kind::List {
            one.input = "select";
            one.options = choices(of.one_of.iter().map(|text| (text.clone(), text.clone())));
        } else if of.kind == Kind::Flag {
            one.options = yes_or_no(w);
        }
        one.hint = hint(w, of.kind);
        all.push(one);
    }
    let known = |name: &str, all: &[Field]| {
        all.iter().any(|field| field.name == name) || !name.starts_with(DETAIL)
    };
    let extra: Vec<&String> = values.keys().filter(|name| !known(name, &all)).collect();
    all.extend(extra.into_iter().map(|name| field(name, "text", false)));
    all.extend(LAST.iter().map(own));
    if let Some(active) = all.iter_mut().find(|field| field.name == "active") {
        active.options = vec![
            ("true".to_owned(), w.t("content_on").to_owned()),
            ("false".to_owned(), w.t("content_off").to_owned()),
        ];
    }
    if let Some(keywords) = all.iter_mut().find(|field| field.name == "keywords") {
        keywords.hint = hint(w, Kind::List);
    }
    if values.contains_key(OTHERS) {
        all.push(field(OTHERS, "area", false));
    }
    all
}

fn input_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Number => "number",
        Kind::Date => "date",
        Kind::Flag => "select",
        Kind::Text | Kind::Price | Kind::List | Kind::Hours | Kind::Moment => "text",
    }
}

fn hint(w: Words, kind: Kind) -> String {
    let key = match kind {
        Kind::Hours => "hint_hours",
        Kind::Price => "hint_price",
        Kind::List => "hint_list",
        Kind::Moment => "hint_moment",
        Kind::Text | Kind::Number | Kind::Flag | Kind::Date => return String::new(),
    };
    w.t(key).to_owned()
}

/// Adds a blank option in front, so that a choice may be left open.
fn choices(all: impl Iterator<Item = (String, String)>) -> Vec<(String, String)> {
    std::iter::once((String::new(), "–".to_owned()))
        .chain(all)
        .collect()
}

fn yes_or_no(w: Words) -> Vec<(String, String)> {
    let both = [("true", "yes"), ("false", "no")];
    choices(
        both.into_iter()
            .map(|(value, key)| (value.to_owned(), w.t(key).to_owned())),
    )
}

/// Returns the form's values for a revision, by field name; `None` means a new item.
pub(super) fn typed(revision: Option<&Revision>, zone: Tz) -> BTreeMap<String, String> {
    let mut values = BTreeMap::new();
    let item = revision.and_then(|one| one.item.as_ref());
    let Some((one, Value::Object(item))) = revision.zip(item) else {
        values.insert("active".to_owned(), "true".to_owned());
        return values;
    };
    let moment = |value: &Value| {
        let at = chrono::DateTime::parse_from_rfc3339(value.as_str()?).ok()?;
        Some(at.with_timezone(&zone).format("%Y-%m-%d %H:%M").to_string())
    };
    let mut others = Map::new();
    for (name, value) in item {
        match (name.as_str(), value) {
            ("id" | "category", _) => {}
            ("details", Value::Object(details)) => {
                for (name, value) in details {
                    match moment(value).or_else(|| text(value)) {
                        Some(text) => drop(values.insert(format!("{DETAIL}{name}"), text)),
                        None => drop(others.insert(name.clone(), value.clone())),
                    }
                }
            }
            _ => drop(values.insert(name.clone(), text(value).unwrap_or_default())),
        }
    }
    if !others.is_empty() {
        values.insert(OTHERS.to_owned(), Value::Object(others).to_string());
    }
    let wall = |at: chrono::DateTime<chrono::Utc>| {
        at.with_timezone(&zone).format("%Y-%m-%dT%H:%M").to_string()
    };
    values.extend(one.publish_at.map(|at| ("publish_at".to_owned(), wall(at))));
    values.extend(
        one.take_down_at
            .map(|at| ("take_down_at".to_owned(), wall(at))),
    );
    values
}

/// Writes a value as a person would type it; `None` if no input can show it.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        // Writes whole numbers without a fraction: 165, not 165.0.
        Value::Number(number) => Some(match number.as_f64() {
            Some(float) if number.is_f64() => float.to_string(),
            _ => number.to_string(),
        }),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Array(list) => {
            let texts: Option<Vec<&str>> = list.iter().map(Value::as_str).collect();
            texts.map(|texts| texts.join(", "))
        }
        Value::Null | Value::Object(_) => None,
    }
}
