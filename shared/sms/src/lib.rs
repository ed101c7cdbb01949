//! Prepares texts for SMS: alphabets (GSM 03.38 and UCS-2), segments, transliteration, splitting a
//! reply into texts, and the risk that carriers filter a text.
//!
//! Pure functions over `&str` without I/O. Never drops a character that carries meaning (an emoji
//! or another script makes the text UCS-2 instead), and never cuts inside an escape pair or a
//! surrogate pair, nor inside a grapheme cluster if that can be avoided.

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
