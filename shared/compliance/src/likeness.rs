//! A linear classifier of texts, trained on labelled texts (D20). It backs up the patterns, because
//! no list of patterns contains every wording. It is deterministic: a table of numbers, without a
//! language model at run time.
//!
//! It never decides alone: a text that merely resembles an opt-out or a cry for help becomes
//! [`Likely`], which has milder consequences than a certain finding.
//!
//! A text's features are its words, its pairs of words (adjacent, or with one word between them)
//! and its runs of five bytes, hashed into a table. Each row of the table holds the feature's
//! weight for every class and its rarity. `scripts/data/train_likeness.py` creates the table.

use std::sync::LazyLock;

use serde::Serialize;

use crate::guardrails::Layer;

/// A class that a text can resemble, in the order of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Like {
    Ordinary,
    OptOut,
    Layer(Layer),
}

/// A class for which overlooking a text may cost a life or a lawsuit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LikelyKind {
    OptOut,
    /// A cry for help: one of the urgent layers.
    #[serde(untagged)]
    Cry(Layer),
}

/// A text that resembles an opt-out or a cry for help.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Likely {
    pub kind: LikelyKind,
    /// How far the text exceeds the required log odds, in hundredths.
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
/// Bytes of a row: 12 weights of one byte each, the rarity, and three unused bytes.
const ROW: usize = 16;
/// Bytes of the header: the scale of the weights, then the bias of each class.
const HEAD: usize = (1 + CLASSES.len()) * 4;
/// The lowest probability at which a text counts as of a layer that is not urgent.
const LIKELY: f32 = 0.9;
/// The lowest log odds, against all ordinary classes, at which a text is likely an opt-out or a cry
/// for help, by kind.
const LEAST: [(Like, LikelyKind, f32); 4] = [
    (Like::OptOut, LikelyKind::OptOut, 3.1),
    (Like::Layer(Layer::Crisis), LikelyKind::Cry(Layer::Crisis), 3.2),
    (Like::Layer(Layer::Emergency), LikelyKind::Cry(Layer::Emergency), 2.1),
    (Like::Layer(Layer::ResponsibleGaming), LikelyKind::Cry(Layer::ResponsibleGaming), 3.5),
];
/// Texts of fewer words need more evidence: `PER_MISSING_WORD` for each word below this number.
const FULL_WORDS: usize = 8;
const PER_MISSING_WORD: f32 = 0.2;
/// The probability below which a pattern's hit counts as a coincidence of words.
const UNLIKELY: f32 = 0.2;
/// A pattern's hit of an urgent layer is certain from the first of these probabilities on, and
/// likely from the second on: patterns match words, the classifier knows how people use them.
const CERTAIN_WITH_PATTERN: f32 = 0.7;
const LIKELY_WITH_PATTERN: f32 = 0.1;
/// The margin of a text that pattern and classifier find together; high enough that a running
/// dialogue does not explain it away.
pub(crate) const MARGIN_WITH_PATTERN: i16 = 150;
/// The smallest probability that is distinguished from zero.
const LEAST_ODDS: f32 = 1e-3;
/// The number of bytes that are read: the beginning shows what a text is, and the limit bounds the
/// time.
const MOST: usize = 1_000;
/// The fewest words that are classified: a text of two words resembles too many things. Patterns
/// handle shorter texts.
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

/// How certain it is that a pattern found the right meaning of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Band {
    Certain,
    Likely(Likely),
    Nothing,
}

/// The probabilities of a text's classes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Likeness {
    odds: [f32; CLASSES.len()],
    words: usize,
}

impl Likeness {
    /// Classifies a folded line, in which words have one space before, between and after them.
    /// Returns none if it has too few words.
    pub(crate) fn of(line: &str) -> Option<Self> {
        let words = line.bytes().filter(|b| *b == b' ').count().saturating_sub(1);
        (words >= LEAST_WORDS).then(|| Self { odds: odds(line), words })
    }

    /// Returns the non-urgent layer that the text clearly resembles, if there is one.
    pub(crate) fn layer(&self) -> Option<Layer> {
        let best = CLASSES.into_iter().zip(self.odds).max_by(|a, b| a.1.total_cmp(&b.1));
        match best? {
            (Like::Layer(layer), odd) if odd >= LIKELY && !layer.is_urgent() => Some(layer),
            _ => None,
        }
    }

    /// Returns the opt-out or cry for help that the text resembles most.
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

    /// Returns how certain a pattern's hit of this layer is in this text. All urgent kinds are
    /// added up: a guest who wants both to die and to be left alone must not score low on each.
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

    /// Returns the log odds that the text is of any urgent kind, in hundredths.
    pub(crate) fn urgency(&self) -> i16 {
        let urgent = CLASSES.iter().zip(self.odds).filter(|(class, _)| class.is_urgent()).map(|(_, odd)| odd);
        let urgent: f32 = urgent.sum();
        (((urgent + LEAST_ODDS) / (1.0 - urgent + LEAST_ODDS)).ln() * 100.0) as i16
    }

    /// Returns whether the text is so ordinary that no pattern's hit would count.
    pub(crate) fn is_ordinary(&self) -> bool {
        self.odds[0] > 1.0 - LIKELY_WITH_PATTERN
    }

    /// Returns the probability of each class by name, for explanations.
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

/// Computes the probability of each class.
fn odds(line: &str) -> [f32; 12] {
    let bytes = &line.as_bytes()[..line.len().min(MOST)];
    let table = &*TABLE;
    // Adds whole rows, because the compiler turns this into wide vector additions.
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

/// Passes every feature to `add`: each run of five bytes as a number, and the FNV-1a hash of each
/// word alone, with the previous word, and with the one before that.
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

/// The parameters of FNV-1a, 64 bits.
const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0100_0000_01b3;
/// 2^64 divided by the golden ratio; multiplying by it spreads the features over the rows.
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
