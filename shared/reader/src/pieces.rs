//! Converts a text to the numbers of its word pieces: the most probable division into pieces of the
//! vocabulary (the unigram model of SentencePiece, Kudo 2018).

use candle_core::{
    Error, Result, bail,
    quantized::gguf_file::{Content, Value},
};
use tokenizers::{Model, models::unigram::Unigram};
use unicode_normalization::UnicodeNormalization;

/// Marks the beginning of a word.
const WORD: char = '\u{2581}';

#[derive(Debug)]
pub(crate) struct Pieces {
    model: Unigram,
    begin: u32,
    end: u32,
}

impl Pieces {
    pub(crate) fn of(content: &Content) -> Result<Self> {
        let number = |name: &str| value(content, name)?.to_u32();
        let words = value(content, "reader.pieces")?.to_vec()?;
        let scores = value(content, "reader.scores")?.to_vec()?;
        if words.len() != scores.len() {
            bail!("{} pieces with {} scores", words.len(), scores.len());
        }
        let pieces = words
            .iter()
            .zip(scores)
            .map(|(word, score)| Ok((word.to_string()?.clone(), score.to_f32()?.into())));
        let model = Unigram::from(
            pieces.collect::<Result<_>>()?,
            Some(number("reader.unk")? as usize),
            false,
        );
        let model = model.map_err(Error::wrap)?;
        Ok(Self {
            model,
            begin: number("reader.bos")?,
            end: number("reader.eos")?,
        })
    }

    /// Returns the text's first `most` pieces, between the marks of begin and end.
    pub(crate) fn ids(&self, text: &str, most: usize) -> Result<Vec<u32>> {
        // Few pieces are longer than 16 bytes, so text beyond `most * 16` bytes would not be read.
        let pieces = self
            .model
            .tokenize(&line(text, most * 16))
            .map_err(Error::wrap)?;
        let ids = pieces.into_iter().take(most).map(|piece| piece.id);
        Ok(std::iter::once(self.begin)
            .chain(ids)
            .chain([self.end])
            .collect())
    }
}

/// Returns the text in lower case and NFKC form, each word after its mark; it ends with the word
/// that exceeds `most` bytes.
fn line(text: &str, most: usize) -> String {
    let mut line = String::new();
    for word in text.split_whitespace() {
        line.push(WORD);
        let signs = word
            .nfkc()
            .flat_map(char::to_lowercase)
            .nfkc()
            .filter(|c| !c.is_control() && !is_format(*c));
        line.extend(signs.take(most));
        if line.len() >= most {
            break;
        }
    }
    line
}

/// Returns true for invisible characters, such as joiners and direction marks.
fn is_format(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
    )
}

pub(crate) fn value<'a>(content: &'a Content, name: &str) -> Result<&'a Value> {
    match content.metadata.get(name) {
        Some(value) => Ok(value),
        None => bail!("the weights do not say {name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_read_by_what_it_shows() {
        for (text, wanted) in [
            ("  Stop  IT ", "\u{2581}stop\u{2581}it"),
            ("ＳＴＯＰ", "\u{2581}stop"),
            ("ba\u{200b}ja\u{feff}", "\u{2581}baja"),
            ("¿Qué?", "\u{2581}¿qué?"),
            ("", ""),
        ] {
            assert_eq!(line(text, 100), wanted);
        }
        assert!(line(&"a".repeat(1_000_000), 2_000).len() < 2_100);
        assert_eq!(line(&"ab ".repeat(1_000_000), 10), "\u{2581}ab\u{2581}ab");
    }
}
