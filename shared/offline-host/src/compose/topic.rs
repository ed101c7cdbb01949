//! Answers about a category other than restaurants and shows: the spa, rooms, games, offers.

use std::sync::Arc;

use seven_knowledge::{Category, Item};
use seven_text::words;

use super::{
    super::{fit::Part, host::Host, understand::Understood},
    lookup, rows, unlisted, venue,
};
use crate::compose::{
    prices::{cheapest, prices, worths},
    several,
};
use crate::{acts::Act, calendar::is_calendar, resolve, suggest};

pub(crate) fn answer(host: &Host<'_>, u: &Understood<'_>, category: &Category) -> Option<Part> {
    let mut items = host.items(category);
    if *category == Category::Promotions {
        // For "dining deals": keeps the deals that mention dining, if there are any.
        let others = u.topics.iter().filter(|t| *t != category).map(|t| {
            if t.as_str() == "rooms" {
                "hotel"
            } else {
                t.as_str()
            }
        });
        for word in others.collect::<Vec<_>>() {
            let of_it: Vec<Arc<Item>> = items
                .iter()
                .filter(|i| rows::tells(i, word))
                .cloned()
                .collect();
            items = if of_it.is_empty() { items } else { of_it };
        }
    }
    if *category == Category::Promotions && asks_a_discount(u) {
        match of_last_category(host, &items).as_slice() {
            [] => {}
            [one] => return Some(venue::info(host, one)),
            several => return Some(worths(host, several)),
        }
    }
    let intent = category.as_str();
    let timed = items.iter().any(|i| i.hours().is_some());
    let hours_asked = ["open", "opens", "closes", "hours"]
        .iter()
        .any(|f| u.wants(f))
        || (u.when.is_said() && timed);
    // A question such as "Do you have rooms tonight?" asks whether rooms are free, which only the
    // booking desk knows.
    let offers = *category == Category::Promotions || category.as_str() == "loyalty";
    let priced = u.intends("cheapest") || u.wants("price");
    if u.when.is_said() && !hours_asked && !timed && !items.is_empty() && !offers && !priced {
        return available(host, u).or_else(|| Some(lookup::booking(host, u)));
    }
    let several = items.iter().filter(|i| i.hours().is_some()).count() > 1;
    // "Is the spa open?" asks about the venue; "which games are open?" asks about the category's
    // rows.
    if hours_asked
        && u.leftover.is_empty()
        && several
        && u.wants("open")
        && !u.wants("hours")
        && !u.wants("closes")
        && !u.wants("opens")
    {
        return Some(Part {
            intent: intent.into(),
            ..several::open(host, u, &items, category)
        });
    }
    if hours_asked
        && let Some(part) = lookup::place(host, u).or_else(|| lookup::house_of(host, u, category))
    {
        return Some(part);
    }
    if !items.is_empty()
        && let Some(part) = particular(host, u, category, &items)
    {
        return Some(part);
    }
    // If the category has no rows or lacks the thing asked for, a row of another category may
    // answer.
    if items.is_empty() || (!u.is_all_said() && u.is_question && !u.intends("listing")) {
        return lookup::anything(host, u);
    }
    let family = |item: &&Arc<Item>| {
        ["kids", "children", "family"]
            .iter()
            .any(|word| rows::tells(item, word))
    };
    let for_them: Vec<Arc<Item>> = items.iter().filter(family).cloned().collect();
    if u.facets.iter().all(|f| *f == "kids") && u.wants("kids") && !for_them.is_empty() {
        return Some(match for_them.as_slice() {
            [one] => venue::info(host, one),
            several => several::names(host, "fitting", intent, several, Some("ask_topic")),
        });
    }
    if u.facets.iter().any(|f| *f != "about" && *f != "open") {
        let listed = if u.wants("price") {
            prices(host, &items, intent)
        } else {
            None
        };
        return listed.or_else(|| lookup::anything(host, u));
    }
    match items.as_slice() {
        [one] => Some(venue::info(host, one)),
        several if *category == Category::Promotions => Some(worths(host, several)),
        _ => Some(several::names(
            host,
            "topic_all",
            intent,
            &items,
            Some("ask_topic"),
        )),
    }
}

/// Answers "do you have rooms tonight?" with suggestions, and says that people know what is free.
fn available(host: &Host<'_>, u: &Understood<'_>) -> Option<Part> {
    let part = suggest::answer(host, Act::Recommend, u).filter(|part| !part.is_denial)?;
    let body = format!("{} {}", part.body, host.say("book", &[]));
    host.room.two(&body).then_some(Part { body, ..part })
}

/// Returns whether the text asks for a discount on what the dialogue is about, not for all offers.
fn asks_a_discount(u: &Understood<'_>) -> bool {
    let words = &u.said.words;
    let said = |known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
    let plain = u
        .leftover
        .iter()
        .all(|word| is_calendar(word) || word.parse::<u32>().is_ok());
    plain && u.topics.len() == 1 && said(&["discount", "discounts", "descuento", "descuentos"])
}

/// Returns the offers that mention the category of the row named last, such as spa treatments.
fn of_last_category(host: &Host<'_>, offers: &[Arc<Item>]) -> Vec<Arc<Item>> {
    let listed = resolve::listed(host);
    let about = match listed.first() {
        // The hours of the spa are about the spa.
        Some(row) if row.category == Category::Hours => words(&row.name),
        Some(row) => match row.category.as_str() {
            "rooms" => vec!["hotel".to_owned()],
            category @ ("dining" | "spa" | "entertainment") => vec![category.to_owned()],
            _ => Vec::new(),
        },
        None => Vec::new(),
    };
    let tells = |offer: &&Arc<Item>| about.iter().any(|word| rows::tells(offer, word));
    offers.iter().filter(tells).cloned().collect()
}

/// Answers a wish inside a category with the rows that fit it, or says that none of the kind is
/// listed.
fn particular(
    host: &Host<'_>,
    u: &Understood<'_>,
    category: &Category,
    items: &[Arc<Item>],
) -> Option<Part> {
    let wishes = u.wishes_of(category);
    let mut division = unlisted::divide(u, &wishes, items);
    // A row with the wish in its name or keywords is preferred: massages come before a pedicure
    // that includes a foot massage.
    let filed: Vec<Arc<Item>> = division
        .fitting
        .iter()
        .filter(|item| wishes.iter().all(|w| w.files(item)))
        .cloned()
        .collect();
    if !filed.is_empty() {
        division.fitting = filed;
    }
    // The content lists all rooms, treatments and offers, but not everything that guests ask about
    // games and rewards.
    let listed =
        matches!(category, Category::Spa | Category::Promotions) || category.as_str() == "rooms";
    // For "mani pedi", no row fits both wishes, so the rows that fit one of them are taken.
    if division.fitting.is_empty() && division.denied.is_empty() {
        division.fitting = items
            .iter()
            .filter(|item| wishes.iter().any(|w| w.fits(item)))
            .cloned()
            .collect();
    }
    let met = wishes.iter().any(|w| w.known) && !division.fitting.is_empty();
    // "A room would be better, what is the cheapest one?" names no other kind of room.
    let strangers = if listed && !met && !u.intends("cheapest") {
        unlisted::strangers(host, u, items)
    } else {
        Vec::new()
    };
    let denied = division.fitting.is_empty() && !wishes.is_empty();
    if denied || !strangers.is_empty() {
        // A row of another category may answer: the smoking rule answers "smoking rooms?"
        let missing: Vec<String> = if strangers.is_empty() {
            division.denied.iter().flat_map(|w| w.words(u)).collect()
        } else {
            strangers
        };
        if let Some(part) = lookup::filed_under(host, &missing, category) {
            return Some(part);
        }
        let denied = if division.denied.is_empty() {
            &wishes
        } else {
            &division.denied
        };
        let wish = unlisted::said(u, denied)
            .filter(|wish| *category != Category::Promotions || wish.contains(' '));
        return Some(unlisted::in_category(
            host,
            category,
            wish.as_deref(),
            items,
        ));
    }
    if !u.intends("cheapest")
        && !wishes.is_empty()
        && listed
        && (2..=3).contains(&division.fitting.len())
        && u.wants("price")
    {
        return prices(host, &division.fitting, category.as_str());
    }
    if u.intends("cheapest") {
        return cheapest(host, &division.fitting, category);
    }
    let found = lookup::within(host, u, &division.fitting, category);
    found.or_else(|| match division.fitting.as_slice() {
        _ if wishes.is_empty() => None,
        [one] => {
            Some(venue::answer(host, u, std::slice::from_ref(one))).filter(|part| part.grounded)
        }
        several => Some(several::names(
            host,
            "fitting",
            category.as_str(),
            several,
            Some("ask_topic"),
        )),
    })
}
