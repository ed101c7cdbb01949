//! Handles dead letters (D17): finds a letter's guest, renders the letter's payload for people, and
//! replays or discards the letter. Commands, scheduler and console use the same functions.

mod about;
mod handle;
pub mod payload;
mod reentry;

pub use about::about;
pub use handle::{Did, discard, judge, replay};
pub use reentry::Refusal;
