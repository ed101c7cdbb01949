//! The merged search: rankings by words, by vectors and by names are merged by reciprocal rank
//! fusion.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::{Index, fusion};
use crate::{Category, Item, Offline, Retrieval, Space, Vector};
use seven_text::words;

/// Number of rows that a question gets; the specification fixes it.
pub const TOP_K: usize = 5;
/// Maximum number of rows that each ranking contributes to the fusion.
const DEPTH: usize = 20;
/// The fused score of a row that is in no ranking but whose vector is close enough. The score is
/// lower than that of any ranked row.
const LAST: f32 = 1.0 / (fusion::RRF_K + DEPTH as f32 + 1.0);
/// For this many of the best rows, the other rows of the same name are added.
const NAMESAKES_OF: usize = 2;
/// A row takes part in the ranking by words only if its score is at least this share of the best
/// score; see [`Thresholds::share`].
const WORDS_SHARE: f32 = 0.35;

/// One question to the index.
#[derive(Debug, Clone)]
pub struct Query<'a> {
    now: DateTime<Utc>,
    k: usize,
    text: String,
    vector: Option<(&'a Space, Vector)>,
    categories: &'a [Category],
    retrieval: Option<&'a Retrieval>,
}

/// A row that may answer the question, with its scores.
#[derive(Debug, Clone)]
pub struct Retrieved {
    pub item: Arc<Item>,
    pub scores: Scores,
}

/// A row's scores in each ranking; ranks count from 1.
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize)]
pub struct Scores {
    /// The sum of reciprocal ranks, by which the rows are ordered. It is not a similarity.
    pub fused: f32,
    /// The share of the question's words, by weight, that is found in the row, 0 to 1.
    pub bm25: f32,
    pub bm25_rank: Option<usize>,
    pub cosine: Option<f32>,
    pub cosine_rank: Option<usize>,
}

// === impl Query ===

impl<'a> Query<'a> {
    /// Asks by words alone, until a vector is added.
    pub fn new(text: &str, now: DateTime<Utc>) -> Self {
        Self {
            now,
            k: TOP_K,
            text: text.to_owned(),
            vector: None,
            categories: &[],
            retrieval: None,
        }
    }

    /// Asks by words and by their offline embedding.
    pub fn offline(text: &str, now: DateTime<Utc>, embedder: &'a Offline) -> Self {
        Self::new(text, now).vector(embedder.as_space(), embedder.query(text))
    }

    /// Adds the question's vector. A vector from a space different from the index's is ignored.
    #[must_use]
    pub fn vector(mut self, space: &'a Space, vector: Vector) -> Self {
        self.vector = Some((space, vector));
        self
    }

    pub fn has_vector(&self) -> bool {
        self.vector.is_some()
    }

    /// Limits the search to these categories; an empty list means all.
    #[must_use]
    pub fn within(mut self, categories: &'a [Category]) -> Self {
        self.categories = categories;
        self
    }

    #[must_use]
    pub fn at_most(mut self, k: usize) -> Self {
        self.k = k;
        self
    }

    /// Uses the pack's number of rows, thresholds and variety for the search.
    #[must_use]
    pub fn as_set(mut self, retrieval: &'a Retrieval) -> Self {
        self.k = retrieval.rows;
        self.retrieval = Some(retrieval);
        self
    }
}

// === impl Index ===

impl Index {
    /// Returns the rows that may answer, best first. Inactive, past and expired rows, and rows of
    /// other categories, are in no ranking.
    pub fn retrieve(&self, query: &Query<'_>) -> Vec<Retrieved> {
        let today = self.today(query.now);
        let allowed: Vec<bool> = self
            .items
            .iter()
            .map(|item| {
                item.is_current_on(query.now, today)
                    && (query.categories.is_empty() || query.categories.contains(&item.category))
            })
            .collect();
        let space = self.vectors.as_ref().map(|vectors| &vectors.space);
        let measured = Retrieval::default();
        let retrieval = query.retrieval.unwrap_or(&measured);
        let thresholds = retrieval.thresholds(space);
        let mut scores = vec![Scores::default(); self.items.len()];
        let mut lists = vec![self.by_words(&query.text, &allowed, &mut scores)];
        lists.extend(self.by_vector(query, thresholds.share, &allowed, &mut scores));
        let named = self.named(&query.text, &lists);
        lists.push(named.clone());
        let near = |n: usize| {
            scores[n]
                .cosine
                .is_some_and(|c| c >= thresholds.cosine(&self.items[n].category))
        };
        let mut ranked = fusion::reciprocal_ranks(&lists);
        ranked.retain(|(n, _)| {
            near(*n) || scores[*n].bm25 >= thresholds.lexical || named.contains(n)
        });
        fill(&mut ranked, query.k, &scores, near);
        if let (Some(relevance), Some(vectors)) = (retrieval.relevance, &self.vectors) {
            ranked = fusion::varied(&ranked, query.k, relevance, |a, b| vectors.likeness(a, b));
        }
        let mut ranked = self.with_namesakes(ranked, &allowed);
        ranked.truncate(query.k);
        let found = |(n, fused): (usize, f32)| Retrieved {
            item: Arc::clone(&self.items[n]),
            scores: Scores { fused, ..scores[n] },
        };
        ranked.into_iter().map(found).collect()
    }

    /// Adds, after each of the two best rows, the other rows of the same name. A venue's opening
    /// hours, for example, are often in a separate row.
    fn with_namesakes(&self, ranked: Vec<(usize, f32)>, allowed: &[bool]) -> Vec<(usize, f32)> {
        let mut all: Vec<(usize, f32)> = Vec::with_capacity(ranked.len());
        for (place, (n, fused)) in ranked.into_iter().enumerate() {
            let placed = |n: usize, all: &[(usize, f32)]| all.iter().any(|(other, _)| *other == n);
            if placed(n, &all) {
                continue;
            }
            all.push((n, fused));
            if place < NAMESAKES_OF {
                let same = self
                    .names
                    .namesakes(n)
                    .iter()
                    .filter(|other| allowed[**other] && !placed(**other, &all));
                let same: Vec<(usize, f32)> = same.map(|other| (*other, fused)).collect();
                all.extend(same);
            }
        }
        all
    }

    /// Returns every valid row that has a vector, with its cosine; for calibration.
    pub fn retrieve_all(&self, query: &Query<'_>) -> Vec<(Arc<Item>, f32)> {
        let today = self.today(query.now);
        let allowed: Vec<bool> = self
            .items
            .iter()
            .map(|item| item.is_current_on(query.now, today))
            .collect();
        let mut scores = vec![Scores::default(); self.items.len()];
        self.by_vector(query, 0.0, &allowed, &mut scores);
        let rows = self.items.iter().zip(&scores);
        rows.filter_map(|(item, score)| Some((Arc::clone(item), score.cosine?)))
            .collect()
    }

    /// Returns the rows in `lists` that the question names, even if misspelt. They form one more
    /// ranking.
    fn named(&self, text: &str, lists: &[Vec<usize>]) -> Vec<usize> {
        let found = |n: usize| lists.iter().any(|list| list.contains(&n));
        let mentions = self
            .names
            .find(text, found, &self.items)
            .into_iter()
            .filter(|mention| mention.telling);
        mentions
            .filter_map(|mention| {
                self.items
                    .iter()
                    .position(|item| Arc::ptr_eq(item, &mention.item))
            })
            .collect()
    }

    fn by_words(&self, text: &str, allowed: &[bool], scores: &mut [Scores]) -> Vec<usize> {
        let found = self
            .words
            .scores(&words(text))
            .into_iter()
            .enumerate()
            .filter(|(n, s)| *s > 0.0 && allowed[*n]);
        let list = top(found.collect(), WORDS_SHARE);
        for (rank, (n, score)) in list.iter().enumerate() {
            scores[*n].bm25 = *score;
            scores[*n].bm25_rank = Some(rank + 1);
        }
        list.into_iter().map(|(n, _)| n).collect()
    }

    fn by_vector(
        &self,
        query: &Query<'_>,
        share: f32,
        allowed: &[bool],
        scores: &mut [Scores],
    ) -> Option<Vec<usize>> {
        let (space, question) = query.vector.as_ref()?;
        let vectors = self
            .vectors
            .as_ref()
            .filter(|v| v.space == **space && question.values().len() == space.dimension)?;
        if question.is_silent() {
            return None;
        }
        let mut found = Vec::with_capacity(allowed.len());
        for (n, cosine) in vectors
            .similarities(question)
            .enumerate()
            .filter(|(n, _)| allowed[*n])
        {
            if let Some(cosine) = cosine {
                scores[n].cosine = Some(cosine);
                found.push((n, cosine));
            }
        }
        let list = top(
            found
                .into_iter()
                .filter(|(_, cosine)| *cosine > 0.0)
                .collect(),
            share,
        );
        for (rank, (n, _)) in list.iter().enumerate() {
            scores[*n].cosine_rank = Some(rank + 1);
        }
        Some(list.into_iter().map(|(n, _)| n).collect())
    }
}

/// Appends rows that are in no ranking but whose vectors are close enough, closest first, until
/// there are `k` rows.
fn fill(ranked: &mut Vec<(usize, f32)>, k: usize, scores: &[Scores], near: impl Fn(usize) -> bool) {
    if ranked.len() >= k {
        return;
    }
    let left = scores
        .iter()
        .enumerate()
        .filter_map(|(n, score)| Some((n, score.cosine?)));
    let left = left.filter(|(n, _)| near(*n) && !ranked.iter().any(|(other, _)| other == n));
    let rest = top(left.collect(), 0.0);
    ranked.extend(
        rest.into_iter()
            .take(k - ranked.len())
            .map(|(n, _)| (n, LAST)),
    );
}

/// Sorts a ranking and keeps its best rows: at most `DEPTH`, each with at least `share` of the best
/// score. Rows with equal scores keep the order of the content file.
fn top(mut found: Vec<(usize, f32)>, share: f32) -> Vec<(usize, f32)> {
    let order = |a: &(usize, f32), b: &(usize, f32)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
    if found.len() > DEPTH {
        found.select_nth_unstable_by(DEPTH, order);
        found.truncate(DEPTH);
    }
    found.sort_unstable_by(order);
    let least = found.first().map_or(0.0, |(_, best)| best * share);
    found.retain(|(_, score)| *score >= least);
    found
}
