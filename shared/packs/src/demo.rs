//! The demonstration casino: an invented resort with enough content to hold a conversation about
//! it.
//!
//! Dates in its content are relative ("tomorrow 19:30", "in 30 days"), so that the demonstration
//! never becomes outdated; the code that loads the content resolves them in the casino's time zone.

/// The casino's configuration document (`seven_domain::CasinoConfig`).
pub const CASINO: &str = include_str!("../demo/casino.json");

/// The casino's content: `{"schema": 1, "items": [...]}`.
pub const CONTENT: &str = include_str!("../demo/content.json");

#[cfg(test)]
mod tests;
