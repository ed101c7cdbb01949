//! Development tools: `dev` runs the fleet on this machine, `chaos` breaks it, `bench` measures it,
//! `eval` plays scripted guests. Scripts of these names start the tools. None of them is shipped.

pub mod bench;
pub mod chaos;
pub mod dev;
pub mod eval;
mod processes;
pub mod stack;
mod whole_traces;

pub use processes::seven as product;
