//! Orders the rows that fit.

use std::sync::Arc;

use seven_guest::Key;
use seven_knowledge::{Category, Item, item::Details};

use super::wanted::{Wanted, wanted_moment};
use crate::{
    compose::{figure::figure, rows, times::nights},
    host::Host,
    pack::Field,
};

/// Maximum number of rows that one reply suggests.
const MOST: usize = 2;

/// Returns the rank of a row that fits; the better the row suits the party, the higher the rank.
pub(super) fn score(host: &Host<'_>, wanted: &Wanted<'_>, item: &Item) -> i32 {
    let state = host.state;
    let mut score = 0;
    let sub = item.subcategory.as_deref().unwrap_or_default();
    let kids = matches!(&item.details, Details::Dining(d) if d.kids_menu == Some(true));
    if state.has_minors() {
        score += 3 * i32::from(kids) + i32::from(["casual", "buffet"].contains(&sub));
    }
    if item.category == Category::Dining {
        let occasion = host.request.profile.get(Key::Occasion).is_some();
        score += 2 * i32::from(occasion && sub == "fine_dining");
        // For "the fanciest place", a dearer place gets a higher rank.
        let finest = wanted
            .kinds
            .iter()
            .any(|kind| kind.values.iter().any(|v| v == "fine_dining"));
        score += i32::from(finest) * figure(host, item).map_or(0, |price| price as i32);
        // A bar or cafe counts as a place for a meal only if the guest asks for one.
        let asked = wanted
            .kinds
            .iter()
            .any(|kind| kind.field == Field::Subcategory || kind.field == Field::Serves);
        score -= 3 * i32::from(["bar", "cafe"].contains(&sub) && !asked);
        score += 2 * i32::from(item.is_open(wanted_moment(host, wanted), host.request.zone));
        if state.budget.is_some() {
            score -= figure(host, item).map_or(0, |price| price as i32);
        }
    }
    if item.category == Category::Spa && !wanted.wishes.is_empty() {
        score += 2 * i32::from(wanted.wishes.iter().any(|wish| wish.files(item)));
    }
    if let (Details::Free(_), Some(party)) = (&item.details, state.party) {
        let sleeps = item
            .details
            .extra()
            .and_then(|extra| extra.get("sleeps")?.as_u64());
        score += 2 * i32::from(sleeps.is_some_and(|sleeps| sleeps >= u64::from(party)));
    }
    if state.step_free {
        score += 2 * i32::from(
            ["accessible", "step free", "wheelchair", "elevator"]
                .iter()
                .any(|word| rows::tells(item, word)),
        );
    }
    score
}

/// Returns the key that orders rows of equal rank: shows by time, all other rows by the seed.
pub(super) fn tie(host: &Host<'_>, item: &Arc<Item>) -> (i64, u64) {
    let at = if item.category == Category::Entertainment {
        nights(host, std::slice::from_ref(item))
            .first()
            .map_or(i64::MAX, |night| night.wall.and_utc().timestamp())
    } else {
        0
    };
    let spread = item.id.bytes().fold(host.request.seed, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    (at, spread >> 16)
}

/// Returns the best row and the next best one of another kind.
pub(super) fn varied(fitting: &[Arc<Item>]) -> Vec<Arc<Item>> {
    let kind = |item: &Item| match &item.details {
        Details::Dining(d) => d.cuisine_type.clone(),
        _ => item.id.clone(),
    };
    let mut chosen: Vec<Arc<Item>> = fitting.iter().take(1).cloned().collect();
    let other = fitting
        .iter()
        .skip(1)
        .find(|item| kind(item) != kind(&fitting[0]))
        .or_else(|| fitting.get(1));
    chosen.extend(other.cloned());
    chosen.truncate(MOST);
    chosen
}
