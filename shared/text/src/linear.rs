//! A linear classifier of short texts. It is trained elsewhere and read from a table. Features of a
//! text are its words, pairs of words, and runs of five bytes. Each feature is hashed to a row of
//! the table, which holds a weight per class.

/// Maximum number of bytes of a text that are read. This bounds the time; the beginning of a text
/// suffices to classify it.
const MOST_BYTES: usize = 1_000;

/// The parameters of FNV-1a, 64 bits.
const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0100_0000_01b3;
/// 2^64 divided by the golden ratio. Multiplying by it spreads the features evenly over the rows.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// A classifier of `N` classes. Each row has `ROW` bytes: the weight for each class, then how rare
/// the features of this row are.
#[derive(Debug)]
pub struct Linear<const N: usize, const ROW: usize> {
    weight: f32,
    bias: [f32; N],
    rows: Vec<[i8; ROW]>,
    bits: u32,
}

// === impl Linear ===

impl<const N: usize, const ROW: usize> Linear<N, ROW> {
    /// Length of the header in bytes. The header holds the scale of the weights, then the bias of
    /// each class, as little-endian f32.
    const HEAD: usize = (1 + N) * 4;

    /// Reads a table. Returns `None` if the table is not a header followed by 2^n rows.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let (head, rows) = bytes.split_at_checked(Self::HEAD)?;
        let (rows, rest) = rows.as_chunks::<ROW>();
        if !rest.is_empty() || !rows.len().is_power_of_two() || N >= ROW {
            return None;
        }
        let (numbers, _) = head.as_chunks();
        let number = |at: usize| f32::from_le_bytes(numbers[at]);
        Some(Self {
            weight: number(0),
            bias: std::array::from_fn(|class| number(1 + class)),
            rows: rows.iter().map(|row| row.map(u8::cast_signed)).collect(),
            bits: rows.len().trailing_zeros(),
        })
    }

    /// Computes the probability of each class. `line` must have one space between two words, one
    /// before the first word, and one after the last.
    pub fn odds(&self, line: &str) -> [f32; N] {
        let bytes = &line.as_bytes()[..line.len().min(MOST_BYTES)];
        // Adds whole rows, because the compiler turns such a loop into vector instructions.
        let mut sums = [0_i32; ROW];
        let mut rare = 0_i32;
        features(bytes, |feature| {
            let row = &self.rows[(feature.wrapping_mul(SPREAD) >> (64 - self.bits)) as usize];
            for (sum, weight) in sums.iter_mut().zip(row) {
                *sum += i32::from(*weight);
            }
            let rarity = i32::from(row[N].cast_unsigned());
            rare += rarity * rarity;
        });
        let length = (rare as f32).sqrt().max(1.0);
        let scores: [f32; N] = std::array::from_fn(|class| {
            sums[class] as f32 * self.weight / length + self.bias[class]
        });
        let most = scores.iter().copied().fold(f32::MIN, f32::max);
        let powers = scores.map(|score| (score - most).exp());
        let all: f32 = powers.iter().sum();
        powers.map(|power| power / all)
    }
}

/// Calls `add` with every feature:
/// - each run of five bytes, as a number
/// - the FNV-1a hash of each word
/// - the hash of each word, combined with the hash of each of the two words before it
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Builds a table with two classes. The word "yes" has weight only for the second class.
    fn table() -> Vec<u8> {
        let mut bytes = Vec::new();
        for number in [0.5_f32, 0.2, 0.0] {
            bytes.extend(number.to_le_bytes());
        }
        let mut rows = [[0_u8, 0, 1, 0]; 16];
        features(b" yes ", |feature| {
            let at = (feature.wrapping_mul(SPREAD) >> 60) as usize;
            rows[at] = [0, 100, 1, 0];
        });
        bytes.extend(rows.concat());
        bytes
    }

    #[test]
    fn a_feature_speaks_for_its_class() {
        let table = table();
        let net = Linear::<2, 4>::read(&table).unwrap();
        let odds = net.odds(" yes ");
        assert!(odds[1] > 0.9, "{odds:?}");
        assert!(net.odds("")[0] > 0.5);
        assert!(Linear::<2, 4>::read(&table[..table.len() - 1]).is_none());
        assert!(Linear::<2, 4>::read(&table[..5]).is_none());
        assert!(Linear::<4, 4>::read(&table).is_none());
    }

    proptest! {
        #[test]
        fn total_and_bounded(line in ".{0,1200}") {
            let table = table();
            let odds = Linear::<2, 4>::read(&table).unwrap().odds(&line);
            prop_assert!(odds.iter().all(|odd| (0.0..=1.0).contains(odd)));
            prop_assert!((odds.iter().sum::<f32>() - 1.0).abs() < 1e-3);
        }
    }
}
