//! The conditions that a suggestion must meet, and whether a row meets them.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use seven_knowledge::{Category, Item};

use crate::{
    compose::{
        figure::figure,
        rows,
        several::{self, kind_fits},
        times::nights,
    },
    host::Host,
    pack::Kind,
    understand::Wish,
    when::{Asked, When},
};

/// The conditions that a suggestion must meet.
#[derive(Clone)]
pub(super) struct Wanted<'a> {
    pub(super) category: Category,
    pub(super) kinds: Vec<&'a Kind>,
    pub(super) wishes: Vec<Wish>,
    /// Other words of the guest, such as "rooftop"; rows that contain one are preferred.
    pub(super) words: Vec<String>,
    /// Ids of rows that are not offered again.
    pub(super) skipped: Vec<String>,
    /// The price that a suggestion must stay below.
    pub(super) below: Option<f64>,
    pub(super) when: When,
    pub(super) diets: Vec<&'a Kind>,
    pub(super) dislikes: Vec<Disliked<'a>>,
}

/// Something that the guest refused: the guest's word for it, and the kinds and wishes that this
/// word names.
#[derive(Clone)]
pub(super) struct Disliked<'a> {
    word: &'a str,
    kinds: Vec<&'a Kind>,
    wishes: Vec<Wish>,
}

// === impl Wanted ===

impl<'a> Wanted<'a> {
    /// Accepts any row of the category that suits the diets and that the guest neither dislikes nor
    /// refused.
    pub(super) fn any(host: &Host<'a>, category: Category, when: When) -> Self {
        let disliked = |word: &'a String| {
            let (kinds, wishes) = host.words(word, &category);
            Disliked {
                word,
                kinds,
                wishes,
            }
        };
        let dislikes = host.state.dislikes.iter().map(disliked).collect();
        Self {
            kinds: Vec::new(),
            wishes: Vec::new(),
            words: Vec::new(),
            skipped: host.state.refused.clone(),
            below: None,
            when,
            diets: host.diets(),
            dislikes,
            category,
        }
    }
}

// === impl Disliked ===

impl Disliked<'_> {
    fn is_in(&self, item: &Item) -> bool {
        let unknown = self.kinds.is_empty() && self.wishes.is_empty();
        self.kinds.iter().any(|kind| kind_fits(kind, item))
            || self.wishes.iter().any(|wish| wish.fits(item))
            || unknown && rows::tells(item, self.word)
    }
}

pub(super) fn fits(host: &Host<'_>, wanted: &Wanted<'_>, item: &Item) -> bool {
    let cheaper = |below: f64| figure(host, item).is_some_and(|price| price < below);
    !wanted.skipped.contains(&item.id)
        && !wanted.dislikes.iter().any(|disliked| disliked.is_in(item))
        && several::fits(&wanted.kinds, item)
        && wanted.wishes.iter().all(|wish| wish.fits(item))
        && wanted
            .diets
            .iter()
            .all(|kind| item.category != Category::Dining || kind_fits(kind, item))
        && wanted.below.is_none_or(cheaper)
        && is_on(host, wanted, item)
}

/// Returns whether the row is open or takes place when the guest wants it.
pub(super) fn is_on(host: &Host<'_>, wanted: &Wanted<'_>, item: &Item) -> bool {
    let (now, zone) = (host.request.now, host.request.zone);
    if item.category == Category::Entertainment {
        let Some((from, to)) = wanted.when.range(now, zone) else {
            return true;
        };
        let own = nights(host, &[Arc::new(item.clone())]);
        return own.iter().any(|night| (from..to).contains(&night.wall));
    }
    let Some(hours) = item.hours().filter(|_| wanted.when.is_said()) else {
        return true;
    };
    match wanted.when.asked(now, zone) {
        Asked::Now => hours.is_open(now, zone),
        Asked::At(at, ..) => hours.is_open(at, zone),
        Asked::On(date) => !hours.spans_on(date).is_empty(),
    }
}

pub(super) fn wanted_moment(host: &Host<'_>, wanted: &Wanted<'_>) -> DateTime<Utc> {
    match wanted.when.asked(host.request.now, host.request.zone) {
        Asked::At(at, ..) => at,
        Asked::Now | Asked::On(_) => host.request.now,
    }
}
