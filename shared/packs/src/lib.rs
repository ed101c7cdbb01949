//! Domain packs as data: who speaks, what the fleet says and by which numbers it decides, for one line of business.
//!
//! A [`Pack`] is a value and [`Packs`] knows them by name; a casino's document names its own. The casino pack's files live beside the code
//! (`casino/`, `demo/`) and are compiled in, so that a worker cannot start with half a pack; others come from a directory, whose reader
//! hands the texts in. Never does I/O, reads no clock, draws no random numbers; never knows a real casino.

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
