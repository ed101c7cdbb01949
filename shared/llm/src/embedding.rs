//! The embedding that a fleet uses: the offline one, or a model (hosted or in this process) whose
//! vectors of content are stored (D12).
//!
//! Content is embedded when it is ingested, and a question during its turn. If a question has no
//! vector by its deadline, the search uses its words alone. Retrieval thus never fails a turn
//! (D10).

mod gemini;
mod hosted;
mod openai;
mod raw;

use std::{collections::HashMap, path::PathBuf, sync::Arc, time::Duration};

use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use secrecy::SecretString;
use serde::Deserialize;
use seven_cache::Cache;
use seven_embedder::Local;
use seven_knowledge::{
    Chunk, EmbedError, Embedder, Index, Item, Offline, Purpose, Query, Space, Vector,
};
use url::Url;

use crate::{
    chat,
    guarded::{Observer, Price, Settings as Guard, UsdPerMillion},
};

pub use self::hosted::Hosted;

/// The provider that turns texts into vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Provider {
    /// Computed in memory, without a model or a connection; no vector is stored.
    #[default]
    Offline,
    /// The model multilingual-e5-small, run in this process with weights from a folder.
    Local,
    /// Gemini's `embedContent` and `batchEmbedContents`.
    Gemini,
    /// `/embeddings` of OpenAI or of any server with the same interface.
    Openai,
}

/// The reason why an embedding cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Hosted(#[from] chat::Error),
    #[error(transparent)]
    Local(#[from] seven_embedder::Error),
    #[error(
        "the local embedding has no folder of weights; ./scripts/weights fetches them and prints \
         the folder to set as knowledge.folder"
    )]
    NoFolder,
}

/// The section `[knowledge]` of a fleet's settings.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    pub provider: Provider,
    /// The folder of the weights, for `local` only.
    #[serde(default)]
    pub folder: Option<PathBuf>,
    /// `None` uses the provider's own address. The URL includes the API version for `openai`
    /// (`http://127.0.0.1:8080/v1/`), but not for `gemini`.
    #[serde(default)]
    pub base_url: Option<Url>,
    #[serde(default)]
    pub api_key: Option<SecretString>,
    /// A pinned model, never an alias such as "latest": vectors of two models cannot be compared.
    /// `model`, `version` and `dimension` are for hosted models only; for `local`, the weights
    /// determine them.
    pub model: String,
    /// Version of the vectors. Operators raise it when the same model name starts to return
    /// different vectors.
    pub version: String,
    /// Number of values in a vector; a model with longer vectors is asked to shorten them.
    pub dimension: usize,
    /// Whether requests to `openai` servers name the dimension; older models and many local servers
    /// refuse that field.
    pub ask_for_dimension: bool,
    /// Maximum number of texts in one request.
    pub batch: usize,
    /// Deadline for a guest's question, retries included; after it the question is searched by
    /// words alone.
    pub query_deadline_ms: u64,
    /// Deadline for one batch of content, retries included.
    pub document_deadline_ms: u64,
    /// US dollars per million tokens of text; zero if left out.
    #[serde(default)]
    pub price: UsdPerMillion,
}

/// The embedding in use. Cheap to clone.
#[derive(Debug, Clone)]
pub enum Embedding {
    Offline(Arc<Offline>),
    /// A model, hosted or in this process. The vectors of content are stored.
    Model(Arc<dyn Embedder>),
}

/// A stored vector and the hash of the text it was made from.
#[derive(Debug, Clone, PartialEq)]
pub struct Stored {
    pub item_id: String,
    pub content_hash: String,
    pub values: Vec<f32>,
}

// === impl Provider ===

impl Provider {
    /// Returns true for a hosted service; only such a service reads `Settings::api_key`.
    pub fn has_key(self) -> bool {
        matches!(self, Self::Gemini | Self::Openai)
    }
}

// === impl Embedding ===

impl Default for Embedding {
    fn default() -> Self {
        Self::Offline(Arc::default())
    }
}

impl Embedding {
    /// Creates the embedding without opening a connection. If the model is hosted, the process must
    /// have installed a TLS provider (rustls with ring) before. The local model reads its weights,
    /// which takes about a second.
    ///
    /// # Errors
    /// Fails if a setting that the provider needs is missing or wrong, or if the weights are not
    /// those of this build.
    pub fn new(
        settings: &Settings,
        cache: &Cache,
        observer: Arc<dyn Observer>,
    ) -> Result<Self, Error> {
        Ok(match settings.provider {
            Provider::Offline => Self::default(),
            Provider::Local => Self::Model(Arc::new(local(settings)?)),
            Provider::Gemini | Provider::Openai => {
                let price = Price {
                    input: settings.price,
                    ..Price::default()
                };
                Self::Model(Arc::new(Hosted::new(
                    settings,
                    cache,
                    Guard {
                        price,
                        ..Guard::default()
                    },
                    observer,
                )?))
            }
        })
    }

    pub fn embedder(&self) -> &dyn Embedder {
        match self {
            Self::Offline(offline) => &**offline,
            Self::Model(model) => &**model,
        }
    }

    /// Returns the embedder if it answers at once, as a search within a tool call requires; `None`
    /// for a model.
    pub fn immediate(&self) -> Option<&dyn Embedder> {
        match self {
            Self::Offline(offline) => Some(&**offline),
            Self::Model(_) => None,
        }
    }

    pub fn space(&self) -> &Space {
        self.embedder().space()
    }

    /// Returns whether the vectors of content have to be stored.
    pub fn is_stored(&self) -> bool {
        matches!(self, Self::Model(_))
    }

    /// Builds the index of a casino's items. Stored vectors of outdated texts are left out, because
    /// they would match words that an item no longer has.
    pub fn index(&self, items: Vec<Item>, zone: Tz, stored: Vec<Stored>) -> Index {
        match self {
            Self::Offline(offline) => Index::build(items).in_zone(zone).embedded(offline),
            Self::Model(_) => stored_index(items, zone, self.space(), stored),
        }
    }

    /// Returns the question with its vector; if embedding failed, the search uses words alone.
    pub async fn query<'a>(&'a self, text: &str, now: DateTime<Utc>) -> Query<'a> {
        match self {
            Self::Offline(offline) => Query::offline(text, now, offline),
            Self::Model(model) => match one(&**model, text).await {
                Ok(vector) => Query::new(text, now).vector(self.space(), vector),
                Err(error) => {
                    tracing::warn!(
                        error = &error as &dyn std::error::Error,
                        "a question is searched by words alone"
                    );
                    Query::new(text, now)
                }
            },
        }
    }
}

/// Builds the index of a casino's items from stored vectors of `space`, without a model. Vectors of
/// outdated texts are left out.
pub fn stored_index(items: Vec<Item>, zone: Tz, space: &Space, stored: Vec<Stored>) -> Index {
    let index = Index::build(items).in_zone(zone);
    let hash = |id: &str| Some(Chunk::of(index.get(id)?, zone)?.hash(space));
    let present = stored
        .into_iter()
        .filter(|s| hash(&s.item_id).as_ref() == Some(&s.content_hash));
    let vectors: HashMap<String, Vector> = present
        .map(|stored| (stored.item_id, Vector::normalised(stored.values)))
        .collect();
    index.with_vectors(space.clone(), &vectors)
}

fn local(settings: &Settings) -> Result<Local, Error> {
    let folder = settings.folder.clone().ok_or(Error::NoFolder)?;
    Ok(Local::open(seven_embedder::Settings {
        folder,
        batch: settings.batch,
        query_deadline: Duration::from_millis(settings.query_deadline_ms),
        document_deadline: Duration::from_millis(settings.document_deadline_ms),
    })?)
}

/// Embeds one question.
async fn one(embedder: &dyn Embedder, text: &str) -> Result<Vector, EmbedError> {
    let mut vectors = embedder.embed(&[text], Purpose::Query).await?;
    let got = vectors.len();
    vectors.pop().ok_or_else(|| EmbedError::Mismatch {
        model: embedder.space().model.clone(),
        asked: 1,
        got,
    })
}
