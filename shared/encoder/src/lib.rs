//! The neural network of multilingual-e5-small and its word pieces, computed in this process. The
//! gate's second reader (D20) and the local embedding (D12) use it, each with different weights.
//!
//! This crate does no network or file I/O: the caller opens the weights and says where in them the
//! tensors are.

mod encoder;
mod pieces;
mod tensors;
mod vocabulary;

pub use candle_core::{Error, Result};

pub use self::{
    encoder::{Encoder, Shape},
    pieces::{Case, Marks, Pieces},
    tensors::Tensors,
};

/// Maximum number of word pieces that are read of a guest's text. This bounds the time; the
/// beginning of a text is enough to tell its kind and its subject.
pub const MOST_PIECES: usize = 126;
