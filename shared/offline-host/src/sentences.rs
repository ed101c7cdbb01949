//! Finds the sentences of a row that answer a question.

use std::sync::Arc;

use seven_knowledge::{Category, Item, Mention, Term, index::is_stop};
use seven_text::words;

use crate::{
    calendar::is_calendar, host::Host, minors, reading::demand::Demand, understand::Understood,
};

/// Returns the terms (words and phrases) of the question. The row of an answer must contain the
/// terms that are not soft.
pub(crate) fn terms(host: &Host<'_>, u: &Understood<'_>) -> Vec<Term> {
    let pack = host.pack;
    let tables = [
        (&pack.facets, SPENT.as_slice()),
        (&pack.intents, SPENT_INTENTS.as_slice()),
    ];
    let mut spent: Vec<(usize, usize)> = Vec::new();
    for (table, keys) in tables {
        spent.extend(
            keys.iter()
                .filter_map(|key| table.get(*key))
                .flat_map(|phrases| phrases.places(&u.said)),
        );
    }
    let times = pack
        .times
        .values()
        .flat_map(|phrases| phrases.places(&u.said));
    let said = &u.said.words;
    spent.extend(times.filter(|(from, to)| {
        !said[*from..*to]
            .iter()
            .any(|word| MEALS.contains(&word.as_str()))
    }));
    // A budget narrows a list, but no sentence of a row mentions it.
    spent.extend(u.filter_places.iter().copied());
    let house = words(&host.request.casino_name);
    let idle = |n: usize| {
        let word = &said[n];
        let inside = spent.iter().any(|(from, to)| (*from..*to).contains(&n));
        inside
            || is_stop(word)
            || pack.ignores(word)
            || house.contains(word)
            || (is_calendar(word) && !MEALS.contains(&word.as_str()))
    };
    let named = |t: &Term| {
        u.mentions
            .iter()
            .any(|m| m.telling && m.from <= t.from && t.to <= m.to)
    };
    let figure = |t: &Term| said[t.from].starts_with(|c: char| c.is_ascii_digit());
    let all = host
        .request
        .index
        .terms(u.text)
        .into_iter()
        .filter(|t| t.to <= said.len() && !figure(t));
    // A known phrase counts as a whole: "dejar el cuarto" means check-out, although its words mean
    // other things.
    let fact =
        |n: usize| spent.iter().any(|(from, to)| (*from..*to).contains(&n)) || is_stop(&said[n]);
    let phrase = |t: &Term| t.known && t.to - t.from > 2 && !(t.from..t.to).all(fact);
    all.map(|t| {
        if named(&t) || phrase(&t) || !(t.from..t.to).all(idle) {
            t
        } else {
            t.softened()
        }
    })
    .collect()
}

/// Returns the rows that the question names, if it names any.
pub(crate) fn named<'u>(u: &'u Understood<'_>, terms: &[Term]) -> Vec<&'u Item> {
    let whole = u.mentions.iter().any(|m| m.telling && m.whole);
    // A part of a longer term names no row: "check in" does not name the row "Check cashing".
    let apart = |m: &&Mention| {
        !terms
            .iter()
            .any(|t| t.from <= m.from && m.to <= t.to && t.to - t.from > m.to - m.from)
    };
    u.mentions
        .iter()
        .filter(|m| m.telling && (m.whole || !whole))
        .filter(apart)
        .map(|m| m.item.as_ref())
        .collect()
}

/// Returns whether the row belongs to a category that the question names; true if it names none.
pub(crate) fn fits_topic(u: &Understood<'_>, item: &Item) -> bool {
    u.topics.is_empty() || u.topics.contains(&item.category)
}

/// Looks for a sentence of the row that states a fact which the row's fields lack. Returns it with
/// the row; `None` if no sentence fits.
pub(crate) fn of_row(
    host: &Host<'_>,
    u: &Understood<'_>,
    row: &Arc<Item>,
    facet: &str,
) -> Option<(Arc<Item>, String)> {
    let demand = Demand::of_facet(facet)?;
    let terms = terms(host, u);
    let keep = |item: &Item, text: &str| item.id == row.id && demand.met(text);
    let index = &host.request.index;
    if terms
        .iter()
        .any(|term| !term.soft && index.says(row, term) < HALF_SAID)
    {
        return None;
    }
    let found = index.passages(&terms, host.language, host.request.now, keep);
    let best = found.into_iter().next().map(|best| best.text);
    let text = best.or_else(|| {
        index
            .sentences(row, host.language)
            .find(|text| demand.met(text))
            .map(str::to_owned)
    })?;
    Some((Arc::clone(row), named_sentence(host, row, &text)))
}

/// Returns whether the text contains the kind of thing asked for, such as an amount or a time.
pub(crate) fn meets(u: &Understood<'_>, text: &str) -> bool {
    Demand::of(u).met(text)
}

/// Adds the row's sentence about the thing asked for to a fact. A question about shorts gets "smart
/// casual" and the row's sentence about shorts.
pub(crate) fn with_its_word(
    host: &Host<'_>,
    u: &Understood<'_>,
    row: &Item,
    fact: String,
) -> String {
    let terms = terms(host, u);
    let asked = |text: &str| {
        let own = |t: &Term| !t.soft && !t.is_literally_in(&row.name) && !t.is_literally_in(&fact);
        terms
            .iter()
            .any(|term| own(term) && term.is_literally_in(text))
    };
    let told = host
        .request
        .index
        .sentences(row, host.language)
        .find(|text| asked(text));
    let both = told
        .filter(|text| !fact.contains(*text))
        .map(|text| format!("{fact} {text}"));
    both.filter(|both| host.room.one_of_its_own(both))
        .unwrap_or(fact)
}

/// Writes the price range of a place and its row's sentence about prices. If both together are too
/// long, writes the sentence alone; if that is too long as well, the range alone.
pub(crate) fn priced(host: &Host<'_>, u: &Understood<'_>, row: &Item, range: String) -> String {
    let terms = terms(host, u);
    let keep = |item: &Item, text: &str| item.id == row.id && text.contains('$');
    let index = &host.request.index;
    let child = minors::is_for_a_minor(host, u);
    let of_children =
        |text: &&str| Demand::Number.met(text) && child && minors::speaks_of_children(text);
    let found = index.passages(&terms, host.language, host.request.now, keep);
    let best = index
        .sentences(row, host.language)
        .find(of_children)
        .map(str::to_owned);
    let best = best.or_else(|| found.into_iter().next().map(|best| best.text));
    let text = best.or_else(|| {
        index
            .sentences(row, host.language)
            .find(|text| text.contains('$'))
            .map(str::to_owned)
    });
    let Some(text) = text else { return range };
    let (both, alone) = (format!("{range} {text}"), named_sentence(host, row, &text));
    [both, alone]
        .into_iter()
        .find(|text| host.room.one_of_its_own(text))
        .unwrap_or(range)
}

pub(crate) fn named_sentence(host: &Host<'_>, row: &Item, text: &str) -> String {
    let name = host.name(row);
    let rule = matches!(row.category, Category::Regulations | Category::GeneralInfo);
    if rule || text.contains(&name) {
        text.to_owned()
    } else {
        format!("{name}: {text}")
    }
}

pub(crate) const HALF_SAID: f32 = 0.5;

pub(crate) const MEALS: [&str; 8] = [
    "lunch",
    "dinner",
    "supper",
    "noon",
    "almuerzo",
    "cena",
    "lunchtime",
    "mediodia",
];

/// Facts that a guest may ask about any row. Their phrases do not show which row is meant.
pub(crate) const SPENT: [&str; 11] = [
    "open", "opens", "closes", "hours", "price", "where", "phone", "duration", "about", "starts",
    "age",
];

pub(crate) const SPENT_INTENTS: [&str; 9] = [
    "greeting",
    "thanks",
    "listing",
    "recommend",
    "cheapest",
    "rules",
    "help",
    "ack",
    "booking",
];
