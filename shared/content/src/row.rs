//! Turns a row of a spreadsheet into an item in the form that the checks read (CMS-2, CMS-12).

use serde_json::{Map, Value};
use seven_knowledge::schema::{Kind, Schema};

/// Columns that are fields of the item itself. Every other column is one of the item's details.
const OWN: [&str; 12] = [
    "id",
    "name",
    "name_es",
    "category",
    "subcategory",
    "description",
    "description_es",
    "active",
    "keywords",
    "tip",
    "notes",
    "details",
];
/// Columns that are ignored, because the server sets them or only the spreadsheet needs them.
const IGNORED: [&str; 4] = ["last_modified", "modified_by", "details_json", "approved"];
/// Details that are lists even if no schema says so. Commas separate the values in their cells.
const LISTS: [&str; 3] = ["keywords", "dietary_options", "applies_to"];

/// Applies a row to `before`, the published item, and returns the new item.
/// - A column name may be written as `Price Range` or `price_range`. The prefix `d.` marks a
///   detail.
/// - A missing column leaves its field as it is. A blank cell empties the field, except `active`,
///   `id` and `category`.
/// - A detail gets the type that the category's schema names, or else the type of its previous
///   value.
pub fn item_of_row(
    category: &str,
    row: &Map<String, Value>,
    before: Option<&Value>,
    schema: Option<&Schema>,
) -> Value {
    let mut item = before
        .and_then(Value::as_object)
        .cloned()
        .unwrap_or_default();
    let mut details = match item.remove("details") {
        Some(Value::Object(details)) => details,
        _ => Map::new(),
    };
    if !category.trim().is_empty() {
        item.insert("category".into(), category.into());
    }
    let mut unreadable = None;
    for (column, cell) in row {
        let (name, own) = match column.strip_prefix("d.") {
            Some(detail) => (detail.to_owned(), false),
            None => {
                let name = column.trim().to_lowercase().replace([' ', '-'], "_");
                let own = OWN.contains(&name.as_str());
                (name, own)
            }
        };
        let blank = cell.is_null() || cell.as_str().is_some_and(|text| text.trim().is_empty());
        match (own, name.as_str()) {
            (false, "details" | "details_json") => {
                details.retain(|_, value| has_cell(value));
                match objects(cell) {
                    Ok(found) => details.extend(found),
                    Err(text) => unreadable = Some(text),
                }
            }
            (false, name) if IGNORED.contains(&name) => {}
            (true, "active" | "id" | "category") if blank => {}
            (true, _) if blank => drop(item.remove(&name)),
            (false, _) if blank => drop(details.remove(&name)),
            (true, "active") => drop(item.insert(name, flag(cell).unwrap_or_else(|| cell.clone()))),
            (true, "keywords") => drop(item.insert(name, list(cell))),
            (true, _) => drop(item.insert(name, plain(cell))),
            (false, _) => {
                let kind = schema.and_then(|schema| schema.fields.get(&name));
                let kind = kind.map(|field| field.kind);
                let value = detail(&name, cell, kind, details.get(&name));
                details.insert(name, value);
            }
        }
    }
    match unreadable {
        // Details that cannot be parsed are kept as they are, so that the checks report them.
        Some(text) => drop(item.insert("details".into(), text)),
        None if details.is_empty() => {}
        None => drop(item.insert("details".into(), Value::Object(details))),
    }
    Value::Object(item)
}

/// Returns whether a spreadsheet cell or an input field can show the value.
fn has_cell(value: &Value) -> bool {
    match value {
        Value::Array(list) => list.iter().all(Value::is_string),
        Value::Object(_) | Value::Null => false,
        Value::String(_) | Value::Number(_) | Value::Bool(_) => true,
    }
}

/// Reads details from a JSON object, or from text that contains one. Blank text means no details.
/// Returns any other value as the error.
fn objects(cell: &Value) -> Result<Map<String, Value>, Value> {
    match cell {
        Value::Object(map) => Ok(map.clone()),
        Value::Null => Ok(Map::new()),
        Value::String(text) if text.trim().is_empty() => Ok(Map::new()),
        Value::String(text) => match serde_json::from_str(text) {
            Ok(Value::Object(map)) => Ok(map),
            _ => Err(cell.clone()),
        },
        other => Err(other.clone()),
    }
}

/// Converts a detail's cell to the type of its schema, or else to the type of its previous value.
fn detail(name: &str, cell: &Value, kind: Option<Kind>, before: Option<&Value>) -> Value {
    let plain = plain(cell);
    let Some(text) = plain.as_str() else {
        return plain;
    };
    match (kind, before) {
        (Some(Kind::List), _) | (None, Some(Value::Array(_))) => list(cell),
        (None, None) if LISTS.contains(&name) => list(cell),
        (Some(Kind::Flag), _) | (None, Some(Value::Bool(_))) => flag(cell).unwrap_or(plain),
        (Some(Kind::Number | Kind::Price), _) | (None, Some(Value::Number(_))) => {
            amount(text).unwrap_or(plain)
        }
        (Some(Kind::Text | Kind::Hours | Kind::Date | Kind::Moment), _) | (None, Some(_)) => plain,
        (None, None) => match text {
            "TRUE" | "true" => true.into(),
            "FALSE" | "false" => false.into(),
            _ => simple_number(text).unwrap_or(plain),
        },
    }
}

fn plain(cell: &Value) -> Value {
    match cell.as_str() {
        Some(text) => text.trim().replace("\r\n", "\n").into(),
        None => cell.clone(),
    }
}

fn list(cell: &Value) -> Value {
    let Some(text) = cell.as_str() else {
        return cell.clone();
    };
    let parts = text.split(',').map(str::trim);
    parts
        .filter(|part| !part.is_empty())
        .map(Value::from)
        .collect()
}

fn flag(cell: &Value) -> Option<Value> {
    match cell.as_str()?.trim().to_lowercase().as_str() {
        "true" | "yes" | "sí" | "si" => Some(true.into()),
        "false" | "no" => Some(false.into()),
        _ => None,
    }
}

/// Parses money and counts, such as "$165" and "1,200".
fn amount(text: &str) -> Option<Value> {
    let number: f64 = text.trim_start_matches('$').replace(',', "").parse().ok()?;
    number.is_finite().then(|| number_of(number))
}

/// Parses text that can only be a number: no sign, no leading zero, at most 7 digits. Text with
/// more digits may be a phone number.
fn simple_number(text: &str) -> Option<Value> {
    let digits = text.chars().filter(char::is_ascii_digit).count();
    let plain = text.chars().all(|c| c.is_ascii_digit() || c == '.');
    let leading = text.starts_with('0') && text != "0" && !text.starts_with("0.");
    (plain && !leading && (1..=7).contains(&digits)).then_some(())?;
    text.parse().ok().map(number_of)
}

/// Keeps whole numbers whole: 90 minutes become 90, not 90.0.
fn number_of(number: f64) -> Value {
    if number.fract() == 0.0 && number.abs() < 1e15 {
        Value::from(number as i64)
    } else {
        Value::from(number)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use seven_knowledge::Categories;

    use super::*;

    fn read(category: &str, row: &Value, before: Option<&Value>) -> Value {
        let categories: Categories = serde_json::from_value(json!({
            "spa": { "fields": { "price": { "kind": "price" }, "duration_minutes": { "kind": "number" },
                "couples_option": { "kind": "flag" }, "languages": { "kind": "list" }, "room": { "kind": "text" } } }
        }))
        .unwrap();
        let schema = categories.get(&category.into());
        item_of_row(category, row.as_object().unwrap(), before, schema)
    }

    #[test] // CMS-2, CMS-12
    fn a_row_becomes_an_item_with_its_details() {
        let row = json!({
            "id": "spa_001", "Name": " Swedish Massage ", "description": "Slow.\r\nWarm.", "Active": "TRUE", "notes": "",
            "Treatment Type": "Massage", "duration-minutes": "90", "price": "$1,165.50", "couples_option": "no",
            "last_modified": "2026-03-01", "modified_by": "ana@example.com", "keywords": "rub, back rub,",
            "languages": "en, es", "room": "007"
        });
        assert_eq!(
            read("spa", &row, None),
            json!({ "id": "spa_001", "name": "Swedish Massage", "description": "Slow.\nWarm.", "active": true, "category": "spa",
                "keywords": ["rub", "back rub"],
                "details": { "treatment_type": "Massage", "duration_minutes": 90, "price": 1165.5, "couples_option": false,
                    "languages": ["en", "es"], "room": "007" } })
        );
    }

    #[test]
    fn details_come_as_an_object_as_text_or_as_columns() {
        for row in [
            json!({ "details": { "price_range": "$$" } }),
            json!({ "details_json": "{\"price_range\": \"$$\"}" }),
            json!({ "Price Range": "$$" }),
            json!({ "d.price_range": "$$" }),
        ] {
            assert_eq!(
                read("dining", &row, None)["details"],
                json!({ "price_range": "$$" }),
                "{row}"
            );
        }
        let broken = read("dining", &json!({ "details_json": "{price" }), None);
        assert_eq!(broken["details"], "{price", "the checks refuse it");
    }

    #[test]
    fn a_row_changes_only_the_columns_that_it_has() {
        let before = json!({ "id": "a", "category": "parking", "name": "Garage", "description": "Old.", "active": false, "tip": "Early.",
            "details": { "levels": 4, "open": true, "code": "06339", "fee": "$12", "for": ["cars"], "special_hours": [{ "date": "12-25" }] } });
        let row = json!({ "name": "Garage", "description": "New.", "active": "", "tip": "", "levels": "5", "open": "no", "code": "01234",
            "fee": "$14", "for": "cars, vans" });
        assert_eq!(
            read("parking", &row, Some(&before)),
            json!({ "id": "a", "category": "parking", "name": "Garage", "description": "New.", "active": false,
                "details": { "levels": 5, "open": false, "code": "01234", "fee": "$14", "for": ["cars", "vans"],
                    "special_hours": [{ "date": "12-25" }] } })
        );
        let same = read("parking", &json!({}), Some(&before));
        assert_eq!(same, before);
        // A blank `details_json` removes the details that no spreadsheet cell can show, such as a
        // list of objects.
        let none = read("parking", &json!({ "details_json": "" }), Some(&before));
        assert!(none["details"].get("special_hours").is_none() && none["details"]["levels"] == 4);
    }

    #[test]
    fn a_new_detail_is_a_number_only_when_it_can_be_nothing_else() {
        for (cell, value) in [
            ("5", json!(5)),
            ("0.5", json!(0.5)),
            ("06339", json!("06339")),
            ("8605550100", json!("8605550100")),
            ("+18605550100", json!("+18605550100")),
            ("1e5", json!("1e5")),
            ("$12", json!("$12")),
            ("No", json!("No")),
            ("TRUE", json!(true)),
        ] {
            let item = read("parking", &json!({ "x": cell }), None);
            assert_eq!(item["details"]["x"], value, "{cell}");
        }
    }
}
