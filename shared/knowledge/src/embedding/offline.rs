//! An embedder that needs neither a model nor a connection. Its vectors combine concepts (for
//! meaning in both languages), words (for names) and pieces of words (for misspelt names).

use std::collections::BTreeMap;

use super::{Embedder, Embedding, Purpose, Space, Vector, lexicon};
use crate::index::is_common;
use seven_text::{stem, words};

/// Number of values at the beginning of a vector, one for each concept. `HASHED` values for words
/// and their pieces follow.
const CONCEPTS: usize = lexicon::ROOM;
const HASHED: usize = 320;
/// The version of this file's arithmetic; raise it with every change. The lexicon has its own
/// version.
const ALGORITHM: u32 = 2;

const CONCEPT: f32 = 2.0;
/// Weight of a word that the lexicon does not know, such as a name.
const WORD: f32 = 0.8;
/// Weight of a word that the lexicon knows. It is lower, because the word's concept has a weight
/// too.
const KNOWN: f32 = 0.4;
/// Factor for the meaning of a corrected spelling; the word as written keeps its full weight.
const GUESSED: f32 = 0.8;
/// Factor for a common word, such as "room" or "friday", which hardly shows which row is meant.
const COMMON: f32 = 0.4;
const PIECES: f32 = 0.5;
/// Weight of a document's body, relative to its first line, which is its title.
const BODY: f32 = 0.2;
/// The sum of weights at which a concept's value reaches half of its maximum.
const HALF: f32 = 0.9;

/// The offline embedder; its vectors are described in the module.
#[derive(Debug, Clone)]
pub struct Offline {
    space: Space,
}

/// The concepts and words of a text with their weights, before they become a vector.
#[derive(Debug, Default)]
struct Features {
    concepts: BTreeMap<usize, f32>,
    words: BTreeMap<String, f32>,
}

// === impl Offline ===

impl Offline {
    pub fn new() -> Self {
        let version = format!("{ALGORITHM}-{}", lexicon::version());
        Self {
            space: Space {
                model: "offline".into(),
                version,
                dimension: CONCEPTS + HASHED,
            },
        }
    }

    /// Returns the vector of one document or query at once, without a future.
    pub fn vector(&self, text: &str, purpose: Purpose) -> Vector {
        let mut features = Features::default();
        match purpose {
            Purpose::Query => features.add(text, 1.0, true),
            Purpose::Document => {
                let (title, body) = text.split_once('\n').unwrap_or((text, ""));
                features.add(title, 1.0, false);
                features.add(body, BODY, false);
            }
        }
        Vector::normalised(features.values())
    }

    /// Returns the space of every offline embedder of this build.
    pub fn as_space(&self) -> &Space {
        &self.space
    }

    pub fn query(&self, text: &str) -> Vector {
        self.vector(text, Purpose::Query)
    }
}

impl Default for Offline {
    fn default() -> Self {
        Self::new()
    }
}

impl Embedder for Offline {
    fn space(&self) -> &Space {
        self.as_space()
    }

    fn embed<'a>(&'a self, texts: &'a [&'a str], purpose: Purpose) -> Embedding<'a> {
        let vectors = texts
            .iter()
            .map(|text| self.vector(text, purpose))
            .collect();
        Box::pin(std::future::ready(Ok(vectors)))
    }
}

// === impl Features ===

impl Features {
    fn add(&mut self, text: &str, weight: f32, mend: bool) {
        let lexicon = &*lexicon::LEXICON;
        let said = words(text);
        let meant = |word: &String| {
            if mend {
                lexicon.mend(word).map(str::to_owned)
            } else {
                None
            }
        };
        let meant: Vec<String> = said
            .iter()
            .map(|word| meant(word).unwrap_or_else(|| word.clone()))
            .collect();
        let mut at = 0;
        while at < meant.len() {
            let sense = lexicon.sense(&meant[at..]);
            let taken = sense.as_ref().map_or(1, |sense| sense.words);
            let guessed = meant[at..at + taken] != said[at..at + taken];
            let trust = if guessed { GUESSED } else { 1.0 };
            for (concept, strength) in sense.iter().flat_map(|sense| sense.meanings) {
                *self.concepts.entry(*concept).or_default() += weight * strength * trust;
            }
            let worth = if sense.is_some() && !guessed {
                KNOWN
            } else {
                WORD
            };
            let empty = sense.is_some_and(|sense| sense.meanings.is_empty());
            for word in said[at..at + taken].iter().filter(|_| !empty) {
                if lexicon.is_filler(word) {
                    continue;
                }
                let slot = self.words.entry(stem(word)).or_default();
                *slot = slot.max(weight * worth * if is_common(word) { COMMON } else { 1.0 });
            }
            at += taken;
        }
    }

    fn values(&self) -> Vec<f32> {
        let mut values = vec![0.0f32; CONCEPTS + HASHED];
        for (concept, evidence) in &self.concepts {
            values[*concept] += CONCEPT * evidence / (evidence + HALF);
        }
        for (word, weight) in &self.words {
            put(&mut values, word.as_bytes(), *weight);
            let chars: Vec<char> = std::iter::once('^')
                .chain(word.chars())
                .chain(std::iter::once('$'))
                .collect();
            if chars.len() < 5 {
                continue;
            }
            let share = PIECES * weight / ((chars.len() - 2) as f32).sqrt();
            for piece in chars.windows(3) {
                put(
                    &mut values,
                    piece.iter().collect::<String>().as_bytes(),
                    share,
                );
            }
        }
        values
    }
}

/// Adds the weight to the value to which the bytes hash. The hash also chooses the sign, so that
/// collisions cancel out on average.
fn put(values: &mut [f32], bytes: &[u8], weight: f32) {
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325u64, |h, b| {
        (h ^ u64::from(*b)).wrapping_mul(0x0100_0000_01b3)
    });
    let mixed = (hash ^ (hash >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let slot = usize::try_from((mixed >> 33) % HASHED as u64).unwrap_or(0);
    values[CONCEPTS + slot] += if mixed & 1 == 0 { weight } else { -weight };
}
