//! Reads a network of this project's own training from a gguf file: the word pieces, the encoder
//! and the heads that stand on it.

use std::io::{Read, Seek};

use candle_core::{
    Result, bail,
    quantized::gguf_file::{Content, Value},
};

use crate::{Case, Encoder, Marks, Pieces, Shape, Tensors};

/// Reads the file; `heads` reads the tensors that belong to its caller alone. `unpacked` is
/// [`Shape::unpacked`].
///
/// # Errors
/// Fails if the file is cut off or lacks a tensor or a property.
pub fn read<R: Read + Seek, T>(
    reader: &mut R,
    unpacked: bool,
    heads: impl FnOnce(&mut Tensors<'_, R>) -> Result<T>,
) -> Result<(Pieces, Encoder, T)> {
    let content = Content::read(reader)?;
    let start = content.tensor_data_offset;
    let mut tensors = Tensors::new(&content.tensor_infos, start, reader);
    let (word, place) = (tensors.quantized("word")?, tensors.plain("place")?);
    let encoder = Encoder::new(word, place, shape(&content, unpacked)?, &mut tensors)?;
    Ok((pieces(&content)?, encoder, heads(&mut tensors)?))
}

fn shape(content: &Content, unpacked: bool) -> Result<Shape> {
    Ok(Shape {
        layers: number(content, "reader.layers")? as usize,
        heads: number(content, "reader.heads")? as usize,
        epsilon: value(content, "reader.epsilon")?.to_f32()?,
        unpacked,
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
