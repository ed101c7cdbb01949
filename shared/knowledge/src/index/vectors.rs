//! The vectors of one casino's items, compared one by one: exact, and quick enough up to thousands of rows (RAG-22).

use std::{collections::HashMap, sync::Arc};

use crate::{Item, Space, Vector};

/// One column of numbers per dimension: a question's vector is mostly zeros offline, and a zero costs nothing this way.
#[derive(Debug, Clone)]
pub(super) struct Matrix {
    pub(super) space: Space,
    columns: Vec<f32>,
    /// Items without a vector of this space take no part.
    present: Vec<bool>,
}

// === impl Matrix ===

impl Matrix {
    /// Vectors of another length than the space says are left out.
    pub(super) fn build(items: &[Arc<Item>], space: Space, vectors: &HashMap<String, Vector>) -> Self {
        let rows = items.len();
        let mut columns = vec![0.0; rows * space.dimension];
        let mut present = vec![false; rows];
        for (n, item) in items.iter().enumerate() {
            let vector = vectors.get(&item.id).map(Vector::values).filter(|v| v.len() == space.dimension);
            if let Some(vector) = vector.filter(|v| v.iter().any(|value| *value != 0.0)) {
                vector.iter().enumerate().for_each(|(dimension, value)| columns[dimension * rows + n] = *value);
                present[n] = true;
            }
        }
        Self { space, columns, present }
    }

    pub(super) fn bytes(&self) -> usize {
        self.columns.len() * size_of::<f32>() + self.present.len()
    }

    /// Cosine of the query with every item, in the items' order; `None` for items without a vector.
    pub(super) fn similarities(&self, query: &Vector) -> impl Iterator<Item = Option<f32>> {
        let mut sums = vec![0.0f32; self.present.len()];
        let columns = self.columns.chunks_exact(self.present.len().max(1));
        for (column, weight) in columns.zip(query.values()).filter(|(_, weight)| **weight != 0.0) {
            sums.iter_mut().zip(column).for_each(|(sum, value)| *sum += weight * value);
        }
        sums.into_iter().zip(&self.present).map(|(sum, present)| present.then_some(sum))
    }

    /// How alike two items are, for variety.
    pub(super) fn likeness(&self, a: usize, b: usize) -> f32 {
        let columns = self.columns.chunks_exact(self.present.len().max(1));
        columns.map(|column| column[a] * column[b]).sum()
    }
}
