//! The local embedding (D12): multilingual-e5-small (MIT, 4-bit weights), computed in this process.
//! It implements [`seven_knowledge::Embedder`]. The weights are a file that `./scripts/weights`
//! fetches; they are not in the repository.
//!
//! No network. Keeps no text: the cached vectors of recent questions have the questions' hashes as
//! keys.

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
