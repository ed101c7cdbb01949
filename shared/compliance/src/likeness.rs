//! What a text is like: a linear reading of its letters, learnt from labelled texts (D20). The net under the patterns: people say what
//! they mean in more ways than a list of patterns holds. Deterministic, a table of numbers, no model at run time.
//!
//! A text's features are the runs of 4 and of 6 bytes of its folded line, hashed into a table. Each row holds the weight of
//! the run for every class and how rare it is. `scripts/data/train_likeness.py` makes the table.

use std::sync::LazyLock;

use crate::guardrails::Layer;

/// What a text can be like; the order is the table's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Like {
    Ordinary,
    OptOut,
    Layer(Layer),
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
const BITS: u32 = 15;
/// 16 little-endian numbers of two bytes: 12 weights, the rarity, three unused.
const ROW: usize = 32;
/// Scale of weights, of rarity, then by class bias and threshold.
const HEAD: usize = (2 + 2 * CLASSES.len()) * 4;
/// A longer text is read this far: its beginning says what it is, and time stays bounded.
const MOST: usize = 1_000;
/// Shorter ones are for the patterns: two words are like too much.
const LEAST_WORDS: usize = 3;

static TABLE: &[u8] = include_bytes!("../data/likeness.bin");

struct Head {
    weight: f32,
    rarity: f32,
    bias: [f32; 12],
    threshold: [f32; 12],
}

static HEADER: LazyLock<Head> = LazyLock::new(|| {
    let number = |at: usize| {
        let bytes = TABLE.get(at * 4..at * 4 + 4).and_then(|bytes| bytes.try_into().ok());
        f32::from_le_bytes(bytes.expect("the table's size is tested"))
    };
    Head {
        weight: number(0),
        rarity: number(1),
        bias: std::array::from_fn(|class| number(2 + class)),
        threshold: std::array::from_fn(|class| number(2 + CLASSES.len() + class)),
    }
});

/// What the folded line (words with one space before, between and after) is like; none when it is like nothing we act on, or not
/// clearly so.
pub(crate) fn of(line: &str) -> Option<Like> {
    if line.bytes().filter(|b| *b == b' ').count() <= LEAST_WORDS {
        return None;
    }
    let odds = odds(line);
    let (best, odd) = odds.iter().enumerate().skip(1).max_by(|a, b| a.1.total_cmp(b.1))?;
    (*odd >= HEADER.threshold[best]).then_some(CLASSES[best])
}

/// The probability of each class.
fn odds(line: &str) -> [f32; 12] {
    let bytes = &line.as_bytes()[..line.len().min(MOST)];
    let mut sums = [0_i64; CLASSES.len()];
    let mut rare = 0_u32;
    let mut add = |hash: u64| {
        let at = HEAD + (hash >> (64 - BITS)) as usize * ROW;
        let row = &TABLE[at..at + ROW];
        for (sum, weight) in sums.iter_mut().zip(row.chunks_exact(2)) {
            *sum += i64::from(i16::from_le_bytes([weight[0], weight[1]]));
        }
        let rarity = u32::from(row[2 * CLASSES.len()]);
        rare += rarity * rarity;
    };
    for at in 0..bytes.len().saturating_sub(3) {
        let four = bytes[at..at + 4].iter().fold(OFFSET, mix);
        add(four);
        if let Some(rest) = bytes.get(at + 4..at + 6) {
            add(rest.iter().fold(four, mix));
        }
    }
    let length = (rare as f32).sqrt() * HEADER.rarity;
    let scores: [f32; 12] =
        std::array::from_fn(|class| sums[class] as f32 * HEADER.weight / length.max(1e-6) + HEADER.bias[class]);
    let most = scores.iter().copied().fold(f32::MIN, f32::max);
    let powers = scores.map(|score| (score - most).exp());
    let all: f32 = powers.iter().sum();
    powers.map(|power| power / all)
}

/// FNV-1a, 64 bits.
const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;

fn mix(hash: u64, byte: &u8) -> u64 {
    (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_table_is_whole() {
        assert_eq!(TABLE.len(), HEAD + (ROW << BITS));
        assert!(HEADER.weight > 0.0 && HEADER.rarity > 0.0);
        assert!(HEADER.threshold[1..].iter().all(|odd| (0.2..1.0).contains(odd)));
    }

    #[test] // C-3, C-11, C-14: ways of saying it that no pattern lists
    fn what_people_mean() {
        for (line, like) in [
            (" i just dont see any point in waking up tomorrow or any day after ", Some(Like::Layer(Layer::Crisis))),
            (" what time does the breakfast buffet open on sunday ", None),
            (" can we get two more towels in the room please ", None),
            (" hi ", None),
            ("", None),
        ] {
            assert_eq!(of(line), like, "{line}");
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
