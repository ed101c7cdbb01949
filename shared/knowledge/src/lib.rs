//! What a casino knows about itself: the content file, its checked items, opening hours, the texts made from items and the
//! in-memory index that finds them (CMS-11..24, RAG-14..22).
//!
//! Never does I/O, never reads the clock, never mixes two casinos: an [`Index`] is built from one casino's items only.

mod category;
mod content;
mod dates;
mod fields;
pub mod formatter;
pub mod hours;
pub mod index;
pub mod item;
pub mod text;

pub use category::Category;
pub use content::{ContentProblem, parse_content};
pub use dates::Reference;
pub use fields::Problem;
pub use hours::{HoursError, Moment, Span, WeeklyHours};
pub use index::{Hit, Index, Mention};
pub use item::Item;
