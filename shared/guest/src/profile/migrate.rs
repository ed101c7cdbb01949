//! Older shapes of the document, brought up one version at a time when read (DATA-14).

use serde_json::{Map, Value as Json, json};

use super::{Key, ReadError, codec};

/// A document of version 1 has none written in it. One that is newer than this code is read as far as it is known.
pub(super) fn to_current(mut document: Map<String, Json>) -> Result<Map<String, Json>, ReadError> {
    let version = match document.get("_version") {
        None | Some(Json::Null) => 1,
        Some(version) => {
            version.as_u64().filter(|v| (1..=u64::from(u32::MAX)).contains(v)).ok_or(ReadError::Version)?
        }
    };
    if version < 2 {
        nest_preferences(&mut document);
    }
    if version < 3 {
        document.entry("companions").or_insert_with(|| json!([]));
        document.insert("_version".to_owned(), json!(3));
    }
    plain_history(&mut document);
    // Columns of `guests` (D9), and what must not be kept (C-22).
    for path in ["core_identity.phone", "core_identity.guest_uuid", "core_identity.date_of_birth"] {
        codec::take(&mut document, path);
    }
    Ok(document)
}

/// 1 -> 2: flat preferences move into dining, entertainment, gaming and spa.
fn nest_preferences(document: &mut Map<String, Json>) {
    for key in Key::ALL {
        let Some((section, leaf)) =
            key.path().rsplit_once('.').filter(|(section, _)| section.starts_with("preferences."))
        else {
            continue;
        };
        if let Some(value) = codec::take(document, &format!("preferences.{leaf}")) {
            codec::put(document, &format!("{section}.{leaf}"), value);
        }
    }
}

/// `visit_history` began as a list of `{date, source}` without a confidence of its own.
fn plain_history(document: &mut Map<String, Json>) {
    let path = Key::VisitHistory.path();
    let Some(entry) = codec::take(document, path) else { return };
    let Json::Array(visits) = &entry else { return codec::put(document, path, entry) };
    let dates: Vec<&Json> = visits.iter().filter_map(|visit| visit.get("date")).collect();
    let Some(last) = dates.last().and_then(|date| date.as_str()).filter(|_| !dates.is_empty()) else { return };
    let field = json!({ "value": dates, "confidence": 0.9, "source": "crm_import", "collected_at": format!("{last}T00:00:00Z") });
    codec::put(document, path, field);
}
