//! Merges several rankings into one, and selects varied results instead of five similar ones (D12).

use std::collections::BTreeMap;

/// The constant that reciprocal rank fusion adds to every rank; the specification fixes it.
pub(super) const RRF_K: f32 = 60.0;

/// Reciprocal rank fusion: sums 1 / (60 + rank) over the lists, with ranks from 1. Best first;
/// equal sums keep the order of the items.
pub(super) fn reciprocal_ranks(lists: &[Vec<usize>]) -> Vec<(usize, f32)> {
    let mut scores: BTreeMap<usize, f32> = BTreeMap::new();
    for list in lists {
        for (place, item) in list.iter().enumerate() {
            *scores.entry(*item).or_default() += 1.0 / (RRF_K + place as f32 + 1.0);
        }
    }
    let mut fused: Vec<(usize, f32)> = scores.into_iter().collect();
    fused.sort_by(|a, b| b.1.total_cmp(&a.1));
    fused
}

/// Maximal marginal relevance: picks `k` items one by one, each relevant and unlike those already
/// picked. `relevance` 1 keeps the plain order, 0 gives the most variety.
pub(super) fn varied(
    ranked: &[(usize, f32)],
    k: usize,
    relevance: f32,
    likeness: impl Fn(usize, usize) -> f32,
) -> Vec<(usize, f32)> {
    let best = ranked
        .first()
        .map_or(1.0, |(_, score)| score.max(f32::EPSILON));
    let mut left: Vec<(usize, f32)> = ranked.to_vec();
    let mut taken: Vec<(usize, f32)> = Vec::with_capacity(k);
    while taken.len() < k && !left.is_empty() {
        let worth = |(item, score): &(usize, f32)| {
            let known = taken
                .iter()
                .map(|(other, _)| likeness(*item, *other))
                .fold(0.0, f32::max);
            relevance * score / best - (1.0 - relevance) * known
        };
        let mut choice = 0;
        let mut most = f32::NEG_INFINITY;
        for (at, candidate) in left.iter().enumerate() {
            let worth = worth(candidate);
            if worth > most {
                (choice, most) = (at, worth);
            }
        }
        taken.push(left.remove(choice));
    }
    taken
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // RAG-18, T3
    fn a_row_of_two_lists_comes_before_the_first_of_one() {
        let fused = reciprocal_ranks(&[vec![0, 1], vec![1, 2]]);
        assert_eq!(
            fused.iter().map(|(item, _)| *item).collect::<Vec<_>>(),
            [1, 0, 2]
        );
        assert!((fused[0].1 - (1.0 / 62.0 + 1.0 / 61.0)).abs() < 1e-6);
        assert!((fused[1].1 - 1.0 / 61.0).abs() < 1e-6 && (fused[2].1 - 1.0 / 62.0).abs() < 1e-6);
    }

    #[test] // D12
    fn varied_results_skip_the_second_of_a_kind() {
        let ranked = [(0, 1.0), (1, 0.95), (2, 0.9)];
        let twins = |a: usize, b: usize| if a + b == 1 { 1.0 } else { 0.1 };
        let ids = |relevance| {
            varied(&ranked, 2, relevance, twins)
                .into_iter()
                .map(|(item, _)| item)
                .collect::<Vec<_>>()
        };
        assert_eq!((ids(1.0), ids(0.5)), (vec![0, 1], vec![0, 2]));
    }
}
