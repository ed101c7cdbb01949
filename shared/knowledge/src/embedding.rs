//! Texts as vectors: the trait that every embedder implements, and the offline embedder (D12,
//! RAG-12, RAG-13).
//!
//! The index never embeds: it receives vectors, and compares only those of one [`Space`]. An
//! embedder that uses HTTP therefore belongs outside this crate and implements [`Embedder`];
//! [`Offline`] also answers synchronously, without a future.

mod endings;
pub(crate) mod lexicon;
mod offline;
mod spellings;
#[cfg(test)]
mod tests;

use std::{fmt, future::Future, pin::Pin};

use serde::{Deserialize, Serialize};

pub use offline::Offline;

/// Identifies vectors that may be compared with each other: those of one model, version and length
/// (RAG-12).
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Space {
    /// Pinned model name, such as `gemini-embedding-001`; never an alias like "latest".
    pub model: String,
    /// Changes whenever the same text would get a different vector.
    pub version: String,
    pub dimension: usize,
}

/// The role of a text for the embedder; some models embed the two differently (RAG-13).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    Document,
    Query,
}

/// A vector of unit length, or all zeros for a text without meaning to the embedder.
#[derive(Debug, Clone, PartialEq)]
pub struct Vector(Box<[f32]>);

/// The reason why a text has no vector. The message comes from the embedder, which also decides
/// about retries.
#[derive(Debug, thiserror::Error)]
pub enum EmbedError {
    #[error("embedding with {model} took too long")]
    Timeout { model: String },
    #[error("embedding with {model}: {reason}")]
    Failed { model: String, reason: String },
    #[error("{model} gave {got} vectors of the wrong kind for {asked} texts")]
    Mismatch { model: String, asked: usize, got: usize },
}

/// A boxed future, so that embedders can be kept as `Arc<dyn Embedder>`.
pub type Embedding<'a> = Pin<Box<dyn Future<Output = Result<Vec<Vector>, EmbedError>> + Send + 'a>>;

/// Turns texts into vectors of one space, one per text and in their order.
pub trait Embedder: fmt::Debug + Send + Sync {
    fn space(&self) -> &Space;

    /// Embeds the texts. The first line of a document is its title, see [`crate::Chunk`].
    fn embed<'a>(&'a self, texts: &'a [&'a str], purpose: Purpose) -> Embedding<'a>;
}

// === impl Space ===

impl fmt::Display for Space {
    /// Writes the source string for content hashes, such as `offline@1f3c:512`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}:{}", self.model, self.version, self.dimension)
    }
}

// === impl Vector ===

impl Vector {
    /// Scales the values to unit length, which truncated vectors of a hosted model lack (RAG-13).
    /// Non-finite values count as zero.
    pub fn normalised(mut values: Vec<f32>) -> Self {
        values.iter_mut().filter(|v| !v.is_finite()).for_each(|v| *v = 0.0);
        let length = values.iter().map(|v| f64::from(*v).powi(2)).sum::<f64>().sqrt() as f32;
        if length > f32::EPSILON {
            values.iter_mut().for_each(|v| *v /= length);
        }
        Self(values.into())
    }

    /// Returns the cosine similarity: 1 for the same direction, 0 for unrelated, -1 for opposite; 0
    /// for vectors of different lengths (RAG-20).
    pub fn similarity(&self, other: &Self) -> f32 {
        if self.0.len() == other.0.len() { self.0.iter().zip(&other.0).map(|(a, b)| a * b).sum() } else { 0.0 }
    }

    pub fn values(&self) -> &[f32] {
        &self.0
    }

    /// Returns whether the embedder knew nothing in the text: all values are zero.
    pub fn is_silent(&self) -> bool {
        self.0.iter().all(|v| *v == 0.0)
    }
}
