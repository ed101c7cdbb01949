//! The reader's weights: the encoder, its word pieces, and the head. The head turns a text's vector
//! into one number for each kind of text.

use std::io::{Read, Seek};

use candle_core::{Result, Tensor};
use seven_encoder::{Encoder, MOST_PIECES, Pieces, file};

/// Number of kinds of text: ordinary, opt-out, crisis, emergency and problem gambling.
const KINDS: usize = 5;

#[derive(Debug)]
pub(crate) struct Network {
    pieces: Pieces,
    encoder: Encoder,
    head: Tensor,
    bias: Tensor,
}

impl Network {
    pub(crate) fn of<R: Read + Seek>(reader: &mut R) -> Result<Self> {
        let (pieces, encoder, (head, bias)) = file::read(reader, false, |tensors| {
            let head = tensors.plain("head.w")?.t()?.contiguous()?;
            Ok((head, tensors.plain("head.b")?))
        })?;
        Ok(Self {
            pieces,
            encoder,
            head,
            bias,
        })
    }

    /// Returns the logit of each kind. The difference of two logits is the log odds of one kind
    /// against the other.
    pub(crate) fn logits(&self, text: &str) -> Result<[f32; KINDS]> {
        let ids = self.pieces.ids(text, MOST_PIECES);
        let logits = self
            .encoder
            .pooled(&ids)?
            .matmul(&self.head)?
            .broadcast_add(&self.bias)?;
        let logits = logits.flatten_all()?.to_vec1::<f32>()?;
        logits
            .try_into()
            .map_err(|_| candle_core::Error::Msg(format!("the weights have no {KINDS} kinds")))
    }
}
