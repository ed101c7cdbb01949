//! Reads English and Spanish texts for the host, the tools and the search: folding, words, stems,
//! sentences, numbers, months and weekdays. All functions are pure and accept any text.

pub mod calendar;
mod fold;
pub mod linear;
mod number;
mod sentences;
mod words;

pub use fold::fold;
pub use number::number;
pub use sentences::{sentence_ranges, sentences};
pub use words::{similarity, stem, trigrams, words};
