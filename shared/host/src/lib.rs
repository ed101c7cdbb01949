//! How a turn becomes one reply: agents as data, the turn as a state machine, and rules for
//! replies.
//!
//! This crate does no I/O, reads no clock and calls no model. `agent-swarm` asks the machine for
//! the next action, performs it and reports its outcome.

pub mod check;
pub mod grounding;
pub mod machine;
pub mod manifest;
pub mod manner;
pub mod plan;
pub mod prompt;
pub mod record;
mod structured;
pub mod trial;

pub use check::{Check, Finding, has_link};
pub use grounding::{Evidence, Unfounded};
pub use machine::{Action, Ending, Event, Route, Subject, Turn, Verdict};
pub use manifest::{Agent, Manifest, SearchTool};
pub use plan::Plan;
pub use prompt::{Prompt, PromptFacts, Prompts, draft_to_judge, guests_words};
pub use record::Record;
