//! The gate's second reader (D20): a small language model. It estimates how likely it is that a
//! suspicious text is an opt-out or a cry for help. This crate does no I/O.
//!
//! `scripts/data/train_reader.py` makes `data/reader.gguf` (30 MB, 8-bit weights) from
//! multilingual-e5-small (MIT), fine-tuned on the texts of `tests/corpus`.

mod beside;
mod network;

use std::{
    io::Cursor,
    sync::{Arc, LazyLock},
};

use seven_compliance::{Decision, Guardrails, SecondReading};

pub use self::beside::{beside_our_texts, matters, needs_our_texts};
use self::network::Network;

static WEIGHTS: &[u8] = include_bytes!("../data/reader.gguf");

/// The weights are invalid, or the computation with them failed.
#[derive(Debug, Clone, thiserror::Error)]
#[error("the second reader: {0}")]
pub struct Error(Arc<candle_core::Error>);

impl From<candle_core::Error> for Error {
    fn from(error: candle_core::Error) -> Self {
        Self(Arc::new(error))
    }
}

/// The model and its vocabulary: about 30 MB, shared by all threads.
#[derive(Debug)]
pub struct Reader(Network);

impl Reader {
    /// Returns the reader of this build. The first call loads the reader.
    ///
    /// # Errors
    /// Fails if the weights of this build do not have the expected form.
    pub fn bundled() -> Result<&'static Self, Error> {
        static READER: LazyLock<Result<Reader, Error>> = LazyLock::new(|| Reader::of(WEIGHTS));
        READER.as_ref().map_err(Clone::clone)
    }

    fn of(weights: &[u8]) -> Result<Self, Error> {
        Ok(Self(Network::of(&mut Cursor::new(weights))?))
    }

    /// Judges a text in the form in which the guest wrote it. This takes about 20 ms on one core,
    /// so call it on a thread that serves nothing else.
    ///
    /// # Errors
    /// Fails if the computation fails, which no text can cause.
    pub fn read(&self, text: &str) -> Result<SecondReading, Error> {
        let [ordinary, opt_out, crisis, emergency, gaming] = self.0.logits(text)?;
        Ok(SecondReading {
            opt_out: opt_out - ordinary,
            crisis: crisis - ordinary,
            emergency: emergency - ordinary,
            responsible_gaming: gaming - ordinary,
        })
    }
}

/// Returns the decision of both readers: the guardrails, and this crate's model if the guardrails
/// find the text suspicious. Call it on a thread that serves nothing else, because it blocks.
///
/// # Errors
/// Fails as [`Reader::read`] does.
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
            let SecondReading {
                opt_out,
                crisis,
                emergency,
                responsible_gaming,
            } = reader.read(text).unwrap();
            let kinds = [
                ("opt_out", opt_out),
                ("crisis", crisis),
                ("emergency", emergency),
                ("gaming", responsible_gaming),
            ];
            let (kind, odds) = kinds
                .into_iter()
                .max_by(|a, b| a.1.total_cmp(&b.1))
                .unwrap();
            if odds > 0.0 { kind } else { "ordinary" }
        };
        for (text, wanted) in [
            (
                "my phone would like its peace and quiet back from this number please",
                "opt_out",
            ),
            (
                "nadie va a notar cuando ya no este, deje la carta en el cajon",
                "crisis",
            ),
            ("hes not breathing right and his lips are blue", "emergency"),
            (
                "I promised my wife one hundred and it is the fourth hundred, I cannot leave the machine",
                "gaming",
            ),
            (
                "what time does the breakfast buffet open on sunday",
                "ordinary",
            ),
            ("¿me pueden traer dos toallas más al cuarto?", "ordinary"),
            ("", "ordinary"),
        ] {
            assert_eq!(most(text), wanted, "{text}");
        }
    }

    #[test]
    fn any_text_gets_finite_numbers_and_the_same_ones_again() {
        let reader = Reader::bundled().unwrap();
        for text in [
            "\u{0}\u{1}",
            "🙅\u{200d}♀️📵",
            "漢字",
            &"very long ".repeat(5_000),
            "\u{fffd}\u{e000}",
        ] {
            let odds = reader.read(text).unwrap();
            assert!(
                odds.opt_out.is_finite() && odds.crisis.is_finite(),
                "{text:.20}"
            );
            assert_eq!(odds, reader.read(text).unwrap());
        }
    }

    #[test]
    fn weights_that_are_none_are_refused() {
        assert!(Reader::of(b"no weights").is_err());
        assert!(Reader::of(&WEIGHTS[..1_000_000]).is_err());
    }
}
