//! The local embedding (D12): multilingual-e5-small (MIT, 4-bit weights), computed in this process.
//! It implements [`seven_knowledge::Embedder`]. The weights are a file that `./scripts/weights`
//! fetches; they are not in the repository.
//!
//! This crate does no network I/O and keeps no text: the vectors of recent questions are cached
//! under the questions' hashes.

mod error;
mod local;
mod model;
mod packed;
#[cfg(test)]
mod tests;

pub use self::{
    error::{Error, Failed},
    local::{Local, Settings},
    model::{FILE, SHA256, WIDTH},
};
