//! Measures a text, splits it and rates its risk with carriers: GSM 03.38 and UCS-2, segments,
//! transliteration, shaping a reply into texts, the risk of being filtered.
//!
//! Pure functions over `&str`. Never does I/O, never drops a character whose meaning would be lost with it
//! (an emoji or another script makes the text UCS-2 instead), never cuts inside an escape pair, a surrogate pair or,
//! where it can be helped, a grapheme cluster.

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
