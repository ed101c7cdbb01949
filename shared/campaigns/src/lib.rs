//! Campaigns: their texts, the forecast for each guest, and listing the guests. Commands and
//! console plan with it; the scheduler releases what is listed.

mod create;
pub mod draft;
pub mod pace;
mod plan;
mod wording;

pub use create::{New, create};
pub use plan::{Fate, Line, Plan};
pub use wording::{Fault, Faults, Text, Texts};
