//! A casino's knowledge about itself: the content file, its checked items, opening hours, the texts
//! made from items and the in-memory index that finds them by words and by vectors (CMS-11..24,
//! RAG-1, RAG-2, RAG-12..24, RAG-30).
//!
//! Never does I/O, never reads the clock, never mixes two casinos: an [`Index`] is built from one casino's items only.

pub mod calibration;
mod category;
mod chunk;
mod content;
mod dates;
pub mod embedding;
pub mod evaluate;
mod fields;
pub mod formatter;
pub mod hours;
pub mod index;
pub mod item;
pub mod schema;
mod strategy;
pub mod text;
mod thresholds;

pub use category::Category;
pub use chunk::{Chunk, Ingestion, IngestionError};
pub use content::{ContentProblem, parse_content, parse_content_of};
pub use dates::Reference;
pub use embedding::{EmbedError, Embedder, Embedding, Offline, Purpose, Space, Vector};
pub use fields::Problem;
pub use hours::{HoursError, Moment, Span, WeeklyHours};
pub use index::{Hit, Index, Mention, Passed, Query, Retrieved, Scores, TOP_K, Term};
pub use item::Item;
pub use schema::Categories;
pub use strategy::Strategy;
pub use thresholds::Thresholds;
