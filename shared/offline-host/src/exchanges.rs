//! Finds the places that the conversation was about last.

use std::sync::Arc;

use seven_knowledge::Item;

use crate::{host::Host, resolve::listed};

/// The places that the last reply named.
pub(crate) enum Earlier {
    One(Vec<Arc<Item>>),
    Several(Vec<String>),
}

/// Returns the name of the place that the last reply named; empty if it named none or several.
pub(crate) fn last_names(host: &Host<'_>) -> Vec<String> {
    match last_places(host) {
        Some(Earlier::One(rows)) => rows.iter().map(|row| row.name.clone()).collect(),
        _ => Vec::new(),
    }
}

/// Returns the places that the last reply named; `None` if it named none.
pub(crate) fn last_places(host: &Host<'_>) -> Option<Earlier> {
    let rows = listed(host);
    match rows.as_slice() {
        [] => None,
        [_] => Some(Earlier::One(rows)),
        several => Some(Earlier::Several(
            several.iter().map(|row| host.name(row)).collect(),
        )),
    }
}
