//! The tools that a speaking agent may use beside writing: find rows, tell hours, learn about the
//! guest, make an offer (AGENT-31, AGENT-46, AGENT-47).
//!
//! Pure: works on an index in memory and given facts, never does I/O, never reads a clock. A tool
//! only stages its changes, each as an [`Effect`], for the turn's commit to write (D4). Any
//! arguments that a model sends give a value: errors are data.

mod availability;
mod create;
mod deal;
mod effect;
mod events;
mod fault;
mod find;
mod hours;
mod offers;
mod profile;
mod redeem;
mod registry;
mod said;
mod search;
#[cfg(test)]
mod tests;
mod toolbox;
mod when;

pub use effect::{Effect, offer_id};
pub use registry::{UnknownTool, check, known};
pub use toolbox::{Given, Guest, Toolbox};
