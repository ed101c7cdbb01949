//! Development tools for the fleet: `dev` runs all of it on this machine, `chaos` breaks it,
//! `bench` measures it, `eval` plays scripted guests. Start them with ./scripts/dev, chaos, bench
//! and eval. Nothing here is part of the shipped program.

pub mod bench;
pub mod chaos;
pub mod dev;
pub mod eval;
mod processes;
pub mod stack;
mod whole_traces;

pub use processes::seven as product;
