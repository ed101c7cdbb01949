//! Reads the meaning of a guest's text before any agent may read it: keywords, opt-outs in plain
//! language, guardrails, the verdict.
//!
//! Pure functions over `&str`, total on any input. Never does I/O, never keeps or prints the text, never decides what is
//! sent: ingress and gate act on the verdict. Likewise for what a guest may be sent unasked: area codes, state rules, windows.

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
pub use second::{Evidence, SecondReading};
pub use verdict::{Verdict, verdict};
