//! Cache of the casinos' documents. Each transaction compares the row version (`xmin`), and reads
//! only a changed document again. Writers therefore need not invalidate the cache.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use seven_domain::{CasinoConfig, CasinoId};

#[derive(Debug, Clone, Default)]
pub(crate) struct Documents(Arc<Mutex<HashMap<CasinoId, Held>>>);

/// A document and the version of its row.
#[derive(Debug, Clone)]
pub(crate) struct Held {
    pub(crate) version: i64,
    pub(crate) config: Arc<CasinoConfig>,
}

impl Documents {
    pub(crate) fn held(&self, casino: &CasinoId) -> Option<Held> {
        self.lock().get(casino).cloned()
    }

    /// Returns the document of this version: the one just read, or else the one cached when the
    /// query was made. `None` if neither has this version.
    pub(crate) fn settle(
        &self,
        casino: &CasinoId,
        version: i64,
        read: Option<CasinoConfig>,
        held: Option<Held>,
    ) -> Option<Arc<CasinoConfig>> {
        let Some(config) = read.map(Arc::new) else {
            return Some(held.filter(|held| held.version == version)?.config);
        };
        self.lock().insert(
            casino.clone(),
            Held {
                version,
                config: Arc::clone(&config),
            },
        );
        Some(config)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<CasinoId, Held>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> CasinoConfig {
        serde_json::from_value(serde_json::json!({
            "casino_id": "here", "prompts": { "casino_name_display": "Here" },
            "regulations": { "state": "CT" },
            "operational": {
                "timezone": "America/New_York", "telnyx_phone_number": "+18605550100",
                "number_kind": "demo",
                "contact_phone": "1-860-555-0199",
            },
        }))
        .unwrap()
    }

    #[test]
    fn a_document_is_parsed_once_per_version() {
        let (documents, casino) = (Documents::default(), "here".parse().unwrap());
        assert!(documents.held(&casino).is_none());
        assert!(documents.settle(&casino, 7, Some(config()), None).is_some());
        let held = documents.held(&casino);
        assert!(documents.settle(&casino, 7, None, held.clone()).is_some());
        assert!(
            documents
                .settle(&casino, 8, Some(config()), held.clone())
                .is_some(),
            "it changed meanwhile"
        );
        assert!(
            documents.settle(&casino, 7, None, held.clone()).is_some(),
            "what was held is still that version's"
        );
        assert!(
            documents.settle(&casino, 8, None, held).is_none(),
            "another version is not this one"
        );
    }
}
