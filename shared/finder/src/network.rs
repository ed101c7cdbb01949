//! The weights: the encoder, its word pieces, and the heads. The heads turn a text's vector into the
//! kinds of text and into a place near the facts that answer it.

use std::io::{Read, Seek};

use candle_core::{Result, Tensor};
use seven_encoder::{Encoder, Pieces, file};

use crate::{Heard, Kinds, Question, Vector};

/// Maximum numbers of word pieces of a text, of the names beside it, of the text before it, of a
/// row's gist and of a fact. The training reads 28 pieces of the text before.
const TEXT_PIECES: usize = 56;
const NAMES_PIECES: usize = 24;
const BEFORE_PIECES: usize = 24;
const GIST_PIECES: usize = 14;
const FACT_PIECES: usize = 36;
/// The factor of the cosine before the softmax, as in the training.
const SCALE: f32 = 20.0;

#[derive(Debug)]
pub(crate) struct Network {
    pieces: Pieces,
    encoder: Encoder,
    asked: Tensor,
    told: Tensor,
    kinds: Tensor,
    bias: Tensor,
    nothing: Vector,
}

impl Network {
    pub(crate) fn of<R: Read + Seek>(reader: &mut R) -> Result<Self> {
        let (pieces, encoder, heads) = file::read(reader, true, |tensors| {
            let mut across = |name| tensors.plain(name)?.t()?.contiguous();
            let heads = [across("asked")?, across("told")?, across("kinds.w")?];
            Ok((heads, tensors.plain("kinds.b")?, tensors.plain("nothing")?))
        })?;
        let ([asked, told, kinds], bias, nothing) = heads;
        Ok(Self {
            nothing: unit(&nothing)?,
            pieces,
            encoder,
            asked,
            told,
            kinds,
            bias,
        })
    }

    pub(crate) fn heard(&self, question: &Question<'_>) -> Result<Heard> {
        let parts = [
            (question.text, TEXT_PIECES),
            (&question.names.join(", "), NAMES_PIECES),
            (question.before, BEFORE_PIECES),
        ];
        let pooled = self.encoder.pooled(&self.ids(&parts))?;
        let logits = pooled.matmul(&self.kinds)?.broadcast_add(&self.bias)?;
        let logits = logits.flatten_all()?.to_vec1::<f32>()?;
        let odds: Vec<f32> = logits.iter().map(|logit| logit.exp()).collect();
        let total: f32 = odds.iter().sum();
        let [asks, asks_else, suggestion, no_question] = odds[..] else {
            candle_core::bail!("the weights tell {} kinds apart, not 4", odds.len())
        };
        Ok(Heard {
            vector: unit(&pooled.matmul(&self.asked)?)?,
            kinds: Kinds {
                asks: asks / total,
                asks_else: asks_else / total,
                suggestion: suggestion / total,
                no_question: no_question / total,
            },
        })
    }

    pub(crate) fn told(&self, facts: &[(&str, &str)]) -> Result<Vec<Vector>> {
        let ids = facts
            .iter()
            .map(|(gist, fact)| self.ids(&[(gist, GIST_PIECES), (fact, FACT_PIECES)]))
            .collect::<Vec<_>>();
        let ids: Vec<&[u32]> = ids.iter().map(Vec::as_slice).collect();
        let told = self.encoder.pooled_each(&ids)?.matmul(&self.told)?;
        (0..facts.len()).map(|at| unit(&told.get(at)?)).collect()
    }

    pub(crate) fn nothing(&self) -> &Vector {
        &self.nothing
    }

    /// Returns the logit of a fact: the scaled cosine of both vectors.
    pub(crate) fn likeness(&self, text: &Vector, fact: &Vector) -> f32 {
        let products = text.iter().zip(fact).map(|(a, b)| a * b);
        SCALE * products.sum::<f32>()
    }

    /// Returns the pieces of several texts, each ended by the mark of the end.
    fn ids(&self, parts: &[(&str, usize)]) -> Vec<u32> {
        let each = parts
            .iter()
            .map(|(text, most)| self.pieces.ids(text, *most));
        let mut joined = Vec::new();
        for ids in each {
            // Only the first text keeps the mark of the beginning.
            let begin = usize::from(!joined.is_empty());
            joined.extend_from_slice(&ids[begin..]);
        }
        joined
    }
}

/// Returns a row of numbers scaled to length 1.
fn unit(row: &Tensor) -> Result<Vector> {
    let mut row = row.flatten_all()?.to_vec1::<f32>()?;
    let length = row
        .iter()
        .map(|x| x * x)
        .sum::<f32>()
        .sqrt()
        .max(f32::EPSILON);
    row.iter_mut().for_each(|x| *x /= length);
    Ok(row.into())
}
