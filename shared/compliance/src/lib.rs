//! Classifies a guest's text before any agent may read it: keywords, opt-outs in plain language,
//! guardrails, the verdict.
//!
//! Pure functions over `&str` that accept any input. They do no I/O, keep or print no text, and do
//! not decide what is sent: ingress and gate act on the verdict. The crate also decides which
//! unsolicited texts a guest may get: area codes, state rules, sending windows.

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
