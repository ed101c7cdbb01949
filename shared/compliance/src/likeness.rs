//! A linear classifier of texts, learnt from labelled texts (D20). It backs up the patterns,
//! because people say what they mean in more ways than a list of patterns holds. It is
//! deterministic: a table of numbers, no model at run time.
//!
//! It never decides alone: an opt-out or a cry that is only like one is [`Likely`], and what follows from that is softer.
//!
//! A text's features are its words, its pairs of words (next to each other, and with one between) and its runs of five bytes,
//! hashed into a table. Each row holds the weight of the feature for every class and how rare it is.
//! `scripts/data/train_likeness.py` makes the table.

use std::sync::LazyLock;

use serde::Serialize;

use crate::guardrails::Layer;

/// A class that a text can resemble; the order is the table's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Like {
    Ordinary,
    OptOut,
    Layer(Layer),
}

/// A class that a text resembles and whose miss may cost a life or a lawsuit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LikelyKind {
    OptOut,
    /// One of the layers that are urgent.
    #[serde(untagged)]
    Cry(Layer),
}

/// A text that resembles an opt-out or a cry for help.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Likely {
    pub kind: LikelyKind,
    /// How far above the least odds it is, in hundredths of log odds.
    pub margin: i16,
}

const CLASSES: [Like; 12] = [
    Like::Ordinary,
    Like::OptOut,
    Like::Layer(Layer::Crisis),
    Like::Layer(Layer::Emergency),
    Like::Layer(Layer::PromptInjection),
    Like::Layer(Layer::ResponsibleGaming),
    Like::Layer(Layer::BsaAml),
    Like::Layer(Layer::PatronPrivacy),
    Like::Layer(Layer::Pii),
    Like::Layer(Layer::AgeVerification),
    Like::Layer(Layer::Identity),
    Like::Layer(Layer::Abuse),
];
const BITS: u32 = 17;
/// 12 weights of a byte each, the rarity, three unused.
const ROW: usize = 16;
/// Scale of weights, then bias by class.
const HEAD: usize = (1 + CLASSES.len()) * 4;
/// From these odds on the net speaks for a layer that is not urgent.
const LIKELY: f32 = 0.9;
/// The least log odds against everything ordinary from which on a text is likely an opt-out or a cry, by kind.
const LEAST: [(Like, LikelyKind, f32); 4] = [
    (Like::OptOut, LikelyKind::OptOut, 3.1),
    (Like::Layer(Layer::Crisis), LikelyKind::Cry(Layer::Crisis), 3.2),
    (Like::Layer(Layer::Emergency), LikelyKind::Cry(Layer::Emergency), 2.1),
    (Like::Layer(Layer::ResponsibleGaming), LikelyKind::Cry(Layer::ResponsibleGaming), 3.5),
];
/// Shorter texts need more evidence: so much for each word that is missing to this many.
const FULL_WORDS: usize = 8;
const PER_MISSING_WORD: f32 = 0.2;
/// Below this a pattern's hit is a chance meeting of words.
const UNLIKELY: f32 = 0.2;
/// A hit of an urgent layer is certain from here on, and likely down to here: patterns know words, the net how people use them.
const CERTAIN_WITH_PATTERN: f32 = 0.7;
const LIKELY_WITH_PATTERN: f32 = 0.1;
/// Pattern and net together are stronger than what a running dialogue explains away.
pub(crate) const MARGIN_WITH_PATTERN: i16 = 150;
/// Odds are told apart down to here.
const LEAST_ODDS: f32 = 1e-3;
/// A longer text is read this far: its beginning says what it is, and time stays bounded.
const MOST: usize = 1_000;
/// Shorter ones are for the patterns: two words are like too much.
const LEAST_WORDS: usize = 3;

static BYTES: &[u8] = include_bytes!("../data/likeness.bin");

struct Table {
    weight: f32,
    bias: [f32; 12],
    rows: Vec<[i8; ROW]>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let (head, rows) = BYTES.split_at(HEAD);
    let (numbers, _) = head.as_chunks();
    let number = |at: usize| f32::from_le_bytes(numbers[at]);
    Table {
        weight: number(0),
        bias: std::array::from_fn(|class| number(1 + class)),
        rows: rows.as_chunks().0.iter().map(|row: &[u8; ROW]| row.map(u8::cast_signed)).collect(),
    }
});

/// How sure it is that a text is what a pattern found in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Band {
    Certain,
    Likely(Likely),
    Nothing,
}

/// How likely a text is to be of each class.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Likeness {
    odds: [f32; CLASSES.len()],
    words: usize,
}

impl Likeness {
    /// Of a folded line: words with one space before, between and after. None where it has too few words to say.
    pub(crate) fn of(line: &str) -> Option<Self> {
        let words = line.bytes().filter(|b| *b == b' ').count().saturating_sub(1);
        (words >= LEAST_WORDS).then(|| Self { odds: odds(line), words })
    }

    /// The layer that the text is clearly like, of those that are not urgent.
    pub(crate) fn layer(&self) -> Option<Layer> {
        let best = CLASSES.into_iter().zip(self.odds).max_by(|a, b| a.1.total_cmp(&b.1));
        match best? {
            (Like::Layer(layer), odd) if odd >= LIKELY && !layer.is_urgent() => Some(layer),
            _ => None,
        }
    }

    /// The opt-out or cry that the text resembles most.
    pub(crate) fn likely(&self) -> Option<Likely> {
        let ordinary: f32 =
            CLASSES.iter().zip(self.odds).filter(|(class, _)| !class.is_urgent()).map(|(_, odd)| odd).sum();
        let missing = FULL_WORDS.saturating_sub(self.words) as f32 * PER_MISSING_WORD;
        let margin = |(class, kind, least): (Like, LikelyKind, f32)| {
            let odd = CLASSES.iter().zip(self.odds).find(|(other, _)| **other == class).map_or(0.0, |(_, odd)| odd);
            let margin = (odd.max(f32::MIN_POSITIVE) / ordinary.max(f32::MIN_POSITIVE)).ln() - least - missing;
            Likely { kind, margin: (margin * 100.0) as i16 }
        };
        LEAST.into_iter().map(margin).filter(|likely| likely.margin > 0).max_by_key(|likely| likely.margin)
    }

    /// How much a pattern's hit of this layer is worth in this text. Urgent kinds are one: who wants to die and to be left alone does not
    /// lose the one to the other.
    pub(crate) fn with_pattern(&self, layer: Layer) -> Band {
        let same = |class: Like| {
            if layer.is_urgent() { class.is_urgent() } else { class == Like::Layer(layer) }
        };
        let odds = CLASSES.into_iter().zip(self.odds).filter(|(class, _)| same(*class));
        let odds: f32 = odds.map(|(_, odd)| odd).sum();
        let (certain, likely) =
            if layer.is_urgent() { (CERTAIN_WITH_PATTERN, LIKELY_WITH_PATTERN) } else { (UNLIKELY, UNLIKELY) };
        match odds {
            _ if odds >= certain => Band::Certain,
            _ if odds >= likely => Band::Likely(Likely { kind: LikelyKind::Cry(layer), margin: MARGIN_WITH_PATTERN }),
            _ => Band::Nothing,
        }
    }

    /// The log odds that the text is of any urgent kind, in hundredths.
    pub(crate) fn urgency(&self) -> i16 {
        let urgent = CLASSES.iter().zip(self.odds).filter(|(class, _)| class.is_urgent()).map(|(_, odd)| odd);
        let urgent: f32 = urgent.sum();
        (((urgent + LEAST_ODDS) / (1.0 - urgent + LEAST_ODDS)).ln() * 100.0) as i16
    }

    /// Whether a hit of any layer would be nothing.
    pub(crate) fn is_ordinary(&self) -> bool {
        self.odds[0] > 1.0 - LIKELY_WITH_PATTERN
    }

    /// By name, for explaining.
    pub(crate) fn named(&self) -> impl Iterator<Item = (&'static str, f32)> {
        CLASSES.iter().map(|class| class.as_str()).zip(self.odds)
    }
}

impl LikelyKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OptOut => "opt_out",
            Self::Cry(layer) => layer.as_str(),
        }
    }
}

impl Like {
    fn is_urgent(self) -> bool {
        match self {
            Self::Ordinary => false,
            Self::OptOut => true,
            Self::Layer(layer) => layer.is_urgent(),
        }
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::Ordinary => "pass",
            Self::OptOut => "opt_out",
            Self::Layer(layer) => layer.as_str(),
        }
    }
}

/// The probability of each class.
fn odds(line: &str) -> [f32; 12] {
    let bytes = &line.as_bytes()[..line.len().min(MOST)];
    let table = &*TABLE;
    // Whole rows are added, for the compiler makes wide additions of it.
    let mut sums = [0_i32; ROW];
    let mut rare = 0_i32;
    features(bytes, |feature| {
        let row = &table.rows[(feature.wrapping_mul(SPREAD) >> (64 - BITS)) as usize];
        for (sum, weight) in sums.iter_mut().zip(row) {
            *sum += i32::from(*weight);
        }
        let rarity = i32::from(row[CLASSES.len()].cast_unsigned());
        rare += rarity * rarity;
    });
    let length = (rare as f32).sqrt().max(1.0);
    let scores: [f32; 12] = std::array::from_fn(|class| sums[class] as f32 * table.weight / length + table.bias[class]);
    let most = scores.iter().copied().fold(f32::MIN, f32::max);
    let powers = scores.map(|score| (score - most).exp());
    let all: f32 = powers.iter().sum();
    powers.map(|power| power / all)
}

/// Every run of five bytes as a number; every word by its FNV-1a, alone, with the word before and with the one before that.
fn features(line: &[u8], mut add: impl FnMut(u64)) {
    let (mut run, mut word) = (0_u64, OFFSET);
    let (mut before, mut long_before) = (None, None::<u64>);
    for (at, byte) in line.iter().enumerate() {
        run = (run << 8 | u64::from(*byte)) & 0xff_ffff_ffff;
        if at >= 4 {
            add(run);
        }
        if *byte != b' ' {
            word = (word ^ u64::from(*byte)).wrapping_mul(PRIME);
        } else if word != OFFSET {
            add(word);
            before.inspect(|before: &u64| add(before.rotate_left(7) ^ word));
            long_before.inspect(|before| add(before.rotate_left(21) ^ word));
            (long_before, before, word) = (before, Some(word), OFFSET);
        }
    }
}

/// FNV-1a, 64 bits.
const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0100_0000_01b3;
/// 2^64 by the golden ratio: spreads a number over the rows.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_table_is_whole() {
        assert_eq!(BYTES.len(), HEAD + (ROW << BITS));
        assert!(TABLE.weight > 0.0);
    }

    #[test] // C-3, C-11, C-14: ways of saying it that no pattern lists
    fn what_people_mean() {
        let likely = |line: &str| Likeness::of(line).and_then(|like| like.likely()).map(|likely| likely.kind);
        for (line, kind) in [
            (
                " whats the point of any of it anymore i am so done with being here ",
                Some(LikelyKind::Cry(Layer::Crisis)),
            ),
            (" what time does the breakfast buffet open on sunday ", None),
            (" can we get two more towels in the room please ", None),
            (" hi ", None),
            ("", None),
        ] {
            assert_eq!(likely(line), kind, "{line}");
        }
    }

    proptest! {
        #[test]
        fn total_and_bounded(line in "[a-z ]{0,3000}") {
            let odds = odds(&line);
            prop_assert!(odds.iter().all(|odd| (0.0..=1.0).contains(odd)));
            prop_assert!((odds.iter().sum::<f32>() - 1.0).abs() < 1e-3);
        }
    }
}
