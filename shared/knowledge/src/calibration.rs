//! Helps to choose thresholds for cosines. For a labelled question, measures the cosine of each row
//! that answers it. For a question that no row answers, measures the cosine of the nearest row.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::{Category, Index, Query, Thresholds, evaluate::Question};

/// The step between two thresholds that are tried.
const STEP: f32 = 0.02;
/// The suggested threshold must let through at least this share of the rows that answer a question.
/// It is the highest threshold that does so.
const KEPT: f64 = 0.95;

/// The figures measured for one category. Shares lie between 0 and 1.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Calibrated {
    /// Number of pairs of a question and a row that answers it. The fields below call them right
    /// rows.
    pub right: usize,
    /// The cosine below which 5 percent of the right rows lie. The next two fields are for 25 and
    /// 50 percent.
    pub right_p05: f32,
    pub right_p25: f32,
    pub right_p50: f32,
    /// For questions that no row answers: the cosine below which the nearest row lies in 50 percent
    /// of cases. The next field is for 95 percent.
    pub stranger_p50: f32,
    pub stranger_p95: f32,
    pub in_use: f32,
    /// The share of the right rows that reach the threshold `in_use`. `passed` is the share of
    /// questions without an answer whose nearest row reaches it.
    pub kept: f64,
    pub passed: f64,
    pub suggested: f32,
}

#[derive(Default)]
struct Measured {
    right: Vec<f32>,
    strangers: Vec<f32>,
}

/// Measures every question that is not held out; each comes with its query. Rows without a vector
/// are not counted.
pub fn calibrate<'a>(
    index: &Index,
    thresholds: &Thresholds,
    questions: impl Iterator<Item = (&'a Question, Query<'a>)>,
) -> BTreeMap<Category, Calibrated> {
    let mut measured: BTreeMap<Category, Measured> = BTreeMap::new();
    for (question, query) in questions.filter(|(question, _)| !question.held_out) {
        let found = index.retrieve_all(&query);
        let mut nearest: BTreeMap<Category, f32> = BTreeMap::new();
        for (item, cosine) in found {
            let of = measured.entry(item.category.clone()).or_default();
            if question.relevant.contains(&item.id) {
                of.right.push(cosine);
            } else if question.relevant.is_empty() {
                let best = nearest.entry(item.category.clone()).or_insert(cosine);
                *best = best.max(cosine);
            }
        }
        for (category, cosine) in nearest {
            measured.entry(category).or_default().strangers.push(cosine);
        }
    }
    let rows = measured.into_iter().filter(|(_, m)| !m.right.is_empty());
    rows.map(|(category, m)| {
        let in_use = thresholds.cosine(&category);
        (category, m.figures(in_use))
    })
    .collect()
}

// === impl Measured ===

impl Measured {
    fn figures(mut self, in_use: f32) -> Calibrated {
        self.right.sort_by(f32::total_cmp);
        self.strangers.sort_by(f32::total_cmp);
        let mut steps = (0..=50u8).rev().map(|n| f32::from(n) * STEP);
        let suggested = steps
            .find(|t| share(&self.right, *t) >= KEPT)
            .unwrap_or_default();
        Calibrated {
            right: self.right.len(),
            right_p05: at(&self.right, 5),
            right_p25: at(&self.right, 25),
            right_p50: at(&self.right, 50),
            stranger_p50: at(&self.strangers, 50),
            stranger_p95: at(&self.strangers, 95),
            in_use,
            kept: share(&self.right, in_use),
            passed: share(&self.strangers, in_use),
            suggested,
        }
    }
}

fn at(sorted: &[f32], percent: usize) -> f32 {
    sorted
        .get(sorted.len() * percent / 100)
        .copied()
        .unwrap_or_default()
}

/// Returns the share of the values in a sorted list that are at least `least`.
fn share(sorted: &[f32], least: f32) -> f64 {
    let above = sorted.len() - sorted.partition_point(|value| *value < least);
    above as f64 / sorted.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // RAG-30, RAG-32
    fn figures_are_worked_out_by_hand() {
        let right: Vec<f32> = (1..=20u8).map(|n| f32::from(n) / 20.0 - 0.005).collect();
        let figures = Measured {
            right,
            strangers: vec![0.3, 0.1, 0.2, 0.4],
        }
        .figures(0.25);
        assert_eq!(
            (figures.right, figures.right_p05, figures.stranger_p50),
            (20, 0.095, 0.3)
        );
        assert!(
            (figures.kept - 0.75).abs() < 1e-9 && (figures.passed - 0.5).abs() < 1e-9,
            "{figures:?}"
        );
        assert!(
            (figures.suggested - 0.08).abs() < 1e-6,
            "19 of 20 are kept: {figures:?}"
        );
        assert_eq!(Measured::default().figures(0.5).kept, 0.0);
    }
}
