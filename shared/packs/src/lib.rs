//! Domain packs as data: the agents, texts and numbers of the fleet for one line of business.
//!
//! A [`Pack`] is a value; [`Packs`] finds packs by name, and a casino's document names its pack.
//! The casino pack's files (`casino/`, `demo/`) are compiled in, so that no worker starts with an
//! incomplete pack; other packs come from a directory, and the code that reads it passes their text
//! in. Does no I/O, reads no clock, draws no random numbers, and contains no real casino.

mod casino;
pub mod demo;
mod error;
mod law;
mod pack;
mod packs;
mod rules;
mod text_key;
mod texts;

pub use casino::{CASINO, casino};
pub use error::Error;
pub use pack::{Files, Pack, PromptFiles};
pub use packs::{Packs, Unknown};
pub use rules::{Rules, Typing, TypingKind, TypingPace};
pub use text_key::TextKey;
pub use texts::{Slots, Texts};
