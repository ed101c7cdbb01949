//! Judges a guest's text before any agent reads it, and decides by law when a guest may be texted.
//! The functions are pure: they accept any input, keep and print no text, and send nothing.

pub mod area_codes;
pub mod chain;
pub mod dialogue;
pub mod disclosure;
pub mod echo;
pub mod guardrails;
pub mod jurisdiction;
pub mod keywords;
mod likeness;
pub mod machine;
mod normal;
pub mod offers;
pub mod opt_out;
mod opt_out_reason;
mod pattern;
pub mod proactive;
pub mod provider;
pub mod quiet_hours;
mod second;
pub mod verdict;

pub use guardrails::{Author, Decision, Guardrails, Hit, Layer};
pub use keywords::{Intent, Keyword, classify};
pub use likeness::{Likely, LikelyKind};
pub use machine::Machine;
pub use normal::is_invisible;
pub use offers::{Catalogue, OfferCheck};
pub use opt_out_reason::opt_out_reason;
pub use second::{Evidence, SecondReading};
pub use verdict::{Verdict, verdict};
