//! The neural network of multilingual-e5-small and its word pieces, computed in this process. The
//! gate's second reader (D20) and the local embedding (D12) use the network with different weights.
//!
//! This crate does no network or file I/O: the caller opens the weights' file and says where in the
//! file the tensors are.

mod encoder;
pub mod file;
mod gelu;
mod pieces;
mod tensors;
mod vocabulary;

pub use candle_core::{Error, Result};

pub use self::{
    encoder::{Encoder, Shape},
    pieces::{Case, Marks, Pieces},
    tensors::Tensors,
};

/// Maximum number of word pieces that are read of a guest's text. The limit bounds the time. The
/// beginning of a text is enough to tell the text's kind and subject.
pub const MOST_PIECES: usize = 126;
