//! The demonstration casino: a resort that does not exist, complete enough to hold a conversation about.
//!
//! Dates in its content are relative ("tomorrow 19:30", "in 30 days"), so that the demonstration never grows old; whoever
//! loads the content resolves them in the casino's time zone.

/// The casino's configuration document (`seven_domain::CasinoConfig`).
pub const CASINO: &str = include_str!("../demo/casino.json");

/// Its content: `{"schema": 1, "items": [...]}`.
pub const CONTENT: &str = include_str!("../demo/content.json");

#[cfg(test)]
mod tests;
