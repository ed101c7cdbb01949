//! The embedder computes vectors on blocking threads, a few at a time and within deadlines. It
//! caches the vectors of recent questions.

use std::{error::Error as StdError, fmt, path::PathBuf, sync::Arc, thread, time::Duration};

use moka::future::Cache;
use seven_knowledge::{EmbedError, Embedder, Embedding, Purpose, Space, Vector};
use sha2::{Digest, Sha256};
use tokio::{sync::Semaphore, task::spawn_blocking, time::timeout};

use crate::{
    error::{Error, Failed},
    model::{Model, SHA256, WIDTH},
};

/// Name of the model in the vector space. It is not "multilingual-e5-small", because a server with
/// other weights may use that name.
const NAME: &str = "local-e5-small";
/// Number of digits of the weights' hash that make up the version of the vector space.
const VERSION_DIGITS: usize = 12;
/// Maximum number of questions whose vectors are cached; together they take about 7 MB.
const QUESTIONS: u64 = 4_096;
/// How long a question's vector stays in the cache after its last use.
const KEPT: Duration = Duration::from_secs(600);

#[derive(Debug, Clone)]
pub struct Settings {
    /// The folder that holds the weights.
    pub folder: PathBuf,
    /// Maximum number of documents that share one deadline.
    pub batch: usize,
    pub query_deadline: Duration,
    pub document_deadline: Duration,
}

/// Computes the vector of one text.
pub(crate) type Compute = dyn Fn(&str, Purpose) -> seven_encoder::Result<Vec<f32>> + Send + Sync;

/// The model in this process: some 150 MB, shared by all threads.
pub struct Local {
    space: Space,
    compute: Arc<Compute>,
    computations: Arc<Semaphore>,
    questions: Cache<[u8; 32], Vector>,
    settings: Settings,
}

impl Local {
    /// Reads the weights, which takes about a second.
    ///
    /// # Errors
    /// Fails if the folder does not hold the weights of this build.
    pub fn open(settings: Settings) -> Result<Self, Error> {
        let model = Model::open(&settings.folder)?;
        let compute = move |text: &str, purpose| model.vector(text, purpose);
        Ok(Self::of(Arc::new(compute), computations(), settings))
    }

    pub(crate) fn of(compute: Arc<Compute>, computations: usize, settings: Settings) -> Self {
        let space = Space {
            model: NAME.to_owned(),
            version: SHA256.chars().take(VERSION_DIGITS).collect(),
            dimension: WIDTH,
        };
        let questions = Cache::builder()
            .max_capacity(QUESTIONS)
            .time_to_idle(KEPT)
            .build();
        Self {
            space,
            compute,
            computations: Arc::new(Semaphore::new(computations)),
            questions,
            settings,
        }
    }

    /// Embeds the questions within one deadline. Uses cached vectors. If several callers ask the
    /// same question at once, its vector is computed only once.
    async fn questions(&self, texts: &[&str]) -> Result<Vec<Vector>, EmbedError> {
        let all = async {
            let mut vectors = Vec::with_capacity(texts.len());
            for text in texts {
                let key = Sha256::digest(text).into();
                let vector = self.vector(text, Purpose::Query);
                let vector = self.questions.try_get_with(key, vector).await;
                vectors.push(vector.map_err(|source| self.explain(source))?);
            }
            Ok(vectors)
        };
        self.within(self.settings.query_deadline, all).await
    }

    /// Embeds the documents in batches. The deadline applies to each batch, not to all of them.
    async fn documents(&self, texts: &[&str]) -> Result<Vec<Vector>, EmbedError> {
        let mut vectors = Vec::with_capacity(texts.len());
        for batch in texts.chunks(self.settings.batch.max(1)) {
            let all = async {
                for text in batch {
                    let vector = self.vector(text, Purpose::Document).await;
                    vectors.push(vector.map_err(|source| self.explain(Arc::new(source)))?);
                }
                Ok(())
            };
            self.within(self.settings.document_deadline, all).await?;
        }
        Ok(vectors)
    }

    async fn within<T>(
        &self,
        deadline: Duration,
        work: impl Future<Output = Result<T, EmbedError>>,
    ) -> Result<T, EmbedError> {
        let model = || self.space.model.clone();
        match timeout(deadline, work).await {
            Ok(done) => done,
            Err(_) => Err(EmbedError::Timeout { model: model() }),
        }
    }

    /// Computes a vector on a blocking thread. A computation cannot be interrupted, so it holds its
    /// permit to the end, even after the deadline. A blank text gets a vector of zeros, which is
    /// similar to nothing.
    async fn vector(&self, text: &str, purpose: Purpose) -> Result<Vector, Failed> {
        if text.trim().is_empty() {
            return Ok(Vector::normalised(vec![0.0; self.space.dimension]));
        }
        let place = Arc::clone(&self.computations).acquire_owned().await;
        let place = place.expect("nobody closes the semaphore");
        let (compute, text) = (Arc::clone(&self.compute), text.to_owned());
        let work = move || {
            let _place = place;
            compute(&text, purpose)
        };
        let values = spawn_blocking(work).await.map_err(Failed::Stopped)?;
        Ok(Vector::normalised(values.map_err(Failed::Computation)?))
    }

    fn explain(&self, source: Arc<Failed>) -> EmbedError {
        let source: Arc<dyn StdError + Send + Sync> = source;
        EmbedError::Computation {
            model: self.space.model.clone(),
            source,
        }
    }
}

impl fmt::Debug for Local {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Local")
            .field("space", &self.space)
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

impl Embedder for Local {
    fn space(&self) -> &Space {
        &self.space
    }

    fn embed<'a>(&'a self, texts: &'a [&'a str], purpose: Purpose) -> Embedding<'a> {
        match purpose {
            Purpose::Query => Box::pin(self.questions(texts)),
            Purpose::Document => Box::pin(self.documents(texts)),
        }
    }
}

/// Returns how many computations may run at a time: one for every two cores, because each
/// computation uses all cores for its matrix products.
fn computations() -> usize {
    thread::available_parallelism().map_or(1, |cores| (cores.get() / 2).max(1))
}
