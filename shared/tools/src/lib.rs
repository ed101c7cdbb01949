//! The tools of a speaking agent: find rows, tell hours, learn about the guest, make an offer.
//!
//! Pure: tools do no I/O and read no clock. A tool stages changes as [`Effect`]s, which the turn's
//! commit writes (D4). If arguments are invalid, the tool's result is an error that the model can
//! read.

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
