//! Which embedding a fleet uses: the offline one, or a hosted model's whose vectors of content are stored (D12, RAG-12, RAG-13).
//!
//! Content is embedded at ingestion, a question at its turn and within a deadline. A question that has no vector in time is answered
//! by words alone: retrieval never fails a turn (RAG-7, D10).

mod gemini;
mod hosted;
mod openai;
mod raw;

use std::{collections::HashMap, sync::Arc};

use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use secrecy::SecretString;
use serde::Deserialize;
use seven_cache::Cache;
use seven_knowledge::{Chunk, EmbedError, Embedder, Index, Item, Offline, Purpose, Query, Space, Vector};
use url::Url;

use crate::{
    chat::Error,
    guarded::{Observer, Price, Settings as Guard, UsdPerMillion},
};

pub use self::hosted::Hosted;

/// The provider that turns texts into vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Provider {
    /// In memory, without network; nothing is stored.
    #[default]
    Offline,
    /// `embedContent` and `batchEmbedContents`.
    Gemini,
    /// `/embeddings` of OpenAI, or of any server that speaks like it.
    Openai,
}

/// The section `[knowledge]` of a fleet's settings.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    pub provider: Provider,
    /// None for the provider's own address. With the version for `openai` (`http://127.0.0.1:8080/v1/`), without for `gemini`.
    #[serde(default)]
    pub base_url: Option<Url>,
    #[serde(default)]
    pub api_key: Option<SecretString>,
    /// A pinned model, never an alias such as "latest" (RAG-12).
    pub model: String,
    /// Raised by hand when the same name begins to give other vectors.
    pub version: String,
    /// Length of a vector; longer ones are asked for cut to it.
    pub dimension: usize,
    /// Whether `openai` servers are asked for the length: older models and many local servers refuse the field.
    pub ask_for_dimension: bool,
    /// Texts in one request, at most.
    pub batch: usize,
    /// For a guest's question, retries included; after it the turn goes on by words alone.
    pub query_deadline_ms: u64,
    /// For one batch of content, retries included.
    pub document_deadline_ms: u64,
    /// Dollars for a million tokens of text; free when left out (OBS-40).
    #[serde(default)]
    pub price: UsdPerMillion,
}

/// The embedding in use. Cheap to clone.
#[derive(Debug, Clone)]
pub enum Embedding {
    Offline(Arc<Offline>),
    Hosted(Arc<dyn Embedder>),
}

/// A stored vector, and the hash of what it was made of.
#[derive(Debug, Clone, PartialEq)]
pub struct Stored {
    pub item_id: String,
    pub content_hash: String,
    pub values: Vec<f32>,
}

impl Default for Embedding {
    fn default() -> Self {
        Self::Offline(Arc::default())
    }
}

impl Embedding {
    /// Opens no connection. With a hosted model the process must have installed its TLS provider (rustls with ring) before.
    pub fn new(settings: &Settings, cache: &Cache, observer: Arc<dyn Observer>) -> Result<Self, Error> {
        Ok(match settings.provider {
            Provider::Offline => Self::default(),
            Provider::Gemini | Provider::Openai => {
                let price = Price { input: settings.price, ..Price::default() };
                Self::Hosted(Arc::new(Hosted::new(settings, cache, Guard { price, ..Guard::default() }, observer)?))
            }
        })
    }

    pub fn embedder(&self) -> &dyn Embedder {
        match self {
            Self::Offline(offline) => &**offline,
            Self::Hosted(hosted) => &**hosted,
        }
    }

    pub fn space(&self) -> &Space {
        self.embedder().space()
    }

    /// Whether vectors of content have to be stored beside it.
    pub fn is_stored(&self) -> bool {
        matches!(self, Self::Hosted(_))
    }

    /// The index of one casino's items. Of the stored vectors only those of the items' present texts count: a vector of an old text
    /// would answer with what is no longer said (RAG-24). Offline the vectors are made here.
    pub fn index(&self, items: Vec<Item>, zone: Tz, stored: Vec<Stored>) -> Index {
        let index = Index::build(items).in_zone(zone);
        match self {
            Self::Offline(offline) => index.embedded(offline),
            Self::Hosted(_) => {
                let space = self.space();
                let hash = |id: &str| Some(Chunk::of(index.get(id)?, zone)?.hash(space));
                let present = stored.into_iter().filter(|s| hash(&s.item_id).as_ref() == Some(&s.content_hash));
                let vectors: HashMap<String, Vector> =
                    present.map(|stored| (stored.item_id, Vector::normalised(stored.values))).collect();
                index.with_vectors(space.clone(), &vectors)
            }
        }
    }

    /// The question as the index takes it: with its vector, or after a failure by words alone.
    pub async fn query<'a>(&'a self, text: &str, now: DateTime<Utc>) -> Query<'a> {
        match self {
            Self::Offline(offline) => Query::offline(text, now, offline),
            Self::Hosted(hosted) => match one(&**hosted, text).await {
                Ok(vector) => Query::new(text, now).vector(self.space(), vector),
                Err(error) => {
                    tracing::warn!(error = &error as &dyn std::error::Error, "a question is searched by words alone");
                    Query::new(text, now)
                }
            },
        }
    }
}

/// The vector of one question.
async fn one(embedder: &dyn Embedder, text: &str) -> Result<Vector, EmbedError> {
    let mut vectors = embedder.embed(&[text], Purpose::Query).await?;
    let got = vectors.len();
    vectors.pop().ok_or_else(|| EmbedError::Mismatch { model: embedder.space().model.clone(), asked: 1, got })
}
