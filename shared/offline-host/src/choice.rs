//! Chooses among the answers that a sentence may get (D48): the answer that its words led to, the
//! facts that the finder found, a suggestion, to pass the question on, or to note what was told.
//!
//! Each answer's worth is a weighted sum of inputs: how sure the finder is, how the words led to
//! their answer, the act, and so on. The weights were fitted to what readers called right
//! (`scripts/data/choice_sets.py`).

use std::{collections::HashMap, sync::LazyLock};

/// The answers, in the order of the columns of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The answer that the words of the text led to.
    Words,
    /// The facts that the finder found.
    Facts,
    /// A suggestion of rows.
    Suggestion,
    /// To say that the question is passed on to a person.
    PassedOn,
    /// To say that the host has noted what the guest told.
    Noted,
}

const COUNT: usize = 5;

/// All answers.
pub(crate) const ANSWERS: [Answer; COUNT] = [
    Answer::Words,
    Answer::Facts,
    Answer::Suggestion,
    Answer::PassedOn,
    Answer::Noted,
];

/// Named inputs. A name that the table lacks counts for nothing.
pub(crate) type Inputs = Vec<(String, f32)>;

static JSON: &str = include_str!("../data/choice.json");
static TABLE: LazyLock<HashMap<String, [f32; COUNT]>> =
    LazyLock::new(|| serde_json::from_str(JSON).expect("the table is part of the crate, tested"));

/// Returns the answers, the one of the greatest worth first.
pub(crate) fn ranked(inputs: &Inputs) -> [Answer; COUNT] {
    let mut worth = [0.0; COUNT];
    for (name, value) in inputs {
        let weights = TABLE.get(name).copied().unwrap_or_default();
        for (worth, weight) in worth.iter_mut().zip(weights) {
            *worth += value * weight;
        }
    }
    let mut answers = ANSWERS;
    answers.sort_by(|a, b| worth[*b as usize].total_cmp(&worth[*a as usize]));
    answers
}

/// A sentence as it was weighed: an authors' tool learns the table from many of them.
#[derive(Debug, Clone)]
pub struct Weighed {
    pub inputs: Vec<(String, f32)>,
    /// The ids of the rows that the words' answer, the facts found and a suggestion tell.
    pub rows: [Vec<String>; 3],
    /// How the words' answer answers: `told`, `denied`, `passed on` or `chat`.
    pub words: &'static str,
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    proptest! {
        #[test]
        fn each_answer_is_ranked_once(values in vec((0_usize..200, -20.0_f32..20.0), 0..40)) {
            let names: Vec<&String> = TABLE.keys().collect();
            let input = |(at, value): &(usize, f32)| (names[at % names.len()].clone(), *value);
            let ranked = ranked(&values.iter().map(input).collect());
            prop_assert!(ANSWERS.iter().all(|answer| ranked.contains(answer)));
        }
    }

    #[test]
    fn an_unknown_input_counts_for_nothing() {
        let known = vec![("bias".to_owned(), 1.0), ("nothing".to_owned(), 5.0)];
        let more = known
            .iter()
            .cloned()
            .chain([("no such input".to_owned(), 9.0)]);
        assert_eq!(ranked(&known), ranked(&more.collect()));
    }

    #[test]
    fn the_table_is_whole() {
        assert!(TABLE.contains_key("bias"));
        assert!(TABLE.values().flatten().all(|weight| weight.is_finite()));
    }
}
