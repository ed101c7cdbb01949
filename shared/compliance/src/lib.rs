//! What a guest's text means before any agent may read it: keywords, opt-outs in plain language, guardrails, the verdict.
//!
//! Pure functions over `&str`, total on any input. Never does I/O, never keeps or prints the text, never decides what is
//! sent: ingress and gate act on the verdict.

pub mod guardrails;
pub mod keywords;
mod normal;
pub mod opt_out;
mod pattern;
pub mod verdict;

pub use guardrails::{Detector, Guardrails, Hit, Layer};
pub use keywords::{Intent, Keyword, classify};
pub use verdict::{Verdict, verdict};
