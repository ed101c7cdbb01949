//! Reads wishes by their meaning (D48), for wishes that the pack has no word for.

use std::sync::Arc;

use seven_knowledge::{Category, Item};

use crate::{
    finding::{Findings, Found},
    host::Host,
};

/// Points of a row that is certain to suit the wish; other rows get points in proportion.
const CERTAIN: f32 = 6.0;
/// The lowest probability of a wish for suggestions, at which its meaning is used alone.
const WISHES: f32 = 0.5;
/// The lowest share of the odds of all rows that fit, at which a row is suggested for its meaning
/// alone.
const LEAST: f32 = 0.2;
/// A second row is suggested if it is at least this share as probable as the first.
const NEAR: f32 = 0.25;
/// The lowest share of the odds of all rows, at which the rows of a category are meant.
const CLEAR: f32 = 0.4;

/// Returns the points of a row, by how well it suits the wish.
pub(super) fn points(host: &Host<'_>, item: &Item) -> i32 {
    let rows = host.found().map_or(&[][..], |found| &found.rows);
    let own = rows.iter().find(|found| found.row.id == item.id);
    own.map_or(0, |found| (CERTAIN * found.odds).round() as i32)
}

/// Returns the two rows that suit the wish best among those that fit, or one if no other is nearly
/// as good; none if the text is no wish for suggestions.
pub(super) fn best(host: &Host<'_>, fits: impl Fn(&Item) -> bool) -> Vec<Arc<Item>> {
    let found = host
        .found()
        .filter(|found| found.kinds.suggestion >= WISHES);
    let rows = found.map_or(&[][..], |found| &found.rows);
    let fitting: Vec<&Found> = rows.iter().filter(|found| fits(&found.row)).collect();
    let all: f32 = fitting.iter().map(|found| found.odds).sum();
    let most = fitting.first().map_or(1.0, |found| found.odds);
    let near = |found: &&&Found| found.odds >= most * NEAR && most >= all * LEAST;
    let near = fitting.iter().take(2).filter(near);
    near.map(|found| Arc::clone(&found.row)).collect()
}

/// Returns the category of the rows that suit the wish, if one category is clear. Nobody who names
/// no category wants a room.
pub(super) fn category(host: &Host<'_>) -> Option<Category> {
    let wish = |found: &&Findings| found.kinds.suggestion >= WISHES;
    let found = host.found().filter(wish)?;
    let best = found.rows.first()?.row.category.clone();
    (share(found, &best) >= CLEAR && best.as_str() != "rooms").then_some(best)
}

/// Returns the share of the odds of all rows that the rows of a category have.
fn share(found: &Findings, category: &Category) -> f32 {
    let own = found
        .rows
        .iter()
        .filter(|row| row.row.category == *category);
    let all: f32 = found.rows.iter().map(|row| row.odds).sum();
    own.map(|row| row.odds).sum::<f32>() / all.max(f32::EPSILON)
}
