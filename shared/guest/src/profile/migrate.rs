//! Converts documents of older formats when they are read, one version at a time.

use serde_json::{Map, Value as Json, json};

use super::{Key, ReadError, codec};

/// Converts a document to the current version. If the version field is missing, version 1 is
/// assumed. Of a newer document, only the parts that this code knows are read.
pub(super) fn to_current(mut document: Map<String, Json>) -> Result<Map<String, Json>, ReadError> {
    let version = match document.get("_version") {
        None | Some(Json::Null) => 1,
        Some(version) => version
            .as_u64()
            .filter(|v| (1..=u64::from(u32::MAX)).contains(v))
            .ok_or(ReadError::Version)?,
    };
    if version < 2 {
        nest_preferences(&mut document);
    }
    if version < 3 {
        document.entry("companions").or_insert_with(|| json!([]));
        document.insert("_version".to_owned(), json!(3));
    }
    plain_history(&mut document);
    // The phone and the id are columns of `guests` (D9); a date of birth must not be kept.
    for path in [
        "core_identity.phone",
        "core_identity.guest_uuid",
        "core_identity.date_of_birth",
    ] {
        codec::take(&mut document, path);
    }
    Ok(document)
}

/// Converts version 1 to 2: preferences move into the objects dining, entertainment, gaming and
/// spa.
fn nest_preferences(document: &mut Map<String, Json>) {
    for key in Key::ALL {
        let Some((section, leaf)) = key
            .path()
            .rsplit_once('.')
            .filter(|(section, _)| section.starts_with("preferences."))
        else {
            continue;
        };
        if let Some(value) = codec::take(document, &format!("preferences.{leaf}")) {
            codec::put(document, &format!("{section}.{leaf}"), value);
        }
    }
}

/// Converts `visit_history` from its first form, a list of `{date, source}` without a confidence,
/// to a field.
fn plain_history(document: &mut Map<String, Json>) {
    let path = Key::VisitHistory.path();
    let Some(entry) = codec::take(document, path) else {
        return;
    };
    let Json::Array(visits) = &entry else {
        return codec::put(document, path, entry);
    };
    let dates: Vec<&Json> = visits
        .iter()
        .filter_map(|visit| visit.get("date"))
        .collect();
    let Some(last) = dates
        .last()
        .and_then(|date| date.as_str())
        .filter(|_| !dates.is_empty())
    else {
        return;
    };
    let field = json!({
        "value": dates,
        "confidence": 0.9,
        "source": "crm_import",
        "collected_at": format!("{last}T00:00:00Z"),
    });
    codec::put(document, path, field);
}
