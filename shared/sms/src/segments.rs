//! Measures how many segments a text takes and where they break.

use unicode_segmentation::UnicodeSegmentation;

use crate::encoding::{Encoding, encoding};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Measure {
    pub encoding: Encoding,
    /// Septets for GSM-7 (two for an extension character), UTF-16 units for UCS-2.
    pub units: usize,
    /// Zero only for the empty text, because nothing is sent.
    pub segments: usize,
}

/// Measures a text. If an escape pair or a surrogate pair does not fit into a part, the whole pair
/// moves to the next part. A long text may therefore need one part more than its units suggest.
pub fn measure(text: &str) -> Measure {
    let encoding = encoding(text);
    let units: usize = text.chars().map(|c| encoding.cost(c)).sum();
    let segments = match units {
        0 => 0,
        _ if units <= encoding.single() => 1,
        _ => packed(text, encoding),
    };
    Measure {
        encoding,
        units,
        segments,
    }
}

/// Splits a text into parts as a handset receives them; there are `measure(text).segments` of them.
/// A cut moves back to a grapheme boundary unless that adds a part.
pub fn segment_parts(text: &str) -> Vec<String> {
    let Measure {
        encoding, segments, ..
    } = measure(text);
    let mut parts = Vec::with_capacity(segments);
    let mut rest = text;
    for left in (0..segments).rev() {
        let end = if left == 0 {
            rest.len()
        } else {
            part_end(rest, encoding, left)
        };
        let (part, tail) = rest.split_at(end);
        parts.push(part.to_owned());
        rest = tail;
    }
    parts
}

/// Returns the number of parts that a concatenated message needs.
fn packed(text: &str, encoding: Encoding) -> usize {
    let (mut parts, mut used) = (0, encoding.part());
    for c in text.chars() {
        let cost = encoding.cost(c);
        if used + cost > encoding.part() {
            parts += 1;
            used = 0;
        }
        used += cost;
    }
    parts
}

/// Returns the byte index at which the next part ends, so that at most `left` parts follow it.
fn part_end(rest: &str, encoding: Encoding, left: usize) -> usize {
    let mut used = 0;
    let hard = rest
        .char_indices()
        .find(|&(_, c)| {
            used += encoding.cost(c);
            used > encoding.part()
        })
        .map_or(rest.len(), |(at, _)| at);
    let soft = rest
        .grapheme_indices(true)
        .map(|(at, _)| at)
        .take_while(|&at| at <= hard)
        .last()
        .unwrap_or(hard);
    if soft > 0 && packed(&rest[soft..], encoding) <= left {
        soft
    } else {
        hard
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn units_and_segments(text: &str) -> (&'static str, usize, usize) {
        let m = measure(text);
        (m.encoding.as_str(), m.units, m.segments)
    }

    #[test]
    fn limits_in_both_alphabets() {
        // SMS-27, SMS-29
        assert_eq!(units_and_segments(""), ("gsm7", 0, 0));
        assert_eq!(units_and_segments(&"a".repeat(160)), ("gsm7", 160, 1));
        assert_eq!(units_and_segments(&"a".repeat(161)), ("gsm7", 161, 2));
        assert_eq!(units_and_segments(&"a".repeat(306)), ("gsm7", 306, 2));
        assert_eq!(units_and_segments(&"a".repeat(307)), ("gsm7", 307, 3));
        assert_eq!(units_and_segments(&"€".repeat(80)), ("gsm7", 160, 1));
        assert_eq!(units_and_segments(&"á".repeat(70)), ("ucs2", 70, 1));
        assert_eq!(units_and_segments(&"á".repeat(71)), ("ucs2", 71, 2));
        assert_eq!(units_and_segments(&"á".repeat(134)), ("ucs2", 134, 2));
        assert_eq!(units_and_segments(&"á".repeat(135)), ("ucs2", 135, 3));
        assert_eq!(units_and_segments(&"😀".repeat(35)), ("ucs2", 70, 1));
    }

    #[test]
    fn pairs_are_not_split() {
        // SMS-27, C-32: 306 septets fill two parts only when no pair lies across the boundary
        let escape = format!("{}€{}", "a".repeat(152), "b".repeat(152));
        assert_eq!(units_and_segments(&escape), ("gsm7", 306, 3));
        assert_eq!(
            segment_parts(&escape)
                .iter()
                .map(String::len)
                .collect::<Vec<_>>(),
            [152, 3 + 151, 1]
        );
        let surrogate = format!("{}😀{}", "á".repeat(66), "é".repeat(66));
        assert_eq!(units_and_segments(&surrogate), ("ucs2", 134, 3));
    }

    #[test]
    fn a_cluster_stays_whole_when_it_costs_no_part() {
        let family = "👩‍👩‍👧";
        let text = format!("{}{family}tail", "á".repeat(63));
        let parts = segment_parts(&text);
        assert_eq!(parts, ["á".repeat(63), format!("{family}tail")]);
        // The second part is full here, so moving the cluster into it would add a third part. The
        // cut goes through the cluster instead.
        let full = format!("{}{family}{}", "á".repeat(64), "é".repeat(134 - 64 - 8));
        assert_eq!(measure(&full).segments, 2);
        assert_eq!(segment_parts(&full).concat(), full);
    }

    /// Finds the fewest parts by trying every cut, independently of the code under test.
    fn brute(text: &str) -> usize {
        const GSM: &str = "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà";
        const EXT: &str = "\u{c}^{}\\[~]|€";
        let gsm = text.chars().all(|c| GSM.contains(c) || EXT.contains(c));
        let cost = |c: char| {
            if gsm {
                1 + usize::from(EXT.contains(c))
            } else {
                c.len_utf16()
            }
        };
        let (single, part) = if gsm { (160, 153) } else { (70, 67) };
        let costs: Vec<usize> = text.chars().map(cost).collect();
        let total: usize = costs.iter().sum();
        if total <= single {
            return usize::from(total > 0);
        }
        let mut best = vec![usize::MAX; costs.len() + 1];
        best[0] = 0;
        for end in 1..=costs.len() {
            let mut sum = 0;
            for start in (0..end).rev() {
                sum += costs[start];
                if sum > part {
                    break;
                }
                best[end] = best[end].min(best[start] + 1);
            }
        }
        best[costs.len()]
    }

    proptest! {
        #[test]
        fn agrees_with_brute_force(
            text in "([a-zA-Z ñé¿€{}\\[\\]|]{0,90}){0,6}",
            odd in "[á😀👨‍👩\u{301}🇺🇸]{0,40}",
            with in any::<bool>(),
        ) {
            // SMS-27
            let text = if with { format!("{text}{odd}{text}") } else { text };
            prop_assert_eq!(measure(&text).segments, brute(&text));
        }

        #[test]
        fn parts_make_up_the_text(text in "(\\PC|[😀\u{200d}\u{301}\u{fe0f}👩]){0,300}") {
            let parts = segment_parts(&text);
            let whole = measure(&text);
            prop_assert_eq!(parts.concat(), text);
            prop_assert_eq!(parts.len(), whole.segments);
            let limit = if whole.segments > 1 {
                whole.encoding.part()
            } else {
                whole.encoding.single()
            };
            for part in &parts {
                prop_assert!(part.chars().map(|c| whole.encoding.cost(c)).sum::<usize>() <= limit);
                prop_assert!(!part.is_empty());
            }
        }
    }
}
