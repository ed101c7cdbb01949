//! Dead letters (D17): whom one is about, its payload as people may see it, and replaying or
//! discarding it. Commands, scheduler and console use the same functions.

mod about;
mod handle;
pub mod payload;
mod reentry;

pub use about::about;
pub use handle::{Did, discard, judge, replay};
pub use reentry::Refusal;
