//! A casino's knowledge about itself: content file, checked items, opening hours and index. Does no
//! I/O, reads no clock, and never mixes casinos: an [`Index`] has the items of one casino.

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
pub mod offers;
mod retrieval;
pub mod schema;
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
pub use retrieval::Retrieval;
pub use schema::Categories;
pub use thresholds::Thresholds;
