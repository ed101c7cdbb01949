//! Answers a question from the rows of the venue that it names, or else from the rows of its topic
//! (a content category).

use std::sync::Arc;

use seven_knowledge::{Category, Item, Mention};

use crate::{
    compose::{events, listing, lookup, several, topic, venue},
    fit::Part,
    host::Host,
    understand::Understood,
};

/// Answers from the venue, show or treatment that the text names.
pub(crate) fn about_venue(host: &Host<'_>, u: &Understood<'_>) -> Option<Part> {
    let mut venues = u.venues();
    // A text about children does not ask for gaming rows, even if it names one: "What can the kids
    // do while I play the slots?"
    venues.retain(|mention| !(u.wants("kids") && mention.item.category == Category::Gaming));
    // A text such as "Any boxing tonight?" asks what is on tonight, even if a show has "boxing" in
    // its name.
    let show = |m: &&Mention| m.item.category == Category::Entertainment && !m.whole;
    if u.when.is_said()
        && u.about(&Category::Entertainment)
        && u.facets.is_empty()
        && venues.iter().all(show)
    {
        return None;
    }
    // If the text contains a whole name, names that it contains only in part are ignored.
    let whole = venues.iter().any(|m| m.whole && m.telling);
    let venues: Vec<&Mention> = venues.into_iter().filter(|m| !whole || m.whole).collect();
    let telling = venues.iter().any(|m| m.telling);
    // A place called just "Casino" or "Slots" counts as named only if the text asks for nothing
    // more specific.
    let weak_is_enough = u.topics.is_empty()
        && u.kinds.is_empty()
        && u.leftover.iter().all(|w| within(&venues, u, w));
    if venues.is_empty() || (!telling && !weak_is_enough) {
        return None;
    }
    let mut places: Vec<Mentioned> = Vec::new();
    for mention in venues.iter().filter(|m| m.telling || !telling) {
        match places
            .iter_mut()
            .find(|(at, _)| *at == (mention.from, mention.to))
        {
            Some((_, rows)) => rows.push(Arc::clone(&mention.item)),
            None => places.push(((mention.from, mention.to), vec![Arc::clone(&mention.item)])),
        }
    }
    let answers: Vec<Part> = places
        .iter()
        .take(2)
        .map(|(_, rows)| venue::answer(host, u, rows))
        .collect();
    if !telling && answers.iter().any(|a| !a.grounded) {
        return None;
    }
    let mut answers = answers.into_iter();
    let mut first = answers.next()?;
    for other in answers {
        first.body = several::joined(host, &first, &other);
        first.sources.extend(other.sources);
        first.grounded &= other.grounded;
        first.ask = None;
    }
    Some(first)
}

/// Answers from the rows of the category that the text asks about, such as restaurants, shows or
/// the spa.
pub(crate) fn about_topic(host: &Host<'_>, u: &Understood<'_>) -> Option<Part> {
    let topic = u.topics.first();
    let served =
        u.about(&Category::Dining) || u.about(&Category::Entertainment) || !u.kinds.is_empty();
    let gambling = ["casino", "gamble", "gambling", "floor", "jugar"]
        .iter()
        .any(|w| u.said.words.iter().any(|s| s == w));
    let asks_age = u.wants("age") && !u.wants("kids") || u.wants("kids") && gambling;
    if asks_age
        && !served
        && let Some(part) = lookup::age(host, u.wants("kids"))
    {
        return Some(part);
    }
    let dining = u.about(&Category::Dining) || (!u.kinds.is_empty() && topic.is_none());
    if u.intends("booking") && !u.wants("reservations") {
        return Some(lookup::booking(host, u));
    }
    // If the text names offers and another category, as in "spa deals", it asks for offers.
    if u.about(&Category::Promotions) && u.topics.len() > 1 {
        return topic::answer(host, u, &Category::Promotions);
    }
    if u.about(&Category::Entertainment) {
        // If the text names a second category, as in "poker tournament", a row outside
        // entertainment may answer. This is not tried if one show mentions every word.
        let elsewhere = || {
            (u.topics.len() > 1 && !events::tells_all(host, u))
                .then(|| lookup::told(host, u))
                .flatten()
        };
        let strange = || events::strange(host, u);
        return Some(
            elsewhere()
                .or_else(strange)
                .unwrap_or_else(|| events::answer(host, u)),
        );
    }
    if dining {
        return Some(listing::dining(host, u));
    }
    let named = u.mentions.iter().any(|m| m.telling);
    match topic {
        Some(category) => topic::answer(host, u, category),
        None if events::is_kind(host, u) => Some(events::answer(host, u)),
        // The text names no topic, as in "Anything open late?" or "somewhere open at 3am?"
        None if u.wants("open")
            && u.leftover.is_empty()
            && !u.wants("hours")
            && !u.wants("opens")
            && !u.wants("closes")
            && !u.asks_us() =>
        {
            Some(listing::dining(host, u))
        }
        None if u.wants("where") && u.leftover.is_empty() && !named => lookup::house_address(host),
        // A question such as "What time do you open?" asks for the hours of the casino itself.
        None if u.leftover.is_empty()
            && !named
            && ["open", "hours", "opens", "closes"]
                .iter()
                .any(|f| u.wants(f)) =>
        {
            lookup::house(host, u)
        }
        None if u.intends("recommend") && u.leftover.is_empty() => Some(listing::dining(host, u)),
        None => None,
    }
}

pub(crate) fn within(venues: &[&Mention], u: &Understood<'_>, word: &String) -> bool {
    venues
        .iter()
        .any(|m| u.said.words[m.from..m.to].contains(word))
}

/// The range of words that name something, and the rows of that name.
pub(crate) type Mentioned = ((usize, usize), Vec<Arc<Item>>);
