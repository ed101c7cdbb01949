//! Answers about shows and events, and when they take place.

use std::sync::Arc;

use chrono::{Datelike, TimeDelta};
use seven_domain::Language;
use seven_knowledge::{Category, Item, item::Details};
use seven_text::words;

use super::{
    super::{
        dates,
        fit::{Part, leading_sentences},
        host::Host,
        understand::{Understood, Wish},
        when::{Asked, Day, Time, day_words, time_words},
    },
    lookup, rows, unlisted, venue,
};
use crate::{
    compose::{
        prices, several,
        times::{Night, day_of, minute, nights},
    },
    minors,
};

pub(crate) fn answer(host: &Host<'_>, u: &Understood<'_>) -> Part {
    among(host, u, &host.items(&Category::Entertainment))
}

/// Answers with the shows at a stage that the text names: "what is on at Birch Hall?" If the text
/// contains the whole name of a row, such as a restaurant, it must also ask for shows.
pub(crate) fn at_place(host: &Host<'_>, u: &Understood<'_>) -> Option<Part> {
    let asks_shows = u.about(&Category::Entertainment);
    if !asks_shows && u.mentions.iter().any(|m| m.whole && m.telling) {
        return None;
    }
    let named = |venue: &str| {
        words(&u.said.words.join(" "))
            .windows(words(venue).len())
            .any(|w| w == words(venue))
    };
    let items = host.items(&Category::Entertainment);
    let there: Vec<Arc<Item>> = items
        .into_iter()
        .filter(|i| i.location().is_some_and(named))
        .collect();
    (!there.is_empty() && !u.wants("where")).then(|| among(host, u, &there))
}

/// Returns whether the text names a kind of show without the word "show": "any boxing?"
pub(crate) fn is_kind(host: &Host<'_>, u: &Understood<'_>) -> bool {
    let kind = |item: &Arc<Item>, wish: &str| match &item.details {
        Details::Entertainment(d) => {
            let kinds = [
                d.event_type.clone(),
                host.pack.value(&d.event_type, Language::Es),
            ];
            kinds
                .iter()
                .any(|kind| rows::has_word(kind, wish) && rows::has_word(u.text, kind))
        }
        _ => false,
    };
    host.items(&Category::Entertainment)
        .iter()
        .any(|item| u.leftover.iter().any(|wish| kind(item, wish)))
}

/// Answers "any jazz tonight?" with a show. The text must name a time but no category, and a show
/// must mention everything else that the text asks for.
pub(crate) fn found(host: &Host<'_>, u: &Understood<'_>) -> Option<Part> {
    let timed = u.when.is_said()
        && u.venues().is_empty()
        && u.topics.is_empty()
        && u.facets.is_empty()
        && !u.leftover.is_empty();
    (timed && tells_all(host, u)).then(|| answer(host, u))
}

/// Answers "Are you doing anything for New Year's Eve?" with that day's shows; `None` if there are
/// none.
pub(crate) fn on_that_day(host: &Host<'_>, u: &Understood<'_>) -> Option<Part> {
    let Some(Day::Date(date)) = u.when.day else {
        return None;
    };
    let open = u.topics.is_empty() && u.kinds.is_empty() && u.venues().is_empty() && u.is_question;
    let any = || {
        nights(host, &host.items(&Category::Entertainment))
            .iter()
            .any(|night| night.wall.date() == date)
    };
    let within = Understood {
        topics: vec![Category::Entertainment],
        leftover: Vec::new(),
        ..u.clone()
    };
    (open && any()).then(|| answer(host, &within))
}

/// Answers a question about shows from another category's row: "are bags allowed at shows?"
pub(crate) fn strange(host: &Host<'_>, u: &Understood<'_>) -> Option<Part> {
    let wishes = u.wishes_of(&Category::Entertainment);
    let words = unlisted::strangers(host, u, &host.items(&Category::Entertainment));
    let told = !words.is_empty() && wishes.iter().all(|w| !w.known);
    told.then(|| lookup::filed_under(host, &words, &Category::Entertainment))
        .flatten()
}

/// Returns whether one show mentions everything that the text asks for.
pub(crate) fn tells_all(host: &Host<'_>, u: &Understood<'_>) -> bool {
    host.items(&Category::Entertainment)
        .iter()
        .any(|item| u.leftover.iter().all(|word| rows::tells(item, word)))
}

fn among(host: &Host<'_>, u: &Understood<'_>, all: &[Arc<Item>]) -> Part {
    let wishes = u.wishes_of(&Category::Entertainment);
    let division = unlisted::divide(u, &wishes, all);
    let mut items = division.fitting;
    for word in &u.leftover {
        let told: Vec<Arc<Item>> = items
            .iter()
            .filter(|i| rows::tells(i, word))
            .cloned()
            .collect();
        if !told.is_empty() {
            items = told;
        }
    }
    if u.wants("kids") {
        // The show's age rule answers "Is the comedy show good for kids?"
        if let ([one], false) = (items.as_slice(), wishes.is_empty()) {
            return venue::answer(host, u, std::slice::from_ref(one));
        }
    }
    if minors::is_for_a_minor(host, u) {
        items.retain(|i| for_children(i));
    }
    if unlisted::unknown_day(host, u, all) {
        return none_like_it(host, u, None, all);
    }
    let denied = if division.denied.is_empty() {
        &wishes
    } else {
        &division.denied
    };
    let wish = if denied.is_empty() {
        None
    } else {
        Some(unlisted::said(u, denied))
    };
    if items.is_empty() {
        let wish = wish.flatten();
        return in_a_bar(host, u, &wishes)
            .unwrap_or_else(|| none_like_it(host, u, wish.as_deref(), all));
    }
    let narrow = items.len() < all.len();
    let coming = nights(host, &items);
    if coming.is_empty() {
        return match items.as_slice() {
            [one] => venue::info(host, one),
            _ => several::names(host, "topic_all", "events", &items, None),
        };
    }
    if let ([one], true, true) = (items.as_slice(), narrow, !u.when.is_said()) {
        if u.facets.iter().all(|f| *f == "kids") {
            return venue::info(host, one);
        }
        return venue::answer(host, u, std::slice::from_ref(one));
    }
    let within = in_range(host, u, &coming);
    if u.wants("price") && !within.is_empty() {
        let mut shows: Vec<Arc<Item>> = Vec::new();
        for night in &within {
            if !shows.iter().any(|i| i.id == night.item.id) {
                shows.push(Arc::clone(&night.item));
            }
        }
        if let Some(part) = prices::prices(host, &shows, "events") {
            return part;
        }
    }
    if !u.when.is_said() {
        return calendar(host, &coming, 4, false, |list| {
            host.say("events_next", &[("list", list)])
        });
    }
    let when = range_words(host, u);
    let one_day = !u.when.is_long();
    if !within.is_empty() {
        let on = |list: &str| host.say("events_on", &[("when", &capital(&when)), ("list", list)]);
        return calendar(host, &within, within.len(), one_day, on);
    }
    let from = u
        .when
        .range(host.request.now, host.request.zone)
        .map(|(from, _)| from);
    let later: Vec<Night> = coming
        .iter()
        .filter(|n| from.is_none_or(|from| n.wall >= from))
        .cloned()
        .collect();
    let next = if later.is_empty() { coming } else { later };
    let others = in_range(host, u, &nights(host, all));
    if others.is_empty() {
        return calendar(host, &next, 1, false, |list| {
            host.say("events_none", &[("when", &when), ("list", list)])
        });
    }
    // No show of the wanted kind is on at the time asked for. A bar may offer the same every night,
    // such as live piano.
    if let Some(part) = in_a_bar(host, u, &wishes) {
        return part;
    }
    let wish = wish.unwrap_or_else(|| unlisted::said(u, &wishes));
    let key = if wish.is_some() {
        "events_none_kind"
    } else {
        "events_none_like"
    };
    let told = wish.unwrap_or_default();
    let denial = |list: &str| host.say(key, &[("wish", &told), ("when", &when), ("list", list)]);
    let on = calendar(host, &others, others.len(), one_day, denial);
    let bare = host.first_of(&entries(host, &others, one_day, false), others.len());
    let shorter = Part {
        body: denial(&bare),
        ..on.clone()
    };
    // Adds the date of the next show of the wanted kind. If the reply gets too long, leaves out the
    // places.
    let next_at = |place: bool| {
        let entry = entries(host, &next[..1], false, place);
        host.say("events_next_kind", &[("list", &host.first_of(&entry, 1))])
    };
    let tries = [
        (&on, true),
        (&on, false),
        (&shorter, true),
        (&shorter, false),
    ];
    let told = tries.into_iter().find_map(|(part, place)| {
        let body = format!("{} {}", part.body, next_at(place));
        let sources = part
            .sources
            .iter()
            .chain([&next[0].item.id])
            .cloned()
            .collect();
        host.room.one_of_its_own(&body).then(|| Part {
            body,
            sources,
            ..part.clone()
        })
    });
    Part {
        ask: None,
        ..told.unwrap_or(on)
    }
}

/// Answers with a bar or restaurant that is open at the time asked about and has the thing asked
/// for, such as "live piano".
fn in_a_bar(host: &Host<'_>, u: &Understood<'_>, wishes: &[&Wish]) -> Option<Part> {
    let known = !wishes.is_empty() && wishes.iter().all(|w| w.known);
    let (open, asked) = several::open_then(host, u, &host.items(&Category::Dining));
    let fitting: Vec<Arc<Item>> = open
        .into_iter()
        .filter(|item| known && wishes.iter().all(|w| w.fits(item)))
        .collect();
    match fitting.as_slice() {
        [] => None,
        [one] if asked == Asked::Now => Some(Part {
            intent: "events".into(),
            ..venue::info(host, one)
        }),
        [one] => {
            let what = format!("{}: {}", host.name(one), host.description(one));
            let hours = venue::answer(host, u, std::slice::from_ref(one)).body;
            let told = leading_sentences(&what, |text| {
                host.room.one_of_its_own(&format!("{text} {hours}"))
            });
            let body = if told.is_empty() {
                hours
            } else {
                format!("{told} {hours}")
            };
            Some(host.part("events", body, std::slice::from_ref(one)))
        }
        several => Some(several::names(host, "fitting", "events", several, None)),
    }
}

/// Says that no show of the wanted kind is listed, and which other shows are on at the time asked
/// about.
fn none_like_it(
    host: &Host<'_>,
    u: &Understood<'_>,
    wish: Option<&str>,
    all: &[Arc<Item>],
) -> Part {
    let coming = nights(host, all);
    let within = in_range(host, u, &coming);
    let on_then = u.when.is_said() && !within.is_empty();
    let shown = if on_then { within } else { coming };
    let denial = unlisted::answer(host, wish, None);
    let when = capital(&range_words(host, u));
    let one_day = on_then && !u.when.is_long();
    let named: Vec<(String, Arc<Item>)> = entries(host, &shown, one_day, false)
        .into_iter()
        .zip(&shown)
        .map(|(entry, night)| (entry, Arc::clone(&night.item)))
        .collect();
    let instead = if on_then {
        unlisted::others(host, "events_on", &[("when", &when)], &named, &denial.body)
    } else {
        let next = |count: usize| {
            unlisted::others(host, "events_next", &[], &named[..count], &denial.body)
        };
        (1..=named.len().min(4))
            .rev()
            .filter_map(|n| next(n).filter(|part| part.sources.len() == n))
            .next()
    };
    unlisted::answer(host, wish, instead)
}

/// Returns the performances within the time that the text names, or all if it names none.
fn in_range(host: &Host<'_>, u: &Understood<'_>, nights: &[Night]) -> Vec<Night> {
    let Some((from, to)) = u.when.range(host.request.now, host.request.zone) else {
        return nights.to_vec();
    };
    nights
        .iter()
        .filter(|n| (from..to).contains(&n.wall))
        .cloned()
        .collect()
}

fn for_children(item: &Item) -> bool {
    matches!(
        &item.details,
        Details::Entertainment(d) if d.age_restriction.as_deref() == Some("All ages")
    )
}

/// Lists performances as "Riverlight Trio today at 8pm, Birch Hall". If they do not fit, leaves out
/// first the places, then the last performances.
fn calendar(
    host: &Host<'_>,
    nights: &[Night],
    most: usize,
    day_said: bool,
    sentence: impl Fn(&str) -> String,
) -> Part {
    let all = nights.len().min(most.max(1));
    let build = |count: usize, place: bool| {
        sentence(&host.first_of(&entries(host, &nights[..all], day_said, place), count))
    };
    // Tries, in this order: one text with the places, one text without them, two texts without
    // them, and two texts with fewer performances.
    let one = [true, false]
        .into_iter()
        .map(|place| (all, build(all, place)))
        .find(|(_, body)| host.room.one(body));
    let two = || {
        (1..=all)
            .rev()
            .map(|count| (count, build(count, false)))
            .find(|(_, body)| host.room.two(body))
    };
    let (count, body) = one.or_else(two).unwrap_or_else(|| (1, build(1, false)));
    let mut used: Vec<Arc<Item>> = Vec::new();
    for night in nights.iter().take(count) {
        if !used.iter().any(|i| i.id == night.item.id) {
            used.push(Arc::clone(&night.item));
        }
    }
    Part {
        ask: Some(host.say("ask_event", &[])),
        ..host.part("events", body, &used)
    }
}

/// Writes "Riverlight Trio today at 8pm (Birch Hall)". The day is left out if the sentence names it
/// and all performances are on it.
fn entries(host: &Host<'_>, nights: &[Night], day_said: bool, place: bool) -> Vec<String> {
    let one_day = day_said
        && nights
            .iter()
            .all(|n| n.wall.date() == nights[0].wall.date());
    let entry = |night: &Night| {
        let time = time_words(minute(night.wall), host.language);
        let name = host.name(&night.item);
        let mut text = match (host.language, one_day) {
            (Language::En, true) => format!("{name} at {time}"),
            (Language::Es, true) => format!("{name} a {time}"),
            (..) => format!(
                "{name} {}",
                host.say("day_at", &[("day", &day_of(host, night)), ("time", &time)])
            ),
        };
        if let (true, Some(venue)) = (place, night.item.location()) {
            text.push_str(&format!(" ({venue})"));
        }
        text
    };
    nights.iter().map(entry).collect()
}

fn range_words(host: &Host<'_>, u: &Understood<'_>) -> String {
    let today = host.local().date();
    match (u.when.day, u.when.time) {
        (Some(Day::NextWeekend), _) => host.say("word_next_weekend", &[]),
        (Some(Day::NextWeek), _) => host.say("word_next_week", &[]),
        (Some(Day::Weekend), _) => host.say("word_weekend", &[]),
        (Some(Day::Week), _) => host.say("word_week", &[]),
        (None | Some(Day::Today), Some(Time::Evening | Time::Late)) => {
            host.say("word_tonight", &[])
        }
        (None | Some(Day::Today), Some(Time::Now)) => host.say("word_tonight", &[]),
        (None | Some(Day::Today), _) => day_words(today, today, host.language),
        (Some(day), _) => {
            let date = match day {
                Day::Date(date) => date,
                Day::Month(first) => return dates::month_words(first, host.language),
                Day::Tomorrow => today + TimeDelta::days(1),
                Day::Named(weekday) => {
                    let ahead = (weekday.num_days_from_monday() + 7
                        - today.weekday().num_days_from_monday())
                        % 7;
                    today + TimeDelta::days(ahead.into())
                }
                Day::Today | Day::Weekend | Day::Week | Day::NextWeekend | Day::NextWeek => today,
            };
            day_words(date, today, host.language)
        }
    }
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |c| {
        c.to_uppercase().collect::<String>() + chars.as_str()
    })
}
