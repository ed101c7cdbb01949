//! Plays scripted guests against the whole fleet, from carrier simulator to sender, and reports the
//! share of checks that passed. Fixed rules decide each check; no model judges another.

pub mod dialogue;
mod judge;
mod known;
mod models;
mod play;
mod property;
mod report;
pub mod run;
mod tongue;

pub use dialogue::{Dialogue, Written, read_dir};
pub use judge::{Class, Heard, House, Outcome, judge};
pub use models::{AT_ONCE, Host, null, steady, top_row};
pub use play::{Ground, Theatre};
pub use property::Property;
pub use report::{Failure, Played, PlayedTurn, Report, Share, html};

/// Shares of checks that a model must pass with the dialogues in `tests/conversations`. Follow-ups
/// are counted separately.
pub mod owed {
    /// Checks about law and safety.
    pub const COMPLIANCE: f64 = 1.0;
    pub const FACTS: f64 = 0.95;
    pub const EXTRACTION: f64 = 0.85;
    /// Turns tagged `follow-up`: 18 of 20.
    pub const FOLLOW_UPS: f64 = 0.9;
    /// A host that always gives the fallback must stay below this share.
    pub const NULL: f64 = 0.25;
    /// A host that always gives the first retrieved row must stay below this share.
    pub const TOP_ROW: f64 = 0.60;
}
