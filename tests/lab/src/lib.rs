//! Tools of development around the fleet: `dev` runs all of it here, `chaos` breaks it, `bench` measures it, `eval` plays scripted
//! guests. The doors are ./scripts/dev, chaos, bench and eval. Nothing here is in the shipped program.

pub mod bench;
pub mod chaos;
pub mod dev;
pub mod eval;
mod processes;
pub mod stack;
mod whole_traces;

pub use processes::seven as product;
