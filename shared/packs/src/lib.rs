//! Domain packs as data: what the fleet says and by which numbers it decides, for one line of business. Today: casinos.
//!
//! The files live beside the code (`casino/`, `demo/`) and are compiled in, so that a worker cannot start with half a
//! pack. Never does I/O, reads no clock, draws no random numbers; never knows a real casino.

mod agents;
pub mod demo;
mod error;
mod guardrails;
mod rules;
mod texts;

pub use agents::{CASINO_AGENTS, agents};
pub use error::Error;
pub use guardrails::{CASINO_GUARDRAILS, guardrails};
pub use rules::{Rules, Typing, TypingKind, TypingPace};
pub use texts::{Slots, TextKey, Texts};

/// Agents, categories and answer patterns of the casino host.
pub const HOST_PACK: &str = include_str!("../casino/host.toml");

/// The system texts as written; [`Texts::casino`] is the parsed form.
pub const CASINO_TEXTS: &str = include_str!("../casino/texts.toml");

/// The rules as written; [`Rules::casino`] is the parsed form.
pub const CASINO_RULES: &str = include_str!("../casino/rules.toml");
