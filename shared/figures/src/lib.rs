//! The figures of a casino for its manager (OBS-33): texts received, answers, costs. The console,
//! `seven figures` and the weekly report show the same figures; `docs/metrics.md` defines each by a
//! query.

pub mod csv;
pub mod drift;
mod figure;
mod letter;
mod period;
mod report;

pub use figure::{Figure, Unit};
pub use letter::letter;
pub use period::{Bad, LONGEST_DAYS, Period};
pub use report::{Day, Report, Value, months};
