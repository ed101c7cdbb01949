//! The local embedding: multilingual-e5-small (MIT, 4-bit weights), computed in process behind
//! [`seven_knowledge::Embedder`] (D12). The weights are a file that `./scripts/weights` fetches;
//! they are not in the repository.
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
