//! The gate's second reader (D20): a small language model, trained for one question, that only suspicious texts pay for. It says how likely a
//! text is an opt-out or a cry for help. No I/O, no network, the same answer for the same text on the same machine.
//!
//! Twelve layers of multilingual-e5-small (MIT), fine-tuned on the corpora of `tests/corpus`, with the word pieces that English and Spanish texts
//! use; weights of 8 bits, 30 MB. `scripts/data/train_reader.py` makes `data/reader.gguf` and says from what.

mod encoder;
mod pieces;

use std::{
    io::Cursor,
    sync::{Arc, LazyLock},
};

use candle_core::quantized::gguf_file::Content;
use seven_compliance::{Decision, Guardrails, SecondReading};

use self::{encoder::Encoder, pieces::Pieces};

static WEIGHTS: &[u8] = include_bytes!("../data/reader.gguf");

/// Pieces of a text that are read; its beginning says what it is, and time stays bounded.
const MOST_PIECES: usize = 126;

/// A fault of the weights, or of the arithmetic over them.
#[derive(Debug, Clone, thiserror::Error)]
#[error("the second reader: {0}")]
pub struct Error(Arc<candle_core::Error>);

impl From<candle_core::Error> for Error {
    fn from(error: candle_core::Error) -> Self {
        Self(Arc::new(error))
    }
}

/// Shared by all threads; some 30 MB.
#[derive(Debug)]
pub struct Reader {
    pieces: Pieces,
    encoder: Encoder,
}

impl Reader {
    /// The reader of this build, loaded at the first call.
    ///
    /// # Errors
    /// When the weights of the build are not what this code reads.
    pub fn bundled() -> Result<&'static Self, Error> {
        static READER: LazyLock<Result<Reader, Error>> = LazyLock::new(|| Reader::of(WEIGHTS));
        READER.as_ref().map_err(Clone::clone)
    }

    fn of(weights: &[u8]) -> Result<Self, Error> {
        let mut file = Cursor::new(weights);
        let content = Content::read(&mut file)?;
        Ok(Self { pieces: Pieces::of(&content)?, encoder: Encoder::of(&content, &mut file)? })
    }

    /// Reads a text as the guest wrote it. Takes some 20 ms of one core: not for a thread that serves others.
    ///
    /// # Errors
    /// When the arithmetic fails, which no text brings about.
    pub fn read(&self, text: &str) -> Result<SecondReading, Error> {
        let ids = self.pieces.ids(text, MOST_PIECES)?;
        let [ordinary, opt_out, crisis, emergency, gaming] = self.encoder.logits(&ids)?;
        Ok(SecondReading {
            opt_out: opt_out - ordinary,
            crisis: crisis - ordinary,
            emergency: emergency - ordinary,
            responsible_gaming: gaming - ordinary,
        })
    }
}

/// The decision of both readers on a text, the second asked where the first finds it suspicious. For tools; a worker reads apart from its other
/// work.
///
/// # Errors
/// As [`Reader::read`].
pub fn decide(rails: &Guardrails, text: &str) -> Result<Decision, Error> {
    let first = rails.decide(text);
    if !first.is_suspicious() {
        return Ok(first);
    }
    let second = Reader::bundled()?.read(text)?;
    Ok(rails.weigh(first, &second))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // C-3, C-11: ways of saying it that no pattern lists
    fn what_people_mean() {
        let reader = Reader::bundled().unwrap();
        let most = |text: &str| {
            let SecondReading { opt_out, crisis, emergency, responsible_gaming } = reader.read(text).unwrap();
            let kinds =
                [("opt_out", opt_out), ("crisis", crisis), ("emergency", emergency), ("gaming", responsible_gaming)];
            let (kind, odds) = kinds.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
            if odds > 0.0 { kind } else { "ordinary" }
        };
        for (text, wanted) in [
            ("my phone would like its peace and quiet back from this number please", "opt_out"),
            ("nadie va a notar cuando ya no este, deje la carta en el cajon", "crisis"),
            ("hes not breathing right and his lips are blue", "emergency"),
            ("I promised my wife one hundred and it is the fourth hundred, I cannot leave the machine", "gaming"),
            ("what time does the breakfast buffet open on sunday", "ordinary"),
            ("¿me pueden traer dos toallas más al cuarto?", "ordinary"),
            ("", "ordinary"),
        ] {
            assert_eq!(most(text), wanted, "{text}");
        }
    }

    #[test]
    fn any_text_gets_finite_numbers_and_the_same_ones_again() {
        let reader = Reader::bundled().unwrap();
        for text in ["\u{0}\u{1}", "🙅\u{200d}♀️📵", "漢字", &"very long ".repeat(5_000), "\u{fffd}\u{e000}"]
        {
            let odds = reader.read(text).unwrap();
            assert!(odds.opt_out.is_finite() && odds.crisis.is_finite(), "{text:.20}");
            assert_eq!(odds, reader.read(text).unwrap());
        }
    }

    #[test]
    fn weights_that_are_none_are_refused() {
        assert!(Reader::of(b"no weights").is_err());
        assert!(Reader::of(&WEIGHTS[..1_000_000]).is_err());
    }
}
