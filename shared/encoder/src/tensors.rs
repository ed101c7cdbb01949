//! Reads the tensors of a file by their names.

use std::{
    collections::HashMap,
    fmt,
    io::{Read, Seek},
};

use candle_core::{
    Device, Result, Tensor, bail,
    quantized::{QTensor, gguf_file::TensorInfo},
};

/// The tensors of an open file. Their offsets are relative to the position `begin` in the file.
pub struct Tensors<'a, R> {
    infos: &'a HashMap<String, TensorInfo>,
    begin: u64,
    reader: &'a mut R,
}

impl<'a, R: Read + Seek> Tensors<'a, R> {
    pub fn new(infos: &'a HashMap<String, TensorInfo>, begin: u64, reader: &'a mut R) -> Self {
        Self {
            infos,
            begin,
            reader,
        }
    }

    /// Returns a tensor as it is stored.
    ///
    /// # Errors
    /// Fails if the file has no such tensor, or ends within it.
    pub fn quantized(&mut self, name: &str) -> Result<QTensor> {
        match self.infos.get(name) {
            Some(info) => info.read(self.reader, self.begin, &Device::Cpu),
            None => bail!("the weights have no tensor {name}"),
        }
    }

    /// Returns a tensor in full precision.
    ///
    /// # Errors
    /// Fails as [`Self::quantized`] does.
    pub fn plain(&mut self, name: &str) -> Result<Tensor> {
        self.quantized(name)?.dequantize(&Device::Cpu)
    }
}

impl<R> fmt::Debug for Tensors<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tensors")
            .field("tensors", &self.infos.len())
            .finish_non_exhaustive()
    }
}
