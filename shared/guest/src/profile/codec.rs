//! Reads and writes the profile as versioned JSON. Every older format can be read, unknown parts
//! are kept, and one bad field never makes the reading fail.

use std::{collections::BTreeMap, fmt};

use serde::de::DeserializeOwned;
use serde_json::{Map, Value as Json, json};

use super::{Companion, CompanionKey, Field, Granted, Key, Meta, Profile, VERSION, migrate};

/// The profile read from a document, and the paths that could not be parsed. Unparsed parts stay in
/// the document, and agents do not see them.
#[derive(Debug, Clone, PartialEq)]
pub struct Read {
    pub profile: Profile,
    pub skipped: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    #[error("reading a guest profile: not a JSON object")]
    NotAnObject,
    #[error("reading a guest profile: `_version` is no whole number")]
    Version,
}

/// The unknown part of a document; never printed.
#[derive(Clone, PartialEq, Default)]
pub(super) struct Rest(Map<String, Json>);

impl fmt::Debug for Rest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Rest({} keys)", self.0.len())
    }
}

impl Rest {
    /// Returns the unknown entries that are neither null nor an empty object.
    pub(super) fn unknown(&self) -> Map<String, Json> {
        let told = |json: &Json| {
            !json.is_null() && json.as_object().is_none_or(|object| !object.is_empty())
        };
        self.0
            .iter()
            .filter(|(_, json)| told(json))
            .map(|(key, json)| (key.clone(), json.clone()))
            .collect()
    }
}

/// The document's key for the consent grants. Older builds do not know this key, but they keep
/// unknown keys at the root of the document.
const GRANTS: &str = "consent_grants";

const META: [&str; 8] = [
    "_version",
    "_created_at",
    "_updated_at",
    "_lifecycle_status",
    "_lifecycle_transitioned_at",
    "_archive_gcs_uri",
    "deletion_requested_at",
    "age_verified",
];

// === impl Profile ===

impl Profile {
    pub fn from_json(json: Json) -> Result<Read, ReadError> {
        let Json::Object(document) = json else {
            return Err(ReadError::NotAnObject);
        };
        let mut rest = migrate::to_current(document)?;
        let mut skipped = Vec::new();
        let mut meta: Map<String, Json> = META
            .iter()
            .filter_map(|key| Some(((*key).to_owned(), rest.remove(*key)?)))
            .collect();
        meta.retain(|_, value| !value.is_null());
        let meta = known::<Meta>(Json::Object(meta.clone())).unwrap_or_else(|| {
            skipped.push("meta".to_owned());
            Meta {
                version: VERSION,
                ..Meta::new(chrono::DateTime::UNIX_EPOCH)
            }
        });
        let mut plain = |name: &str| rest.remove(name).filter(|v| !v.is_null());
        let (consent, engagement, companions) =
            (plain("consent"), plain("engagement"), plain("companions"));
        let grants = plain(GRANTS);
        let mut fields = BTreeMap::new();
        for key in Key::ALL {
            if let Some(json) = take(&mut rest, key.path()) {
                match known::<Field>(json.clone()).filter(|f| key.kind().accepts(&f.value)) {
                    Some(field) => drop(fields.insert(*key, field)),
                    None if json.is_null() || json.get("value").is_some_and(Json::is_null) => {}
                    None => {
                        skipped.push(key.path().to_owned());
                        put(&mut rest, key.path(), json);
                    }
                }
            }
        }
        let mut or_default = |name: &str, ok: bool| {
            if !ok {
                skipped.push(name.to_owned());
            }
        };
        let consent = consent.map_or(Some(super::Consent::default()), known);
        or_default("consent", consent.is_some());
        let engagement = engagement.map_or(Some(super::Engagement::default()), known);
        or_default("engagement", engagement.is_some());
        let companions = read_companions(companions, &mut skipped);
        let unread_grants = grants
            .as_ref()
            .is_some_and(|json| known::<Vec<Granted>>(json.clone()).is_none());
        let grants = match grants.map(|json| (known(json.clone()), json)) {
            None => Vec::new(),
            Some((Some(grants), _)) => grants,
            Some((None, json)) => {
                skipped.push(GRANTS.to_owned());
                rest.insert(GRANTS.to_owned(), json);
                Vec::new()
            }
        };
        let profile = Self {
            meta,
            fields,
            companions,
            grants,
            unread_grants,
            consent: consent.unwrap_or_default(),
            engagement: engagement.unwrap_or_default(),
            rest: Rest(rest),
        };
        Ok(Read { profile, skipped })
    }

    pub fn to_json(&self) -> Json {
        let mut document = self.rest.0.clone();
        if let Json::Object(meta) = json!(self.meta) {
            document.extend(meta);
        }
        for (key, field) in &self.fields {
            put(&mut document, key.path(), json!(field));
        }
        let companions = self.companions.iter().map(|companion| {
            let mut entry = Map::new();
            for (key, field) in &companion.fields {
                put(&mut entry, key.path(), json!(field));
            }
            Json::Object(entry)
        });
        document.insert("companions".to_owned(), companions.collect());
        if !self.grants.is_empty() {
            document.insert(GRANTS.to_owned(), json!(self.grants));
        }
        document.insert("consent".to_owned(), json!(self.consent));
        document.insert("engagement".to_owned(), json!(self.engagement));
        Json::Object(document)
    }
}

fn known<T: DeserializeOwned>(json: Json) -> Option<T> {
    serde_json::from_value(json).ok()
}

fn read_companions(json: Option<Json>, skipped: &mut Vec<String>) -> Vec<Companion> {
    let Some(json) = json else { return Vec::new() };
    let Json::Array(entries) = json else {
        skipped.push("companions".to_owned());
        return Vec::new();
    };
    let mut companions = Vec::new();
    for (n, entry) in entries.into_iter().enumerate() {
        let Json::Object(mut entry) = entry else {
            skipped.push(format!("companions.{n}"));
            continue;
        };
        let mut fields = BTreeMap::new();
        for key in CompanionKey::ALL {
            let Some(json) = take(&mut entry, key.path()) else {
                continue;
            };
            match known::<Field>(json).filter(|f| key.kind().accepts(&f.value)) {
                Some(field) => drop(fields.insert(key, field)),
                None => skipped.push(format!("companions.{n}.{}", key.path())),
            }
        }
        companions.push(Companion { fields });
    }
    companions
}

/// Removes and returns the value at the dotted path; parents stay even if they become empty.
pub(super) fn take(document: &mut Map<String, Json>, path: &str) -> Option<Json> {
    match path.split_once('.') {
        None => document.remove(path),
        Some((head, tail)) => take(document.get_mut(head)?.as_object_mut()?, tail),
    }
}

/// Stores a value at the dotted path; replaces a parent that is not an object.
pub(super) fn put(document: &mut Map<String, Json>, path: &str, value: Json) {
    match path.split_once('.') {
        None => drop(document.insert(path.to_owned(), value)),
        Some((head, tail)) => {
            let entry = document.entry(head).or_insert_with(|| json!({}));
            if !entry.is_object() {
                *entry = json!({});
            }
            if let Some(inner) = entry.as_object_mut() {
                put(inner, tail, value);
            }
        }
    }
}
