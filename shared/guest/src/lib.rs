//! Holds the facts about a guest and makes decisions from them. All functions are pure: they do no
//! I/O, use no randomness, and get the time from the caller. `Debug` never shows a guest's name or
//! words.

pub mod completeness;
pub mod confidence;
pub mod dialogue;
pub mod escalation;
pub mod extract;
pub mod learn;
pub mod offers;
pub mod phase;
pub mod profile;
pub mod session;
pub mod topic;

pub use confidence::Confidence;
pub use dialogue::DialogueState;
pub use extract::{Extracted, Setting, Slot, extract, holiday_in};
pub use learn::Learnt;
pub use phase::Phase;
pub use profile::{
    Counted, Grant, GrantRef, Key, Merged, NOTICE, Observation, Profile, Scope, Source, Value,
};
pub use session::Session;
pub use topic::Topic;
