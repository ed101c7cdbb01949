//! Packs: the agents, texts and numbers that the fleet uses for one trade, as data. The casino pack
//! is compiled in, so that no worker starts without it. This crate does no I/O and names no real
//! casino.

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
pub use rules::{ContentRules, Rules, Typing, TypingKind, TypingPace};
pub use text_key::TextKey;
pub use texts::{Slots, Texts};
