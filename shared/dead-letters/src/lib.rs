//! Dead letters (D17): finds the guest that one is about, renders its payload for people, and
//! replays or discards it. Commands, scheduler and console use the same functions.

mod about;
mod handle;
pub mod payload;
mod reentry;

pub use about::about;
pub use handle::{Did, discard, judge, replay};
pub use reentry::Refusal;
