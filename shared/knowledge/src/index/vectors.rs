//! The vectors of a casino's items. They are compared one by one, which is exact and fast enough
//! for thousands of rows.

use std::{collections::HashMap, sync::Arc};

use crate::{Item, Space, Vector};

/// The vectors of the items, in the order of the items. A row is `None` if its item has no vector
/// of this space.
#[derive(Debug, Clone)]
pub(super) struct Matrix {
    pub(super) space: Space,
    rows: Vec<Option<Row>>,
}

/// A vector's values. Vectors of the offline embedder are mostly zeros. Stored in full, they would
/// fill a quarter of a casino's index.
#[derive(Debug, Clone)]
enum Row {
    Dense(Box<[f32]>),
    /// Pairs of a dimension and its value, sorted by dimension.
    Sparse(Box<[(u32, f32)]>),
}

// === impl Row ===

impl Row {
    fn new(values: &[f32]) -> Self {
        let sparse: Vec<(u32, f32)> = (0..)
            .zip(values.iter().copied())
            .filter(|(_, value)| *value != 0.0)
            .collect();
        if sparse.len() * 2 < values.len() {
            Self::Sparse(sparse.into())
        } else {
            Self::Dense(values.into())
        }
    }

    fn dot(&self, with: &[f32]) -> f32 {
        match self {
            Self::Dense(values) => values.iter().zip(with).map(|(a, b)| a * b).sum(),
            Self::Sparse(cells) => cells
                .iter()
                .map(|(at, value)| value * with[*at as usize])
                .sum(),
        }
    }

    fn dense(&self, dimension: usize) -> Vec<f32> {
        match self {
            Self::Dense(values) => values.to_vec(),
            Self::Sparse(cells) => {
                let mut dense = vec![0.0; dimension];
                cells
                    .iter()
                    .for_each(|(at, value)| dense[*at as usize] = *value);
                dense
            }
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Dense(values) => size_of_val(&**values),
            Self::Sparse(cells) => size_of_val(&**cells),
        }
    }
}

// === impl Matrix ===

impl Matrix {
    /// Builds the matrix. A vector that is all zeros or has the wrong number of values counts as
    /// missing.
    pub(super) fn build(
        items: &[Arc<Item>],
        space: Space,
        vectors: &HashMap<String, Vector>,
    ) -> Self {
        let row = |item: &Arc<Item>| {
            let values = vectors
                .get(&item.id)
                .map(Vector::values)
                .filter(|v| v.len() == space.dimension);
            values
                .filter(|v| v.iter().any(|value| *value != 0.0))
                .map(Row::new)
        };
        let rows = items.iter().map(row).collect();
        Self { space, rows }
    }

    pub(super) fn bytes(&self) -> usize {
        self.rows
            .iter()
            .map(|row| size_of::<Option<Row>>() + row.as_ref().map_or(0, Row::bytes))
            .sum()
    }

    /// Returns the query's cosine with every item, in the order of the items; `None` for an item
    /// without a vector.
    pub(super) fn similarities(&self, query: &Vector) -> impl Iterator<Item = Option<f32>> {
        let query = query.values();
        let fits = query.len() == self.space.dimension;
        self.rows.iter().map(move |row| {
            row.as_ref()
                .map(|row| if fits { row.dot(query) } else { 0.0 })
        })
    }

    /// Returns the cosine of two items' vectors, by which retrieval varies its results; 0 if one is
    /// missing.
    pub(super) fn likeness(&self, a: usize, b: usize) -> f32 {
        match (&self.rows[a], &self.rows[b]) {
            (Some(a), Some(b)) => a.dot(&b.dense(self.space.dimension)),
            _ => 0.0,
        }
    }
}
