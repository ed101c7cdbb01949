//! Prepares texts for SMS: alphabets (GSM 03.38 and UCS-2), segments, transliteration, splitting a
//! reply into texts, and the risk that carriers filter a text.
//!
//! Pure functions. They never drop a character that carries meaning; an emoji makes the text UCS-2
//! instead. They never cut inside an escape pair or a surrogate pair, and inside a grapheme only if
//! that is unavoidable.

pub mod encoding;
mod fold;
pub mod risk;
pub mod segments;
pub mod split;
pub mod transliterate;

pub use encoding::{Encoding, encoding};
pub use risk::{Risk, risk};
pub use segments::{Measure, measure, segment_parts};
pub use split::{Shaped, shape};
pub use transliterate::transliterate;
