//! Says that nothing fits, and names the nearest match.

use std::sync::Arc;

use seven_knowledge::{Category, Item};

use super::{
    rank::{score, tie, varied},
    reasons::named,
    wanted::{Wanted, fits, is_on, wanted_moment},
};
use crate::{
    acts::Act,
    adults::is_allowed,
    compose::{
        several::{self, kind_fits},
        venue,
    },
    fit::{Part, join_names},
    host::Host,
    understand::Understood,
    when::{Asked, When},
};

/// Says that nothing fits, and which condition the nearest row does not meet.
pub(super) fn nothing(
    host: &Host<'_>,
    act: Act,
    u: &Understood<'_>,
    wanted: &Wanted<'_>,
    all: &[Arc<Item>],
) -> Option<Part> {
    if matches!(act, Act::More | Act::Reject) && u.kinds.is_empty() && u.wishes.is_empty() {
        let no_more = || Part {
            grounded: true,
            ..host.part("recommend", host.say("suggest_no_more", &[]), &[])
        };
        return Some(of_other_kinds(host, u, wanted, all).unwrap_or_else(no_more));
    }
    // A question about the time alone is answered with the list of open places. That list also says
    // when the first place opens.
    let any = wanted.kinds.is_empty() && wanted.wishes.is_empty() && host.diets().is_empty();
    if wanted.category != Category::Dining || any && wanted.when.is_said() {
        return None;
    }
    // Tries again without the time, and then without the diets, because a row may fit then.
    let untimed = Wanted {
        when: When::default(),
        ..wanted.clone()
    };
    let late: Vec<Arc<Item>> = all
        .iter()
        .filter(|item| is_allowed(host, u, item) && fits(host, &untimed, item))
        .cloned()
        .collect();
    let clock = matches!(
        wanted.when.asked(host.request.now, host.request.zone),
        Asked::At(..) | Asked::Now
    );
    if let Some(first) = late.first().filter(|_| wanted.when.is_said() && clock) {
        let next = first
            .hours()
            .and_then(|hours| venue::next_words(host, hours, wanted_moment(host, wanted)));
        let body = host.say(
            "suggest_closed",
            &[("name", &host.name(first)), ("value", &next?)],
        );
        return Some(host.part("recommend", body, std::slice::from_ref(first)));
    }
    without_diet(host, u, wanted, all)
}

/// Suggests rows of other kinds to a guest who has seen all rows of the kind asked for. Conditions
/// such as a diet or a price still hold.
fn of_other_kinds(
    host: &Host<'_>,
    u: &Understood<'_>,
    wanted: &Wanted<'_>,
    all: &[Arc<Item>],
) -> Option<Part> {
    let mut open = wanted.clone();
    open.kinds.retain(|kind| kind.is_condition());
    open.wishes.clear();
    open.words.clear();
    let fitting = all.iter().filter(|item| is_allowed(host, u, item));
    let mut fitting: Vec<Arc<Item>> = fitting
        .filter(|item| fits(host, &open, item))
        .cloned()
        .collect();
    fitting.sort_by_key(|item| (std::cmp::Reverse(score(host, &open, item)), tie(host, item)));
    let rows = varied(&fitting);
    let names: Vec<String> = rows.iter().map(|row| named(host, row, &open)).collect();
    let or = if host.and() == "and" { "or" } else { "o" };
    let body = host.say("suggest_else", &[("list", &join_names(&names, or))]);
    let fits = !rows.is_empty() && host.room.two(&body);
    fits.then(|| host.part("recommend", body, &rows))
}

/// Names a place that fits except for a diet, and names that diet.
fn without_diet(
    host: &Host<'_>,
    u: &Understood<'_>,
    wanted: &Wanted<'_>,
    all: &[Arc<Item>],
) -> Option<Part> {
    let diets = host.diets();
    let missing = |item: &Item| diets.iter().find(|kind| !kind_fits(kind, item)).copied();
    let row = all.iter().find(|item| {
        is_allowed(host, u, item)
            && several::fits(&wanted.kinds, item)
            && wanted.wishes.iter().all(|wish| wish.fits(item))
            && !wanted.skipped.contains(&item.id)
            && is_on(host, wanted, item)
            && missing(item).is_some()
    })?;
    let wish = host.pack.value(&missing(row)?.name, host.language);
    let told = named(host, row, wanted);
    let body = host.say("suggest_but", &[("name", &told), ("wish", &wish)]);
    Some(host.part("recommend", body, std::slice::from_ref(row)))
}
