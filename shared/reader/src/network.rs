//! The reader's weights: the encoder, its word pieces, and the head. The head turns a text's vector
//! into one number for each kind of text.

use std::io::{Read, Seek};

use candle_core::{
    Result, Tensor, bail,
    quantized::gguf_file::{Content, Value},
};
use seven_encoder::{Case, Encoder, MOST_PIECES, Marks, Pieces, Shape, Tensors};

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
        let content = Content::read(reader)?;
        let start = content.tensor_data_offset;
        let mut tensors = Tensors::new(&content.tensor_infos, start, reader);
        let (word, place) = (tensors.quantized("word")?, tensors.plain("place")?);
        Ok(Self {
            pieces: pieces(&content)?,
            head: tensors.plain("head.w")?.t()?.contiguous()?,
            bias: tensors.plain("head.b")?,
            encoder: Encoder::new(word, place, shape(&content)?, &mut tensors)?,
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

fn shape(content: &Content) -> Result<Shape> {
    Ok(Shape {
        layers: number(content, "reader.layers")? as usize,
        heads: number(content, "reader.heads")? as usize,
        epsilon: value(content, "reader.epsilon")?.to_f32()?,
        unpacked: false,
    })
}

fn pieces(content: &Content) -> Result<Pieces> {
    let words = value(content, "reader.pieces")?.to_vec()?;
    let scores = value(content, "reader.scores")?.to_vec()?;
    if words.len() != scores.len() {
        bail!("{} pieces with {} scores", words.len(), scores.len());
    }
    let words = words
        .iter()
        .zip(scores)
        .map(|(word, score)| Ok((word.to_string()?, score.to_f32()?)));
    let marks = Marks {
        begin: number(content, "reader.bos")?,
        end: number(content, "reader.eos")?,
        unknown: number(content, "reader.unk")?,
    };
    Pieces::new(&words.collect::<Result<Vec<_>>>()?, marks, Case::Lower)
}

fn number(content: &Content, name: &str) -> Result<u32> {
    value(content, name)?.to_u32()
}

fn value<'a>(content: &'a Content, name: &str) -> Result<&'a Value> {
    match content.metadata.get(name) {
        Some(value) => Ok(value),
        None => bail!("the weights do not say {name}"),
    }
}
