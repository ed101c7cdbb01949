//! Knowledge about a guest and the decisions made from it: profile, completeness, phases,
//! extraction, escalation, offers.
//!
//! Pure functions: no I/O, no clock, no randomness; the time is passed in. Never prints a guest's
//! name or words: `Debug` of values and findings shows their kind only.

pub mod completeness;
pub mod confidence;
pub mod escalation;
pub mod extract;
pub mod learn;
pub mod offers;
pub mod phase;
pub mod profile;
pub mod session;
pub mod topic;

pub use confidence::Confidence;
pub use extract::{Extracted, Setting, Slot, extract, holiday_in};
pub use learn::Learnt;
pub use phase::Phase;
pub use profile::{Counted, Grant, GrantRef, Key, Merged, Observation, Profile, Scope, Source, Value};
pub use session::Session;
pub use topic::Topic;
