//! The encoder turns word pieces into one vector for the whole text (BERT with post-norm, learned
//! positions, mean pooling).

use std::io::{Read, Seek};

use candle_core::{
    Device, Module, Result, Tensor,
    quantized::{QMatMul, QTensor},
};
use candle_nn::ops::{layer_norm, softmax_last_dim};

use crate::{gelu::Gelu, tensors::Tensors};

/// The properties of a network that do not follow from its tensors.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    pub layers: usize,
    pub heads: usize,
    /// Added to the variance by each normalisation.
    pub epsilon: f32,
    /// Whether the layers' weights are unpacked when they are read. For weights of 4 bits this
    /// takes 85 MB instead of 12 and halves the time. On a busy machine it saves even more time:
    /// threads that multiply packed weights wait for each other in a busy loop.
    pub unpacked: bool,
}

/// The neural network. The table with the vectors of the word pieces stays quantised, because it
/// would take 384 MB unpacked. Only the rows that a text needs are unpacked.
#[derive(Debug)]
pub struct Encoder {
    word: QTensor,
    place: Tensor,
    first: Norm,
    layers: Vec<Layer>,
    heads: usize,
}

#[derive(Debug)]
struct Layer {
    query: Linear,
    key: Linear,
    value: Linear,
    joined: Linear,
    after_attention: Norm,
    wide: Linear,
    narrow: Linear,
    after: Norm,
}

#[derive(Debug)]
struct Linear {
    weight: QMatMul,
    bias: Tensor,
}

#[derive(Debug)]
struct Norm {
    weight: Tensor,
    bias: Tensor,
    epsilon: f32,
}

// === impl Encoder ===

impl Encoder {
    /// Builds the network. `word` has the vectors of the word pieces, `place` the vectors of the
    /// positions in a text, and `tensors` the layers.
    ///
    /// # Errors
    /// Fails if a tensor is missing or cut off.
    pub fn new<R: Read + Seek>(
        word: QTensor,
        place: Tensor,
        shape: Shape,
        tensors: &mut Tensors<'_, R>,
    ) -> Result<Self> {
        Ok(Self {
            word,
            place,
            first: Norm::of(tensors, "emb.ln", shape.epsilon)?,
            layers: (0..shape.layers)
                .map(|n| Layer::of(tensors, n, shape))
                .collect::<Result<_>>()?,
            heads: shape.heads,
        })
    }

    /// Returns the mean of the pieces' vectors, a tensor of one row.
    ///
    /// # Errors
    /// Fails if a piece is not in the table, or the text has more pieces than the network has
    /// positions.
    pub fn pooled(&self, ids: &[u32]) -> Result<Tensor> {
        self.pooled_each(&[ids])
    }

    /// Returns a row for each text, as [`Self::pooled`] does for one. Several short texts together
    /// take less time than one after the other.
    ///
    /// # Errors
    /// Fails as [`Self::pooled`] does.
    pub fn pooled_each(&self, texts: &[&[u32]]) -> Result<Tensor> {
        let ids = Tensor::new(texts.concat(), &Device::Cpu)?;
        let places = texts
            .iter()
            .map(|text| self.place.narrow(0, 0, text.len()))
            .collect::<Result<Vec<_>>>()?;
        let places = Tensor::cat(&places, 0)?;
        let lengths: Vec<usize> = texts.iter().map(|text| text.len()).collect();
        let mut all = self
            .first
            .forward(&(self.word.embedding(&ids)? + places)?)?;
        for layer in &self.layers {
            all = layer.forward(&all, &lengths, self.heads)?;
        }
        let means = parts(&all, &lengths, 0)?
            .iter()
            .map(|text| text.mean_keepdim(0))
            .collect::<Result<Vec<_>>>()?;
        Tensor::cat(&means, 0)
    }
}

/// Cuts a tensor along `dim` into parts of these lengths.
fn parts(of: &Tensor, lengths: &[usize], dim: usize) -> Result<Vec<Tensor>> {
    let mut at = 0;
    let part = |length: &usize| {
        let part = of.narrow(dim, at, *length)?.contiguous();
        at += length;
        part
    };
    lengths.iter().map(part).collect()
}

// === impl Layer ===

impl Layer {
    fn of<R: Read + Seek>(tensors: &mut Tensors<'_, R>, n: usize, shape: Shape) -> Result<Self> {
        let epsilon = shape.epsilon;
        let mut linear = |name: &str| Linear::of(tensors, &format!("l{n}.{name}"), shape.unpacked);
        let (query, key, value) = (linear("q")?, linear("k")?, linear("v")?);
        let (joined, wide, narrow) = (linear("ao")?, linear("fi")?, linear("fo")?);
        Ok(Self {
            query,
            key,
            value,
            joined,
            after_attention: Norm::of(tensors, &format!("l{n}.aln"), epsilon)?,
            wide,
            narrow,
            after: Norm::of(tensors, &format!("l{n}.oln"), epsilon)?,
        })
    }

    /// Computes the layer for several texts, one after the other in the rows of `text`. Each text
    /// attends only to itself.
    fn forward(&self, text: &Tensor, lengths: &[usize], heads: usize) -> Result<Tensor> {
        let (length, size) = text.dims2()?;
        let each = size / heads;
        let split = |of: Tensor| {
            of.reshape((length, heads, each))?
                .transpose(0, 1)?
                .contiguous()
        };
        let (query, key, value) = (
            split(self.query.forward(text)?)?,
            split(self.key.forward(text)?)?,
            split(self.value.forward(text)?)?,
        );
        let own = |of: &Tensor| parts(of, lengths, 1);
        let (query, key, value) = (own(&query)?, own(&key)?, own(&value)?);
        let seen = query
            .iter()
            .zip(&key)
            .zip(&value)
            .map(|((query, key), value)| {
                let weights = (query.matmul(&key.t()?)? / (each as f64).sqrt())?;
                softmax_last_dim(&weights)?.matmul(value)
            });
        let seen = Tensor::cat(&seen.collect::<Result<Vec<_>>>()?, 1)?;
        let seen = seen
            .transpose(0, 1)?
            .contiguous()?
            .reshape((length, size))?;
        let text = self
            .after_attention
            .forward(&(text + self.joined.forward(&seen)?)?)?;
        let wide = self.wide.forward(&text)?;
        wide.inplace_op1(&Gelu)?;
        let thought = self.narrow.forward(&wide)?;
        self.after.forward(&(text + thought)?)
    }
}

impl Linear {
    fn of<R: Read + Seek>(
        tensors: &mut Tensors<'_, R>,
        name: &str,
        unpacked: bool,
    ) -> Result<Self> {
        let weight = format!("{name}.w");
        Ok(Self {
            weight: if unpacked {
                QMatMul::Tensor(tensors.plain(&weight)?)
            } else {
                QMatMul::from_qtensor(tensors.quantized(&weight)?)?
            },
            bias: tensors.plain(&format!("{name}.b"))?,
        })
    }

    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        self.weight.forward(x)?.broadcast_add(&self.bias)
    }
}

impl Norm {
    fn of<R: Read + Seek>(tensors: &mut Tensors<'_, R>, name: &str, epsilon: f32) -> Result<Self> {
        Ok(Self {
            weight: tensors.plain(&format!("{name}.w"))?,
            bias: tensors.plain(&format!("{name}.b"))?,
            epsilon,
        })
    }

    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        layer_norm(&x.contiguous()?, &self.weight, &self.bias, self.epsilon)
    }
}
