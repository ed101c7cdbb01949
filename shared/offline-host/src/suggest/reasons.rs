//! Lists the facts of a row that speak for it.

use std::{collections::HashSet, sync::Arc};

use seven_guest::dialogue::ADULT_AGE_YEARS;
use seven_knowledge::{Category, Item, WeeklyHours, item::Details};

use super::wanted::Wanted;
use crate::{
    adults::says_adults_only,
    compose::{rows, times, venue},
    host::Host,
    pack::{Field, Kind},
    when::{Asked, When},
};

/// Maximum number of reasons after a row's name.
const MOST_REASONS: usize = 4;

pub(super) fn named(host: &Host<'_>, row: &Arc<Item>, wanted: &Wanted<'_>) -> String {
    let mut diets = host.diets();
    diets.extend(
        wanted
            .kinds
            .iter()
            .filter(|kind| kind.field == Field::Dietary),
    );
    let mut reasons = reasons_for(host, row, &diets, wanted.when);
    reasons.truncate(MOST_REASONS);
    if reasons.is_empty() {
        host.name(row)
    } else {
        format!("{} ({})", host.name(row), reasons.join(", "))
    }
}

/// Returns the facts of a row that speak for it, the most telling first.
pub(crate) fn reasons(host: &Host<'_>, row: &Arc<Item>) -> Vec<String> {
    let mut reasons = reasons_for(host, row, &host.diets(), host.planned());
    reasons.truncate(MOST_REASONS);
    reasons
}

fn reasons_for(host: &Host<'_>, row: &Arc<Item>, diets: &[&Kind], when: When) -> Vec<String> {
    let value = |text: &str| host.pack.value(text, host.language);
    let mut reasons = Vec::new();
    match &row.details {
        Details::Dining(d) => {
            reasons.push(value(&d.cuisine_type));
            for kind in diets {
                let held = d.dietary_options.iter().find(|option| {
                    kind.values
                        .iter()
                        .any(|value| rows::has_word(option, value))
                });
                reasons.extend(held.map(|option| value(option)));
            }
            if host.state.has_minors() && d.kids_menu == Some(true) {
                reasons.push(host.say("reason_kids", &[]));
            }
            reasons.push(d.price_range.clone());
            reasons.extend(says_adults_only(row).then(|| format!("{ADULT_AGE_YEARS}+")));
            reasons.extend(until(host, row, when));
        }
        Details::Entertainment(d) => {
            reasons.extend(times::when_of(host, row));
            reasons.push(value(&d.venue));
            reasons.extend(venue::price(host, row));
            reasons.extend(
                d.age_restriction
                    .as_deref()
                    .filter(|_| host.state.has_minors())
                    .map(value),
            );
        }
        _ => {
            reasons.extend(venue::price(host, row));
            reasons.extend(row.location().map(value));
        }
    }
    let mut seen = HashSet::new();
    reasons.retain(|reason| seen.insert(reason.clone()));
    reasons
}

/// Writes when a place is open. If the guest asks about a moment, says until when the place is open
/// or when it opens next. If the guest asks about a day, gives the hours of that day.
fn until(host: &Host<'_>, row: &Item, when: When) -> Option<String> {
    let hours = row.hours()?;
    let (now, zone) = (host.request.now, host.request.zone);
    let at = match when.asked(now, zone) {
        Asked::At(at, ..) => at,
        Asked::On(date) => {
            let spans = WeeklyHours::new(std::array::from_fn(|_| hours.spans_on(date).to_vec()));
            let shown = spans.show(host.language);
            let shown = shown
                .split_once(' ')
                .map_or(shown.as_str(), |(_, times)| times);
            return Some(shown.to_owned()).filter(|times| times.contains('m'));
        }
        Asked::Now => now,
    };
    if hours.is_always() {
        return Some(host.say("reason_always", &[]));
    }
    match hours.until(at, zone, host.language) {
        Some(until) => Some(host.say("reason_until", &[("value", &until)])),
        None => venue::next_words(host, hours, at)
            .map(|next| host.say("reason_opens", &[("value", &next)])),
    }
}

/// Returns a note about the party's allergy for suggestions of food and treatments, because no row
/// says what is safe; `None` without an allergy.
pub(super) fn caution(host: &Host<'_>, category: &Category) -> Option<String> {
    let allergic = host
        .state
        .diets
        .iter()
        .any(|diet| diet.starts_with("allergy"));
    let touches = matches!(category, Category::Dining | Category::Spa);
    (allergic && touches).then(|| host.say("allergy_note", &[]))
}
