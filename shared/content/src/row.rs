//! Turns a row of a spreadsheet into an item as the checks read it (CMS-2, CMS-12).

use serde_json::{Map, Value};

/// Columns that are fields of the item itself. Every other column is one of its details.
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
/// Columns that the server sets, or that only the spreadsheet needs.
const IGNORED: [&str; 4] = ["last_modified", "modified_by", "details_json", "approved"];
/// Fields that hold a list; a cell has it with commas.
const LISTS: [&str; 3] = ["keywords", "dietary_options", "applies_to"];

/// Returns the item of a row. Column names are taken as `Price Range` or `price_range`; blank cells
/// count as absent; a cell that looks like a number or a yes is one.
pub fn item_of_row(category: &str, row: &Map<String, Value>) -> Value {
    let mut item = Map::new();
    let mut details = match row.get("details") {
        Some(Value::Object(details)) => details.clone(),
        _ => Map::new(),
    };
    if let Some(parsed) = row.get("details_json").and_then(Value::as_str)
        && let Ok(Value::Object(parsed)) = serde_json::from_str(parsed)
    {
        details.extend(parsed);
    }
    for (column, cell) in row {
        let name = column.trim().to_lowercase().replace([' ', '-'], "_");
        let blank = cell.is_null() || cell.as_str().is_some_and(|text| text.trim().is_empty());
        if blank || name == "details" || IGNORED.contains(&name.as_str()) {
            continue;
        }
        let value = value_of(&name, cell);
        if OWN.contains(&name.as_str()) {
            item.insert(name, value);
        } else {
            details.insert(name, value);
        }
    }
    item.entry("category").or_insert_with(|| category.into());
    if !details.is_empty() {
        item.insert("details".into(), Value::Object(details));
    }
    Value::Object(item)
}

/// Reads a cell. Ids, names and texts stay texts.
fn value_of(name: &str, cell: &Value) -> Value {
    let Some(text) = cell.as_str().map(str::trim) else {
        return cell.clone();
    };
    if LISTS.contains(&name) {
        let parts = text
            .split(',')
            .map(str::trim)
            .filter(|part| !part.is_empty());
        return parts.map(Value::from).collect();
    }
    if OWN.contains(&name) && name != "active" {
        return text.into();
    }
    match text.to_lowercase().as_str() {
        "true" | "yes" | "sí" | "si" => return true.into(),
        "false" | "no" => return false.into(),
        _ => {}
    }
    match text.trim_start_matches('$').replace(',', "").parse::<f64>() {
        // Money and counts: "$165", "1,200". A price range such as "$$" is none.
        Ok(number) if number.is_finite() && !text.ends_with(',') => number_of(number),
        _ => text.into(),
    }
}

/// Whole numbers stay whole: 90 minutes are no 90.0.
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

    use super::*;

    #[test] // CMS-2, CMS-12
    fn a_row_becomes_an_item_with_its_details() {
        let row = json!({
            "id": "spa_001", "Name": " Swedish Massage ", "description": "Slow.", "Active": "TRUE", "notes": "",
            "Treatment Type": "Massage", "duration-minutes": "90", "price": "$1,165.50", "couples_option": "no",
            "last_modified": "2026-03-01", "modified_by": "ana@example.com", "keywords": "rub, back rub,"
        });
        let item = item_of_row("spa", row.as_object().unwrap());
        assert_eq!(
            item,
            json!({ "id": "spa_001", "name": "Swedish Massage", "description": "Slow.", "active": true, "category": "spa",
                "keywords": ["rub", "back rub"],
                "details": { "treatment_type": "Massage", "duration_minutes": 90, "price": 1165.5, "couples_option": false } })
        );
    }

    #[test]
    fn details_come_as_an_object_as_text_or_as_columns() {
        for row in [
            json!({ "details": { "price_range": "$$" } }),
            json!({ "details_json": "{\"price_range\": \"$$\"}" }),
            json!({ "Price Range": "$$" }),
        ] {
            let item = item_of_row("dining", row.as_object().unwrap());
            assert_eq!(item["details"], json!({ "price_range": "$$" }), "{row}");
        }
    }
}
