//! Reads content files: `{"schema":1,"items":[...]}`, a bare array, or JSON Lines. Reports all
//! problems at once.

use std::{collections::HashMap, fmt};

use serde_json::Value;

use crate::{Categories, Item, Problem, Reference};

/// One error in a content file, shown as `content.json:12:details.hours: cannot read ...; write
/// such as ...`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContentProblem {
    pub file: String,
    /// Number of the item, from 1; in JSON Lines, the line number.
    pub row: usize,
    pub field: String,
    pub problem: String,
    pub fix: String,
}

impl fmt::Display for ContentProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}:{}:{}: {}; {}",
            self.file, self.row, self.field, self.problem, self.fix
        )
    }
}

impl std::error::Error for ContentProblem {}

/// Reads a whole file. `file` is the name that problems show. Relative dates count from
/// `reference`.
pub fn parse_content(
    file: &str,
    text: &str,
    reference: Reference,
) -> Result<Vec<Item>, Vec<ContentProblem>> {
    parse_content_of(file, text, reference, &Categories::default())
}

/// Like [`parse_content`], and also checks every item against its category's schema in the pack.
pub fn parse_content_of(
    file: &str,
    text: &str,
    reference: Reference,
    categories: &Categories,
) -> Result<Vec<Item>, Vec<ContentProblem>> {
    let mut problems = Vec::new();
    let mut complain = |row: usize, p: Problem| {
        problems.push(ContentProblem {
            file: file.to_owned(),
            row,
            field: p.field,
            problem: p.problem,
            fix: p.fix,
        });
    };
    let mut items: Vec<Item> = Vec::new();
    let mut seen: HashMap<String, usize> = HashMap::new();
    for (row, value) in rows(text, &mut complain) {
        let id = value
            .get("id")
            .and_then(Value::as_str)
            .map(|id| id.trim().to_owned())
            .filter(|id| !id.is_empty());
        if let Some((id, first)) = id
            .as_ref()
            .and_then(|id| seen.get(id).map(|first| (id, first)))
        {
            complain(
                row,
                issue(
                    "id",
                    format!("`{id}` is already used by item {first}"),
                    "give every item its own id",
                ),
            );
        }
        if let Some(id) = id {
            seen.entry(id).or_insert(row);
        }
        match Item::read(&value, reference) {
            Ok(item) => {
                categories
                    .problems(&item)
                    .into_iter()
                    .for_each(|p| complain(row, p));
                items.push(item);
            }
            Err(found) => found.into_iter().for_each(|p| complain(row, p)),
        }
    }
    if problems.is_empty() {
        Ok(items)
    } else {
        Err(problems)
    }
}

fn issue(field: &str, problem: impl Into<String>, fix: &str) -> Problem {
    Problem {
        field: field.to_owned(),
        problem: problem.into(),
        fix: fix.to_owned(),
    }
}

fn rows(text: &str, complain: &mut impl FnMut(usize, Problem)) -> Vec<(usize, Value)> {
    let text = text.trim_start_matches('\u{feff}');
    let error = match serde_json::from_str(text) {
        Ok(Value::Array(items)) => return numbered(items),
        Ok(Value::Object(map)) if map.contains_key("items") || map.contains_key("schema") => {
            return document(map, complain);
        }
        // A single object is a JSON Lines file of one line.
        Ok(value) => return vec![(1, value)],
        Err(error) => error,
    };
    let lines: Vec<(usize, &str)> = text
        .lines()
        .enumerate()
        .map(|(n, l)| (n + 1, l.trim()))
        .filter(|(_, l)| !l.is_empty())
        .collect();
    // A file is JSON Lines if its first line is an object. Any other text is one broken document;
    // the error of the first parse says where it is broken.
    if !lines
        .first()
        .is_some_and(|(_, line)| serde_json::from_str::<Value>(line).is_ok_and(|v| v.is_object()))
    {
        let place = format!("is not valid JSON: {error}");
        complain(
            error.line().max(1),
            issue("file", place, "correct it at the line and column given"),
        );
        return Vec::new();
    }
    let mut rows = Vec::new();
    for (line, text) in lines {
        match serde_json::from_str(text) {
            Ok(value) => rows.push((line, value)),
            Err(error) => complain(
                line,
                issue(
                    "line",
                    format!("is not valid JSON: {error}"),
                    "write one whole object on the line",
                ),
            ),
        }
    }
    rows
}

fn numbered(items: Vec<Value>) -> Vec<(usize, Value)> {
    items
        .into_iter()
        .enumerate()
        .map(|(n, item)| (n + 1, item))
        .collect()
}

fn document(
    mut map: serde_json::Map<String, Value>,
    complain: &mut impl FnMut(usize, Problem),
) -> Vec<(usize, Value)> {
    if map.get("schema").is_some_and(|schema| schema != 1) {
        complain(
            0,
            issue(
                "schema",
                "is a version we do not know",
                "write \"schema\": 1",
            ),
        );
    }
    match map.remove("items") {
        Some(Value::Array(items)) => numbered(items),
        _ => {
            complain(0, issue("items", "is no list", "write \"items\": [ ... ]"));
            Vec::new()
        }
    }
}

#[cfg(test)]
mod tests {
    use chrono::{TimeZone, Utc};

    use super::*;

    fn read(text: &str) -> Result<Vec<Item>, Vec<String>> {
        let now = Utc.with_ymd_and_hms(2026, 3, 6, 17, 0, 0).unwrap();
        parse_content(
            "c.json",
            text,
            Reference {
                now,
                zone: chrono_tz::America::New_York,
            },
        )
        .map_err(|problems| problems.iter().map(ToString::to_string).collect())
    }

    const A: &str =
        r#"{"id":"a","category":"general info","name":"Wifi","description":"Free wifi."}"#;
    const B: &str = r#"{"id":"b","category":"parking","name":"Garage","description":"Free garage.","details":{"levels":4}}"#;

    #[test]
    fn three_file_forms_read_the_same() {
        let expected = read(&format!("[{A},{B}]")).unwrap();
        assert_eq!(expected.len(), 2);
        assert_eq!(
            read(&format!(r#"{{"schema":1,"items":[{A},{B}]}}"#)).unwrap(),
            expected
        );
        assert_eq!(read(&format!("{A}\n\n{B}\n")).unwrap(), expected);
        assert_eq!(read(A).unwrap().len(), 1);
    }

    #[test]
    fn problems_name_file_row_field_and_fix() {
        let all = read(&format!("{A}\n{B}\n{A}\n{{\"id\":\n")).unwrap_err();
        assert_eq!(all.len(), 2, "{all:?}");
        assert!(
            all[0].starts_with("c.json:4:line: is not valid JSON"),
            "{all:?}"
        );
        assert_eq!(
            all[1],
            "c.json:3:id: `a` is already used by item 1; give every item its own id"
        );
        assert!(read("[{]").unwrap_err()[0].starts_with("c.json:1:file: is not valid JSON"));
        assert!(read(r#"{"schema":2,"items":3}"#).unwrap_err().len() == 2);
    }
}
