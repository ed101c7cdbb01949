//! The demonstration casino: an invented resort. Dates in its content are relative ("tomorrow
//! 19:30"), so that the content never becomes outdated. They are resolved in the casino's time zone
//! when the content is loaded.

/// The casino's configuration document (`seven_domain::CasinoConfig`).
pub const CASINO: &str = include_str!("../demo/casino.json");

/// The casino's content: `{"schema": 1, "items": [...]}`.
pub const CONTENT: &str = include_str!("../demo/content.json");

#[cfg(test)]
mod tests;
