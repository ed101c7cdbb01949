//! Campaigns: their texts, the forecast for each guest, and the list of guests. Commands and the
//! console plan campaigns with this crate; the scheduler releases the listed texts.

mod create;
pub mod draft;
pub mod pace;
mod plan;
mod wording;

pub use create::{New, create};
pub use plan::{Fate, Line, Plan};
pub use wording::{Fault, Faults, Text, Texts};
