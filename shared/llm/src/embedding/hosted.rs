//! A hosted embedder behind the same HTTP client and the same guard as the chat models.

use std::{sync::Arc, time::Duration};

use seven_cache::{Breaker, Cache};
use seven_knowledge::{EmbedError, Embedder, Embedding as Embedding_, Purpose, Space, Vector};

use super::{Provider, Settings, gemini, openai, raw::Raw};
use crate::{
    chat::{Defect, Error},
    guarded::{self, Guard, Observer, Trying},
};

/// A hosted embedding model: Gemini's, or one behind `/embeddings`.
#[derive(Debug)]
pub struct Hosted {
    space: Space,
    wire: Wire,
    guard: Guard,
    batch: usize,
    query_deadline: Duration,
    document_deadline: Duration,
}

#[derive(Debug)]
enum Wire {
    Gemini(gemini::Gemini),
    Openai(openai::OpenAi),
}

impl Hosted {
    /// Creates the embedder. Fails if the provider has no server, if the model is an alias and not
    /// a pinned model, or if the dimension or the batch size is zero.
    pub fn new(
        settings: &Settings,
        cache: &Cache,
        guard: guarded::Settings,
        observer: Arc<dyn Observer>,
    ) -> Result<Self, Error> {
        let provider = if settings.provider == Provider::Gemini {
            "gemini"
        } else {
            "openai"
        };
        let name = format!("{provider}/{}", settings.model);
        let setup = |reason| {
            Err(Error::Setup {
                model: name.clone(),
                reason,
            })
        };
        if settings.model.is_empty() || settings.model.contains("latest") {
            return setup(
                "an embedding model has to be pinned: aliases give vectors that cannot be compared",
            );
        }
        if settings.dimension == 0 || settings.batch == 0 {
            return setup("dimension and batch have to be at least 1");
        }
        let wire = match settings.provider {
            Provider::Offline | Provider::Local => {
                return setup("an embedding in this process needs no server");
            }
            Provider::Gemini => Wire::Gemini(gemini::Gemini::new(&name, settings)?),
            Provider::Openai => Wire::Openai(openai::OpenAi::new(&name, settings)?),
        };
        let (model, version) = (settings.model.clone(), settings.version.clone());
        Ok(Self {
            space: Space {
                model,
                version,
                dimension: settings.dimension,
            },
            wire,
            guard: Guard::new("embedding", &name, cache, guard, observer),
            batch: settings.batch,
            query_deadline: Duration::from_millis(settings.query_deadline_ms),
            document_deadline: Duration::from_millis(settings.document_deadline_ms),
        })
    }

    /// Returns the breaker of this provider and model, for reading its state.
    pub fn breaker(&self) -> &Breaker {
        self.guard.breaker()
    }

    /// Embeds the texts in batches. A blank text is not sent; its vector is zero and similar to
    /// nothing.
    async fn all(&self, texts: &[&str], purpose: Purpose) -> Result<Vec<Vector>, EmbedError> {
        let silent = Vector::normalised(vec![0.0; self.space.dimension]);
        let mut vectors = vec![silent; texts.len()];
        let said: Vec<usize> = (0..texts.len())
            .filter(|n| !texts[*n].trim().is_empty())
            .collect();
        for part in said.chunks(self.batch) {
            let batch: Vec<&str> = part.iter().map(|n| texts[*n]).collect();
            let deadline = match purpose {
                Purpose::Query => self.query_deadline,
                Purpose::Document => self.document_deadline,
            };
            let call = |deadline| -> Trying<'_, Vec<Vec<f32>>> {
                Box::pin(self.request(&batch, purpose, deadline))
            };
            let (raw, ..) = self
                .guard
                .run(deadline, call)
                .await
                .map_err(|error| self.explain(error))?;
            for (n, values) in part.iter().zip(raw) {
                vectors[*n] = Vector::normalised(values);
            }
        }
        Ok(vectors)
    }

    /// Makes one request. A vector with the wrong number of values is an error, because it cannot
    /// be compared with other vectors.
    async fn request(
        &self,
        texts: &[&str],
        purpose: Purpose,
        deadline: Duration,
    ) -> Result<Raw, Error> {
        let (vectors, usage) = match &self.wire {
            Wire::Gemini(gemini) => gemini.embed(texts, purpose, deadline).await?,
            Wire::Openai(openai) => openai.embed(texts, deadline).await?,
        };
        let got = vectors
            .iter()
            .filter(|values| values.len() == self.space.dimension)
            .count();
        if got != texts.len() || vectors.len() != texts.len() {
            let defect = Defect::Vectors {
                asked: texts.len(),
                got,
            };
            return Err(Error::Answer {
                model: self.guard.name().to_owned(),
                defect,
                usage,
            });
        }
        Ok((vectors, usage))
    }

    fn explain(&self, error: Error) -> EmbedError {
        let model = self.guard.name().to_owned();
        match error {
            Error::Timeout { .. } => EmbedError::Timeout { model },
            Error::Answer {
                defect: Defect::Vectors { asked, got },
                ..
            } => EmbedError::Mismatch { model, asked, got },
            Error::Open {
                source: Some(source),
                ..
            } => self.explain(*source),
            error => EmbedError::Failed {
                model,
                reason: error.to_string(),
            },
        }
    }
}

impl Embedder for Hosted {
    fn space(&self) -> &Space {
        &self.space
    }

    fn embed<'a>(&'a self, texts: &'a [&'a str], purpose: Purpose) -> Embedding_<'a> {
        Box::pin(self.all(texts, purpose))
    }
}
