//! Builds the export for guests who ask what we know about them.

use chrono::{DateTime, Utc};
use serde_json::{Map, Value as Json, json};

use super::{CompanionKey, Field, Profile, codec};

impl Profile {
    /// Returns everything stored about the guest, withdrawn and doubtful fields included, with
    /// source, time and consent. Of companions, only names, ages and relationships are included.
    pub fn export(&self, now: DateTime<Utc>) -> Json {
        let mut root = Map::new();
        for (key, field) in self.fields() {
            codec::put(&mut root, key.path(), entry(field, now));
        }
        let companions = self.companions().iter().map(|companion| {
            let told = companion
                .fields()
                .filter(|(key, _)| *key != CompanionKey::Dining);
            told.map(|(key, field)| (key.path().to_owned(), entry(field, now)))
                .collect::<Map<_, _>>()
        });
        root.insert(
            "companions".to_owned(),
            companions.map(Json::Object).collect(),
        );
        root.insert("consent".to_owned(), json!(self.consent));
        root.insert("consent_grants".to_owned(), json!(self.grants()));
        root.insert("engagement".to_owned(), json!(self.engagement));
        root.insert("created_at".to_owned(), json!(self.meta.created_at));
        root.insert("other".to_owned(), Json::Object(self.rest.unknown()));
        Json::Object(root)
    }
}

fn entry(field: &Field, now: DateTime<Utc>) -> Json {
    json!({
        "value": field.value,
        "confidence": field.effective(now),
        "source": field.source,
        "collected_at": field.collected_at,
        "confirmed_at": field.confirmed(),
        "consent": {
            "scope": field.consent_scope, "detail": field.consent_scope_detail,
            "grant": field.consent_ref,
            "version": field.consent_version, "status": field.consent_status,
            "withdrawn_at": field.consent_withdrawn_at,
        },
        "disputed_by": field.candidate,
        "history": field.history,
    })
}
