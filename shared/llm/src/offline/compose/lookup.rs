//! Answers found by search, with a score that must reach the pack's threshold.

use std::sync::Arc;

use seven_knowledge::{Category, Hit, Item};

use super::{
    super::{answer::Host, fit::Part, understand::Understood},
    listing, venue,
};

/// Rows worth answering from, best first.
fn hits(host: &Host<'_>, query: &str, keep: impl Fn(&Item) -> bool) -> Vec<Hit> {
    let all = host.request.index.search(query, host.request.now, 40);
    all.into_iter().filter(|hit| hit.score >= host.pack.threshold && keep(&hit.item)).collect()
}

/// The best row of the whole content.
pub(in super::super) fn anything(host: &Host<'_>, u: &Understood<'_>) -> Option<Part> {
    if u.leftover.is_empty() && u.mentions.is_empty() && u.topics.is_empty() && u.facets.is_empty() {
        return None;
    }
    // A remark that happens to share a word with a row is no question about it.
    if !u.is_question && u.leftover.len() > 3 && u.mentions.is_empty() {
        return None;
    }
    let timed = ["open", "opens", "closes", "hours"].iter().any(|f| u.wants(f)) && u.mentions.iter().all(|m| !m.whole);
    if timed && let Some(part) = place(host, u) {
        return Some(part);
    }
    // Words already understood as a time or a wish for a price would only dilute the search.
    let telling: Vec<&str> = u.leftover.iter().map(String::as_str).chain(topic_words(u)).collect();
    let mut found =
        if u.leftover.is_empty() || u.wants("kids") { Vec::new() } else { hits(host, &telling.join(" "), |_| true) };
    if found.is_empty() {
        found = hits(host, u.text, |_| true);
    }
    let best = found.first()?;
    let rest: Vec<Arc<Item>> = found
        .iter()
        .filter(|h| h.item.category == best.item.category && h.score >= best.score * 0.8)
        .map(|h| Arc::clone(&h.item))
        .collect();
    if best.item.category == Category::Dining && rest.len() > 1 {
        return Some(listing::names(host, "fitting", "cuisine", &rest[..rest.len().min(5)], Some("ask_dining")));
    }
    let facts = venue::answer(host, u, std::slice::from_ref(&best.item));
    Some(if facts.grounded && !matches!(best.item.category, Category::Regulations | Category::GeneralInfo) {
        facts
    } else {
        venue::info(host, &best.item)
    })
}

/// The best row of one category for the words that are not the category's own.
pub(in super::super) fn within(host: &Host<'_>, u: &Understood<'_>, category: &Category) -> Option<Part> {
    if u.leftover.is_empty() {
        return None;
    }
    let found = hits(host, &u.leftover.join(" "), |item| item.category == *category);
    let best = found.first()?;
    let share = if u.wants("price") { 0.7 } else { 0.9 };
    let close: Vec<Arc<Item>> =
        found.iter().filter(|h| h.score >= best.score * share).map(|h| Arc::clone(&h.item)).collect();
    if close.len() > 1 && u.wants("price") {
        return listing::prices(host, &close, category.as_str());
    }
    if close.len() > 2 && u.facets.is_empty() {
        return Some(listing::names(host, "fitting", category.as_str(), &close, Some("ask_topic")));
    }
    let facts = venue::answer(host, u, std::slice::from_ref(&best.item));
    Some(Part {
        intent: category.as_str().into(),
        ..if facts.grounded { facts } else { venue::info(host, &best.item) }
    })
}

/// The place whose hours are asked, when the text names it only by a common word: "the pool", "valet".
pub(in super::super) fn place(host: &Host<'_>, u: &Understood<'_>) -> Option<Part> {
    let named: Vec<&str> = u.leftover.iter().map(String::as_str).chain(topic_words(u)).collect();
    if named.is_empty() {
        return None;
    }
    let found = hits(host, &named.join(" "), |item| item.hours().is_some());
    // The name must hold what was said; a restaurant "by the pool" is not the pool.
    let best = found.iter().find(|h| named.iter().any(|w| names_it(&h.item, w)))?;
    Some(venue::answer(host, u, std::slice::from_ref(&best.item)))
}

/// The hours of the casino itself, where the content has them under its own name or "casino".
pub(in super::super) fn house(host: &Host<'_>, u: &Understood<'_>) -> Option<Part> {
    let names = [host.request.casino_name.as_str(), "casino"];
    let item = names.iter().find_map(|name| {
        host.request.index.current(host.request.now).find(|i| i.hours().is_some() && listing::has_word(&i.name, name))
    })?;
    Some(venue::answer(host, u, std::slice::from_ref(item)))
}

/// Where the casino itself is.
pub(in super::super) fn house_address(host: &Host<'_>) -> Option<Part> {
    let found = hits(host, "address directions direccion", |item| item.category == Category::GeneralInfo);
    found.first().map(|hit| venue::info(host, &hit.item))
}

fn names_it(item: &Item, word: &str) -> bool {
    listing::has_word(&item.name, word)
        || item.name_es.as_ref().is_some_and(|name| listing::has_word(name, word))
        || item.keywords.iter().any(|keyword| listing::has_word(keyword, word) && !keyword.contains(' '))
}

fn topic_words<'a>(u: &'a Understood<'_>) -> impl Iterator<Item = &'a str> {
    u.topics.iter().map(Category::as_str)
}

/// Bookings are made by people: the content's own way to book, else the phone.
pub(in super::super) fn booking(host: &Host<'_>, u: &Understood<'_>) -> Part {
    let found = hits(host, u.text, |item| matches!(item.category, Category::GeneralInfo));
    match found.first().filter(|h| h.score >= 0.5) {
        Some(best) => Part { intent: "booking".into(), ..venue::info(host, &best.item) },
        None => host.part("booking", host.say("book", &[]), &[]),
    }
}
