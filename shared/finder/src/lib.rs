//! Finds the facts that a guest's text asks for among all facts of a casino's content, in the
//! course of a dialogue (D48). This crate does no I/O.
//!
//! `scripts/data/train_finder.py` makes `data/finder.gguf` (8-bit weights) from
//! multilingual-e5-small (MIT), fine-tuned on the dialogues of `tests/conversations/facts`. One
//! encoder turns a text and a fact into vectors; the fact that answers the text is the nearest.

mod network;

use std::{
    io::Cursor,
    sync::{Arc, LazyLock},
};

use network::Network;

/// Number of facts that are read together.
const AT_ONCE: usize = 16;

static WEIGHTS: &[u8] = include_bytes!("../data/finder.gguf");

/// The weights are invalid, or the computation with them failed.
#[derive(Debug, Clone, thiserror::Error)]
#[error("the finder of facts: {0}")]
pub struct Error(Arc<candle_core::Error>);

impl From<candle_core::Error> for Error {
    fn from(error: candle_core::Error) -> Self {
        Self(Arc::new(error))
    }
}

/// A guest's text, with what the dialogue is about.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    pub text: &'a str,
    /// The names of the rows that the host named last, newest first.
    pub names: &'a [&'a str],
    /// The guest's text before this one; empty if there is none.
    pub before: &'a str,
}

/// The place of a text or a fact among all others: a vector of length 1.
pub type Vector = Box<[f32]>;

/// A text as the network reads it.
#[derive(Debug, Clone)]
pub struct Heard {
    vector: Vector,
    /// The probability of each kind of text.
    pub kinds: Kinds,
}

/// The probability that a text asks for what the content holds, asks for something else, wishes for
/// suggestions, or asks for no fact.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Kinds {
    pub asks: f32,
    pub asks_else: f32,
    pub suggestion: f32,
    pub no_question: f32,
}

/// For each fact, the probability that it answers the text.
#[derive(Debug, Clone)]
pub struct Odds {
    pub facts: Vec<f32>,
    /// The probability that no fact does.
    pub nothing: f32,
}

/// The model and its vocabulary: about 30 MB, shared by all threads.
#[derive(Debug)]
pub struct Finder(Network);

impl Finder {
    /// Returns the finder of this build. The first call loads it.
    ///
    /// # Errors
    /// Fails if the weights of this build do not have the expected form.
    pub fn bundled() -> Result<&'static Self, Error> {
        static FINDER: LazyLock<Result<Finder, Error>> = LazyLock::new(|| Finder::of(WEIGHTS));
        FINDER.as_ref().map_err(Clone::clone)
    }

    fn of(weights: &[u8]) -> Result<Self, Error> {
        Ok(Self(Network::of(&mut Cursor::new(weights))?))
    }

    /// Reads a guest's text. This takes about 40 ms on one core.
    ///
    /// # Errors
    /// Fails if the computation fails, which no text can cause.
    pub fn hear(&self, question: &Question<'_>) -> Result<Heard, Error> {
        Ok(self.0.heard(question)?)
    }

    /// Returns the places of facts, each given with the gist of its row: the row's name, category
    /// and first sentence. This takes about 15 ms for each fact on one core, so keep the vectors.
    ///
    /// # Errors
    /// Fails as [`Self::hear`] does.
    pub fn places(&self, facts: &[(&str, &str)]) -> Result<Vec<Vector>, Error> {
        let each = facts
            .chunks(AT_ONCE)
            .map(|some| self.0.told(some))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(each.concat())
    }

    /// Compares a text with facts.
    pub fn odds<'a>(&'a self, heard: &Heard, facts: impl Iterator<Item = &'a Vector>) -> Odds {
        let mut facts: Vec<f32> = facts
            .chain([self.0.nothing()])
            .map(|fact| self.0.likeness(&heard.vector, fact).exp())
            .collect();
        let total: f32 = facts.iter().sum();
        facts.iter_mut().for_each(|odd| *odd /= total);
        let nothing = facts.pop().unwrap_or(1.0);
        Odds { facts, nothing }
    }
}

#[cfg(test)]
mod tests;
