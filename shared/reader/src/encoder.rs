//! The encoder turns word pieces into a number for each kind of text (BERT with post-norm, learned
//! positions, mean pooling).

use std::io::{Read, Seek};

use candle_core::{
    Device, Module, Result, Tensor,
    quantized::{QMatMul, QTensor, gguf_file::Content},
};
use candle_nn::ops::{layer_norm, softmax_last_dim};

use crate::pieces::value;

/// The kinds are ordinary, opt-out, crisis, emergency and problem gambling.
const KINDS: usize = 5;

#[derive(Debug)]
pub(crate) struct Encoder {
    word: QTensor,
    place: Tensor,
    first: Norm,
    layers: Vec<Layer>,
    head: Tensor,
    bias: Tensor,
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

/// The tensors of a file, by name.
struct File<'a, R> {
    content: &'a Content,
    reader: &'a mut R,
    epsilon: f32,
}

// === impl Encoder ===

impl Encoder {
    pub(crate) fn of<R: Read + Seek>(content: &Content, reader: &mut R) -> Result<Self> {
        let number =
            |name: &str| Ok::<_, candle_core::Error>(value(content, name)?.to_u32()? as usize);
        let (layers, heads) = (number("reader.layers")?, number("reader.heads")?);
        let epsilon = value(content, "reader.epsilon")?.to_f32()?;
        let mut file = File {
            content,
            reader,
            epsilon,
        };
        Ok(Self {
            word: file.quantized("word")?,
            place: file.plain("place")?,
            first: file.norm("emb.ln")?,
            layers: (0..layers)
                .map(|n| Layer::of(&mut file, n))
                .collect::<Result<_>>()?,
            head: file.plain("head.w")?.t()?.contiguous()?,
            bias: file.plain("head.b")?,
            heads,
        })
    }

    /// Returns one number for each kind; the difference of two is the log odds between their kinds.
    pub(crate) fn logits(&self, ids: &[u32]) -> Result<[f32; KINDS]> {
        let ids = Tensor::new(ids, &Device::Cpu)?;
        let places = self.place.narrow(0, 0, ids.elem_count())?;
        let mut text = self
            .first
            .forward(&(self.word.embedding(&ids)? + places)?)?;
        for layer in &self.layers {
            text = layer.forward(&text, self.heads)?;
        }
        let logits = text
            .mean_keepdim(0)?
            .matmul(&self.head)?
            .broadcast_add(&self.bias)?;
        let logits = logits.flatten_all()?.to_vec1::<f32>()?;
        logits
            .try_into()
            .map_err(|_| candle_core::Error::Msg(format!("the weights have no {KINDS} kinds")))
    }
}

// === impl Layer ===

impl Layer {
    fn of<R: Read + Seek>(file: &mut File<'_, R>, n: usize) -> Result<Self> {
        Ok(Self {
            query: file.linear(n, "q")?,
            key: file.linear(n, "k")?,
            value: file.linear(n, "v")?,
            joined: file.linear(n, "ao")?,
            after_attention: file.norm(&format!("l{n}.aln"))?,
            wide: file.linear(n, "fi")?,
            narrow: file.linear(n, "fo")?,
            after: file.norm(&format!("l{n}.oln"))?,
        })
    }

    fn forward(&self, text: &Tensor, heads: usize) -> Result<Tensor> {
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
        let weights = (query.matmul(&key.t()?)? / (each as f64).sqrt())?;
        let seen = softmax_last_dim(&weights)?.matmul(&value)?;
        let seen = seen
            .transpose(0, 1)?
            .contiguous()?
            .reshape((length, size))?;
        let text = self
            .after_attention
            .forward(&(text + self.joined.forward(&seen)?)?)?;
        let thought = self
            .narrow
            .forward(&self.wide.forward(&text)?.gelu_erf()?)?;
        self.after.forward(&(text + thought)?)
    }
}

impl Linear {
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        self.weight.forward(x)?.broadcast_add(&self.bias)
    }
}

impl Norm {
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        layer_norm(&x.contiguous()?, &self.weight, &self.bias, self.epsilon)
    }
}

// === impl File ===

impl<R: Read + Seek> File<'_, R> {
    fn quantized(&mut self, name: &str) -> Result<QTensor> {
        self.content.tensor(self.reader, name, &Device::Cpu)
    }

    fn plain(&mut self, name: &str) -> Result<Tensor> {
        self.quantized(name)?.dequantize(&Device::Cpu)
    }

    fn linear(&mut self, layer: usize, name: &str) -> Result<Linear> {
        let weight = QMatMul::from_qtensor(self.quantized(&format!("l{layer}.{name}.w"))?)?;
        Ok(Linear {
            weight,
            bias: self.plain(&format!("l{layer}.{name}.b"))?,
        })
    }

    fn norm(&mut self, name: &str) -> Result<Norm> {
        let epsilon = self.epsilon;
        Ok(Norm {
            weight: self.plain(&format!("{name}.w"))?,
            bias: self.plain(&format!("{name}.b"))?,
            epsilon,
        })
    }
}
