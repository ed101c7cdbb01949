//! Turns texts into vectors: the trait of all embedders, and the offline embedder (D12). The index
//! only receives vectors; embedders that use HTTP live in other crates.

mod endings;
pub(crate) mod lexicon;
mod offline;
mod spellings;
#[cfg(test)]
mod tests;

use std::{error::Error, fmt, future::Future, pin::Pin, str::FromStr, sync::Arc};

use serde::{Deserialize, Serialize};

pub use offline::Offline;

/// Identifies vectors that may be compared with each other: those of one model, one version and one
/// dimension.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Space {
    /// The exact name of the model, such as `gemini-embedding-001`; never an alias such as
    /// "latest".
    pub model: String,
    /// Changes whenever the same text would get a different vector.
    pub version: String,
    pub dimension: usize,
}

/// The reason why a text cannot be read as a [`Space`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not written as model@version:dimension")]
pub struct NotASpace;

/// Whether a text is a document or a question; some models embed the two differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    Document,
    Query,
}

/// A vector of unit length, or all zeros if the embedder recognises nothing in the text.
#[derive(Debug, Clone, PartialEq)]
pub struct Vector(Box<[f32]>);

/// The reason why a text has no vector. The embedder reports it after its own retries.
#[derive(Debug, thiserror::Error)]
pub enum EmbedError {
    #[error("embedding with {model} took too long")]
    Timeout { model: String },
    #[error("embedding with {model}: {reason}")]
    Failed { model: String, reason: String },
    #[error("{model} gave {got} vectors of the wrong kind for {asked} texts")]
    Mismatch {
        model: String,
        asked: usize,
        got: usize,
    },
    #[error("embedding with {model} in this process")]
    Computation {
        model: String,
        #[source]
        source: Arc<dyn Error + Send + Sync>,
    },
}

/// A boxed future, so that embedders can be used as `Arc<dyn Embedder>`.
pub type Embedding<'a> = Pin<Box<dyn Future<Output = Result<Vec<Vector>, EmbedError>> + Send + 'a>>;

/// Turns each text into one vector of the embedder's space, in the order of the texts.
pub trait Embedder: fmt::Debug + Send + Sync {
    fn space(&self) -> &Space;

    /// Embeds the texts. A document's first line is its title; see [`crate::Chunk`].
    fn embed<'a>(&'a self, texts: &'a [&'a str], purpose: Purpose) -> Embedding<'a>;
}

// === impl Space ===

impl fmt::Display for Space {
    /// Writes the space in the form that content hashes contain, such as `offline@1f3c:512`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}:{}", self.model, self.version, self.dimension)
    }
}

impl FromStr for Space {
    type Err = NotASpace;

    /// Parses the form that [`Display`](fmt::Display) writes.
    fn from_str(text: &str) -> Result<Self, NotASpace> {
        let (rest, dimension) = text.rsplit_once(':').ok_or(NotASpace)?;
        let (model, version) = rest.rsplit_once('@').ok_or(NotASpace)?;
        Ok(Self {
            model: model.to_owned(),
            version: version.to_owned(),
            dimension: dimension.parse().map_err(|_| NotASpace)?,
        })
    }
}

// === impl Vector ===

impl Vector {
    /// Scales the values to unit length; the shortened vectors of a hosted model, for example, have
    /// another length. Values that are not finite become zero.
    pub fn normalised(mut values: Vec<f32>) -> Self {
        values
            .iter_mut()
            .filter(|v| !v.is_finite())
            .for_each(|v| *v = 0.0);
        let length = values
            .iter()
            .map(|v| f64::from(*v).powi(2))
            .sum::<f64>()
            .sqrt() as f32;
        if length > f32::EPSILON {
            values.iter_mut().for_each(|v| *v /= length);
        }
        Self(values.into())
    }

    /// Returns the cosine similarity: 1 for the same direction, 0 for unrelated, -1 for opposite.
    /// Vectors with different numbers of values give 0.
    pub fn similarity(&self, other: &Self) -> f32 {
        if self.0.len() == other.0.len() {
            self.0.iter().zip(&other.0).map(|(a, b)| a * b).sum()
        } else {
            0.0
        }
    }

    pub fn values(&self) -> &[f32] {
        &self.0
    }

    /// Returns whether all values are zero because the embedder recognised nothing in the text.
    pub fn is_silent(&self) -> bool {
        self.0.iter().all(|v| *v == 0.0)
    }
}
