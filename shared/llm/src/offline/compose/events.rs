//! Shows and events: what is on when.

use std::sync::Arc;

use chrono::{Datelike, NaiveDateTime, TimeDelta, Timelike};
use seven_domain::Language;
use seven_knowledge::{
    Category, Item,
    hours::{day_name, weekly_starts},
    item::Details,
    text::words,
};

use super::{
    super::{
        answer::Host,
        fit::{Part, plain_spanish},
        understand::Understood,
        when::{Day, Time, day_words, time_words},
    },
    listing, venue,
};

/// A show at a wall time.
struct Night {
    item: Arc<Item>,
    wall: NaiveDateTime,
}

pub(in super::super) fn answer(host: &Host<'_>, u: &Understood<'_>) -> Part {
    among(host, u, &host.items(&Category::Entertainment))
}

/// The text names a stage: "what is on at Birch Hall?" A restaurant that has shows is meant only when shows are asked for.
pub(in super::super) fn at_place(host: &Host<'_>, u: &Understood<'_>) -> Option<Part> {
    let asks_shows = u.about(&Category::Entertainment);
    if !asks_shows && u.mentions.iter().any(|m| m.whole && m.telling) {
        return None;
    }
    let named = |venue: &str| words(&u.said.words.join(" ")).windows(words(venue).len()).any(|w| w == words(venue));
    let items = host.items(&Category::Entertainment);
    let there: Vec<Arc<Item>> = items.into_iter().filter(|i| i.location().is_some_and(named)).collect();
    (!there.is_empty() && !u.wants("where")).then(|| among(host, u, &there))
}

/// A wish for a kind of show, said without the word "show": "any boxing?"
pub(in super::super) fn is_kind(host: &Host<'_>, u: &Understood<'_>) -> bool {
    let kind = |item: &Arc<Item>, wish: &str| match &item.details {
        Details::Entertainment(d) => {
            let kinds = [d.event_type.clone(), host.pack.value(&d.event_type, Language::Es)];
            kinds.iter().any(|kind| listing::has_word(kind, wish) && listing::has_word(u.text, kind))
        }
        _ => false,
    };
    host.items(&Category::Entertainment).iter().any(|item| u.leftover.iter().any(|wish| kind(item, wish)))
}

/// Some show answers to every wish of the text.
pub(in super::super) fn tells_all(host: &Host<'_>, u: &Understood<'_>) -> bool {
    host.items(&Category::Entertainment).iter().any(|item| u.leftover.iter().all(|wish| tells(item, wish)))
}

fn among(host: &Host<'_>, u: &Understood<'_>, all: &[Arc<Item>]) -> Part {
    let mut items = all.to_vec();
    for wish in &u.leftover {
        let wished: Vec<Arc<Item>> = items.iter().filter(|i| tells(i, wish)).cloned().collect();
        if !wished.is_empty() {
            items = wished;
        }
    }
    if u.wants("kids") {
        items.retain(
            |i| matches!(&i.details, Details::Entertainment(d) if d.age_restriction.as_deref() == Some("All ages")),
        );
    }
    let narrow = items.len() < all.len();
    let nights = nights(host, &items);
    if nights.is_empty() {
        return match items.as_slice() {
            [] => host.unanswered(),
            [one] => venue::info(host, one),
            _ => listing::names(host, "topic_all", "events", &items, None),
        };
    }
    let (now, zone) = (host.request.now, host.request.zone);
    let Some((from, to)) = u.when.range(now, zone) else {
        if let ([one], true) = (items.as_slice(), narrow) {
            return venue::answer(host, u, std::slice::from_ref(one));
        }
        return calendar(host, &nights, 4, false, |list| host.say("events_next", &[("list", list)]));
    };
    let within: Vec<&Night> = nights.iter().filter(|n| (from..to).contains(&n.wall)).collect();
    let when = range_words(host, u);
    if within.is_empty() {
        let later: Vec<Night> = nights
            .iter()
            .filter(|n| n.wall >= from)
            .map(|n| Night { item: Arc::clone(&n.item), wall: n.wall })
            .collect();
        let later = if later.is_empty() { nights } else { later };
        let next = calendar(host, &later, 1, false, |list| host.say("events_none", &[("when", &when), ("list", list)]));
        return next;
    }
    let within: Vec<Night> = within.into_iter().map(|n| Night { item: Arc::clone(&n.item), wall: n.wall }).collect();
    let count = within.len();
    let one_day = !matches!(u.when.day, Some(Day::Weekend | Day::Week));
    calendar(host, &within, count, one_day, |list| host.say("events_on", &[("when", &capital(&when)), ("list", list)]))
}

fn tells(item: &Item, wish: &str) -> bool {
    let Details::Entertainment(d) = &item.details else { return false };
    let texts = [&d.event_type, &d.venue, &item.name, &item.description];
    texts
        .into_iter()
        .chain(&item.keywords)
        .chain(&item.name_es)
        .chain(&item.description_es)
        .any(|t| listing::has_word(t, wish))
}

/// Every coming performance, of weekly shows those of one week, by time; a running one counts until it is half an hour old.
fn nights(host: &Host<'_>, items: &[Arc<Item>]) -> Vec<Night> {
    let now = host.local();
    let mut nights = Vec::new();
    for item in items {
        let Details::Entertainment(d) = &item.details else { continue };
        if let Some(starts) = d.starts_at {
            nights.push(Night { item: Arc::clone(item), wall: starts.with_timezone(&host.request.zone).naive_local() });
        } else if let Some(week) = d.schedule.as_deref().and_then(|s| weekly_starts(s).ok()) {
            for ahead in 0..=7 {
                let date = now.date() + TimeDelta::days(ahead);
                let starts = &week[date.weekday().num_days_from_monday() as usize];
                let wall = |minute: &u16| date.and_time(chrono::NaiveTime::MIN) + TimeDelta::minutes((*minute).into());
                nights.extend(starts.iter().map(|minute| Night { item: Arc::clone(item), wall: wall(minute) }));
            }
        } else if let Some(hours) = &d.hours {
            for ahead in 0..=7 {
                let date = now.date() + TimeDelta::days(ahead);
                nights.extend(
                    hours.openings_on(date).into_iter().map(|(wall, _)| Night { item: Arc::clone(item), wall }),
                );
            }
        }
    }
    nights.retain(|n| n.wall >= now - TimeDelta::minutes(30));
    nights.sort_by(|a, b| (a.wall, &a.item.id).cmp(&(b.wall, &b.item.id)));
    nights
}

/// The nights as "Riverlight Trio today at 8pm, Birch Hall"; places go first when room is short, then the last nights.
fn calendar(host: &Host<'_>, nights: &[Night], most: usize, day_said: bool, sentence: impl Fn(&str) -> String) -> Part {
    // The day is said once when the sentence names it and all are on it.
    let one_day = day_said && nights.iter().take(most).all(|n| n.wall.date() == nights[0].wall.date());
    let entry = |night: &Night, place: bool| {
        let time = time_words(minute(night.wall), host.language);
        let name = host.name(&night.item);
        let day = day_of(host, night);
        let mut text = match (host.language, one_day) {
            (Language::En, true) => format!("{name} at {time}"),
            (Language::Es, true) => format!("{name} a {time}"),
            (..) => format!("{name} {}", host.say("day_at", &[("day", &day), ("time", &time)])),
        };
        if let (true, Some(venue)) = (place, night.item.location()) {
            text.push_str(&format!(
                " ({})",
                if host.language == Language::Es { plain_spanish(venue) } else { venue.to_owned() }
            ));
        }
        text
    };
    let all = nights.len().min(most.max(1));
    let build = |count: usize, place: bool| {
        let entries: Vec<String> = nights.iter().take(all).map(|n| entry(n, place)).collect();
        sentence(&host.first_of(&entries, count))
    };
    // One text with places, else one without, else two texts, else as many nights as two texts hold.
    let one = [true, false].into_iter().map(|place| (all, build(all, place))).find(|(_, body)| host.room.one(body));
    let two = || (1..=all).rev().map(|count| (count, build(count, false))).find(|(_, body)| host.room.two(body));
    let (count, body) = one.or_else(two).unwrap_or_else(|| (1, build(1, false)));
    let mut used: Vec<Arc<Item>> = Vec::new();
    for night in nights.iter().take(count) {
        if !used.iter().any(|i| i.id == night.item.id) {
            used.push(Arc::clone(&night.item));
        }
    }
    Part { ask: Some(host.say("ask_event", &[])), ..host.part("events", body, &used) }
}

fn minute(wall: NaiveDateTime) -> u16 {
    u16::try_from(wall.hour() * 60 + wall.minute()).unwrap_or(0)
}

/// "today", "on Saturday", and with the date once the weekday alone is ambiguous.
fn day_of(host: &Host<'_>, night: &Night) -> String {
    let (wall, today) = (night.wall, host.local().date());
    let weekday = day_name(wall.weekday(), host.language);
    match ((wall.date() - today).num_days(), host.language) {
        (..7, _) => day_words(wall.date(), today, host.language),
        // Only the content gives dates; a weekly show has none.
        _ if !matches!(&night.item.details, Details::Entertainment(d) if d.starts_at.is_some()) => {
            host.say("word_next_day", &[("day", weekday)])
        }
        (_, Language::En) => format!("on {}", wall.format("%a %b %-d")),
        (_, Language::Es) => format!("el {weekday} {}", wall.day()),
    }
}

/// "today at 8pm", for one show.
pub(in super::super) fn when_of(host: &Host<'_>, item: &Item) -> Option<String> {
    let next = nights(host, &[Arc::new(item.clone())]).into_iter().next();
    let Details::Entertainment(d) = &item.details else { return None };
    match next {
        Some(night) => {
            let day = day_of(host, &night);
            Some(host.say("day_at", &[("day", &day), ("time", &time_words(minute(night.wall), host.language))]))
        }
        None => d.schedule.clone(),
    }
}

/// "Riverlight Trio is today at 8pm at Birch Hall."
pub(in super::super) fn time_of(host: &Host<'_>, item: &Item) -> Option<String> {
    let when = when_of(host, item)?;
    let place = item.location().unwrap_or_default();
    Some(host.say("event_time", &[("name", &host.name(item)), ("value", &when), ("place", place)]))
}

fn range_words(host: &Host<'_>, u: &Understood<'_>) -> String {
    let today = host.local().date();
    match (u.when.day, u.when.time) {
        (Some(Day::Weekend), _) => host.say("word_weekend", &[]),
        (Some(Day::Week), _) => host.say("word_week", &[]),
        (None | Some(Day::Today), Some(Time::Evening | Time::Late)) => host.say("word_tonight", &[]),
        (None | Some(Day::Today), Some(Time::Now)) => host.say("word_tonight", &[]),
        (None | Some(Day::Today), _) => day_words(today, today, host.language),
        (Some(day), _) => {
            let date = match day {
                Day::Tomorrow => today + TimeDelta::days(1),
                Day::Named(weekday) => {
                    let ahead = (weekday.num_days_from_monday() + 7 - today.weekday().num_days_from_monday()) % 7;
                    today + TimeDelta::days(ahead.into())
                }
                Day::Today | Day::Weekend | Day::Week => today,
            };
            day_words(date, today, host.language)
        }
    }
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |c| c.to_uppercase().collect::<String>() + chars.as_str())
}
