//! Finds the rows that a text means without naming them: those that the last reply named, or the
//! one that the guest picks from them.

use std::sync::Arc;

use seven_knowledge::{Item, Term};

use super::{
    super::{host::Host, understand::Understood},
    CALLED,
};
use crate::{
    compose::several::fits,
    pack::Field,
    resolve::{listed, nth},
};

/// Returns the rows of the last reply that the text may mean. If the text picks some of them ("the
/// second one", "the magic show", "the steak place"), returns only these.
pub(crate) fn subjects(host: &Host<'_>, u: &Understood<'_>, hard: &[Term]) -> Vec<Arc<Item>> {
    let listed = listed(host);
    if listed.len() < 2 {
        return listed;
    }
    if let Some(row) = nth(u, &listed) {
        return vec![row];
    }
    let index = &host.request.index;
    let named = |row: &&Arc<Item>| hard.iter().any(|term| index.is_called(row, term) >= CALLED);
    let place = u.kinds.iter().any(|kind| {
        matches!(
            kind.field,
            Field::Cuisine | Field::Subcategory | Field::Serves
        )
    });
    let kind = |row: &&Arc<Item>| place && fits(&u.kinds, row);
    let picked: Vec<Arc<Item>> = listed
        .iter()
        .filter(|row| named(row) || kind(row))
        .cloned()
        .collect();
    if picked.is_empty() { listed } else { picked }
}
