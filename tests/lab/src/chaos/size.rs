//! How large the broken fleet is, and how fast its clocks run.

pub(crate) const CASINOS: usize = 4;

/// Processes of each kind of worker.
pub(crate) const PER_KIND: usize = 2;

/// All intervals of the fleet and of the carrier.
pub(crate) const SCALE: f64 = 0.05;
