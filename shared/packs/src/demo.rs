//! The demonstration casino: an invented resort. Dates in its content are relative ("tomorrow
//! 19:30"), so that it never becomes outdated; loading resolves them in its time zone.

/// The casino's configuration document (`seven_domain::CasinoConfig`).
pub const CASINO: &str = include_str!("../demo/casino.json");

/// The casino's content: `{"schema": 1, "items": [...]}`.
pub const CONTENT: &str = include_str!("../demo/content.json");

#[cfg(test)]
mod tests;
