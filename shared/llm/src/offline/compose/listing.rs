//! Lists: what is open, which places fit a wish, what a category holds. A list never names a closed place as open.

use std::sync::Arc;

use chrono::{DateTime, Datelike, Utc};
use seven_domain::Language;
use seven_knowledge::{
    Category, Item,
    item::Details,
    text::{stem, words},
};

use super::{
    super::{
        answer::Host,
        fit::Part,
        pack::{Field, Kind},
        understand::Understood,
        when::{Asked, Time, day_words, time_words},
    },
    chat, lookup, venue,
};

/// Restaurants, bars and cafes: open ones when a time or "open" is asked, else those that fit the wish, else all.
pub(in super::super) fn dining(host: &Host<'_>, u: &Understood<'_>) -> Part {
    let all = host.items(&Category::Dining);
    if all.is_empty() {
        return lookup::anything(host, u).unwrap_or_else(|| host.unanswered());
    }
    let Some(fitting) = narrowed(u, all) else { return host.unanswered() };
    if u.intends("recommend") && !u.wants("open") {
        return recommend(host, u, &fitting);
    }
    // "What time do the restaurants close?" has as many answers as there are restaurants.
    match (fitting.as_slice(), ["hours", "opens", "closes"].iter().any(|f| u.wants(f))) {
        ([one], true) => return venue::answer(host, u, std::slice::from_ref(one)),
        (several, true) => return chat::which(host, &several.iter().map(|i| host.name(i)).collect::<Vec<_>>()),
        (_, false) => {}
    }
    if u.wants("open") || u.when.is_said() {
        return open(host, u, &fitting, &Category::Dining);
    }
    // A cuisine nobody here serves is no reason to list everything.
    let unknown = |wish: &String| !host.items(&Category::Dining).iter().any(|item| serves(item, wish));
    if u.kinds.is_empty() && u.qualifier.as_ref().is_some_and(unknown) {
        return host.unanswered();
    }
    let narrow = !u.kinds.is_empty() || fitting.len() < host.items(&Category::Dining).len();
    match fitting.as_slice() {
        [one] if ["where", "hours", "opens", "closes", "price", "dress", "reservations"].iter().any(|f| u.wants(f)) => {
            venue::answer(host, u, std::slice::from_ref(one))
        }
        [one] => Part { intent: "cuisine".into(), ..venue::info(host, one) },
        _ => {
            let key = if u.kinds.iter().any(|k| k.field == Field::Kids) {
                "kids_list"
            } else if narrow {
                "fitting"
            } else {
                "dining_all"
            };
            names(
                host,
                key,
                if narrow { "cuisine" } else { "dining" },
                &fitting,
                Some(if narrow { "ask_visit" } else { "ask_dining" }),
            )
        }
    }
}

/// Applies cuisines and the like, and words that editors filed places under ("pizza"); `None` when a wish fits nothing.
fn narrowed(u: &Understood<'_>, all: Vec<Arc<Item>>) -> Option<Vec<Arc<Item>>> {
    let mut fitting: Vec<Arc<Item>> = all.into_iter().filter(|item| fits(&u.kinds, item)).collect();
    let topic_said = u.about(&Category::Dining);
    let wishes = if topic_said { &u.beside } else { &u.leftover };
    for wish in wishes {
        let wished: Vec<Arc<Item>> = fitting.iter().filter(|item| serves(item, wish)).cloned().collect();
        if !wished.is_empty() {
            fitting = wished;
        }
    }
    (!fitting.is_empty()).then_some(fitting)
}

/// Wishes of one field are alternatives, those of different fields add up.
fn fits(kinds: &[&Kind], item: &Item) -> bool {
    [Field::Cuisine, Field::Subcategory, Field::Price, Field::Dietary, Field::Kids, Field::Serves].into_iter().all(
        |field| {
            let wanted: Vec<&&Kind> = kinds.iter().filter(|k| k.field == field).collect();
            wanted.is_empty() || wanted.iter().any(|kind| kind_fits(kind, item))
        },
    )
}

fn kind_fits(kind: &Kind, item: &Item) -> bool {
    let Details::Dining(d) = &item.details else { return false };
    let has = |value: &str| kind.values.iter().any(|v| v.eq_ignore_ascii_case(value));
    match kind.field {
        Field::Cuisine => has(&d.cuisine_type),
        Field::Subcategory => item.subcategory.as_deref().is_some_and(has) || has(&d.cuisine_type),
        Field::Price => has(&d.price_range),
        Field::Dietary => d.dietary_options.iter().any(|option| kind.values.iter().any(|v| has_word(option, v))),
        Field::Kids => d.kids_menu == Some(true),
        Field::Serves => kind.values.iter().any(|v| serves(item, v)),
    }
}

/// The text holds all words of `wanted`, whatever their ending.
pub(in super::super) fn has_word(text: &str, wanted: &str) -> bool {
    let stems: Vec<String> = words(text).iter().map(|w| stem(w)).collect();
    words(wanted).iter().all(|w| stems.contains(&stem(w)))
}

fn serves(item: &Item, wish: &str) -> bool {
    item.keywords.iter().chain([&item.description]).chain(&item.description_es).any(|text| has_word(text, wish))
}

/// Names exactly the places that are open when asked.
pub(in super::super) fn open(host: &Host<'_>, u: &Understood<'_>, items: &[Arc<Item>], category: &Category) -> Part {
    let (now, zone) = (host.request.now, host.request.zone);
    let asked = u.when.asked(now, zone);
    let timed: Vec<&Arc<Item>> = items.iter().filter(|i| i.hours().is_some()).collect();
    let is_open = |item: &Item| match asked {
        Asked::Now => item.is_open(now, zone),
        Asked::At(at, ..) => item.is_open(at, zone),
        Asked::On(date) if date == host.local().date() => {
            item.is_open(now, zone)
                || item.hours().and_then(|h| h.next_opening(now, zone)).is_some_and(|m| m.wall.date() == date)
        }
        Asked::On(date) => item.hours().is_some_and(|h| !h.spans(date.weekday()).is_empty()),
    };
    let open: Vec<Arc<Item>> = timed.iter().filter(|i| is_open(i)).map(|i| Arc::clone(i)).collect();
    let when = when_words(host, asked);
    if open.is_empty() {
        let label = host.pack.label(category, host.language);
        let whole = timed.len() == host.items(category).iter().filter(|i| i.hours().is_some()).count();
        return none_open(host, asked, &timed, whole.then_some(label.as_str()), &when);
    }
    let key = if asked == Asked::Now { "open_now" } else { "open_when" };
    let ask = if *category == Category::Dining && open.len() > 1 { Some("ask_dining") } else { None };
    let fixed = |list: &str| host.say(key, &[("list", list), ("when", &when)]);
    list(host, "open_now", &open, ask, fixed)
}

fn none_open(host: &Host<'_>, asked: Asked, timed: &[&Arc<Item>], label: Option<&str>, when: &str) -> Part {
    let from: DateTime<Utc> = match asked {
        Asked::At(at, ..) => at,
        Asked::Now | Asked::On(_) => host.request.now,
    };
    let next = timed
        .iter()
        .filter_map(|item| item.hours()?.next_opening(from, host.request.zone).map(|m| (m, *item)))
        .min_by_key(|(moment, item)| (moment.at, item.id.clone()));
    let body = match (label, asked) {
        (None, _) => host.say("none_of_those", &[("when", when)]),
        (Some(label), Asked::Now) => host.say("none_open", &[("label", label)]),
        (Some(label), Asked::At(..) | Asked::On(_)) => host.say("none_open_when", &[("label", label), ("when", when)]),
    };
    match next.and_then(|(_, item)| Some((item, venue::next_words(host, item.hours()?, from)?))) {
        Some((item, next)) => {
            let opens = host.say("opens_next", &[("name", &host.name(item)), ("value", &next)]);
            host.part("open_now", format!("{body} {opens}"), std::slice::from_ref(item))
        }
        None if timed.is_empty() => host.unanswered(),
        None => host.part("open_now", body, &[]),
    }
}

/// "tonight", "at 3am", "tomorrow morning".
pub(in super::super) fn when_words(host: &Host<'_>, asked: Asked) -> String {
    let today = host.local().date();
    let es = host.language == Language::Es;
    match asked {
        Asked::Now => host.say("word_now", &[]),
        Asked::On(date) => day_words(date, today, host.language),
        Asked::At(_, time, date) => {
            let day = day_words(date, today, host.language);
            let near = date == today;
            match time {
                Time::Evening if near => host.say("word_tonight", &[]),
                Time::Late if near => host.say("word_late", &[]),
                Time::Clock(minute) | Time::Half(minute) => {
                    let time = time_words(minute, host.language);
                    let time = if es { format!("a {time}") } else { format!("at {time}") };
                    // A small hour reached tonight needs no "tomorrow".
                    if near || minute < 5 * 60 { time } else { format!("{day} {time}") }
                }
                Time::Evening | Time::Late => host.say("word_night", &[("day", &day)]),
                Time::Morning => host.say("word_morning", &[("day", &day)]),
                Time::Afternoon => host.say("word_afternoon", &[("day", &day)]),
                Time::Now => host.say("word_now", &[]),
            }
        }
    }
}

/// Names of items in a fixed sentence.
pub(in super::super) fn names(
    host: &Host<'_>,
    key: &str,
    intent: &str,
    items: &[Arc<Item>],
    ask: Option<&str>,
) -> Part {
    list(host, intent, items, ask, |list| host.say(key, &[("list", list)]))
}

/// All names when two texts hold them, else as many as fit and how many more there are.
fn list(
    host: &Host<'_>,
    intent: &str,
    items: &[Arc<Item>],
    ask: Option<&str>,
    sentence: impl Fn(&str) -> String,
) -> Part {
    let mut names: Vec<String> = Vec::new();
    for item in items {
        let name = host.name(item);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let body = |count: usize| sentence(&host.first_of(&names, count));
    let count = (1..=names.len()).rev().find(|count| host.room.two(&body(*count))).unwrap_or(1);
    let shown = |item: &&Arc<Item>| names[..count.min(names.len())].contains(&host.name(item));
    let used: Vec<Arc<Item>> = items.iter().filter(shown).cloned().collect();
    Part { ask: ask.map(|key| host.say(key, &[])), ..host.part(intent, body(count), &used) }
}

/// One place for somebody who cannot choose: open now if any, picked by the seed.
fn recommend(host: &Host<'_>, u: &Understood<'_>, items: &[Arc<Item>]) -> Part {
    let (now, zone) = (host.request.now, host.request.zone);
    let at = match u.when.asked(now, zone) {
        Asked::At(at, ..) => at,
        Asked::Now | Asked::On(_) => now,
    };
    let open: Vec<&Arc<Item>> = items.iter().filter(|i| i.is_open(at, zone)).collect();
    let pool: Vec<&Arc<Item>> = if open.is_empty() { items.iter().collect() } else { open };
    let pick = usize::try_from(host.request.seed % pool.len().max(1) as u64).unwrap_or(0);
    pool.get(pick)
        .map_or_else(|| host.unanswered(), |item| Part { intent: "recommend".into(), ..venue::info(host, item) })
}

/// Names with their price: "Swedish Massage $165 for 60 minutes", as many as fit.
pub(in super::super) fn prices(host: &Host<'_>, items: &[Arc<Item>], intent: &str) -> Option<Part> {
    let priced: Vec<(&Arc<Item>, String)> = items.iter().filter_map(|i| Some((i, venue::price(host, i)?))).collect();
    let entries: Vec<String> = priced.iter().map(|(item, price)| format!("{} {price}", host.name(item))).collect();
    let build = |count: usize| host.say("price_list", &[("list", &host.first_of(&entries, count))]);
    // Three prices in two texts are worth more than two in one.
    let count = (1..=priced.len())
        .rev()
        .find(|n| if *n <= 3 { host.room.two(&build(*n)) } else { host.room.one(&build(*n)) })?;
    let used: Vec<Arc<Item>> = priced.iter().take(count).map(|(item, _)| Arc::clone(item)).collect();
    Some(Part { ask: Some(host.say("ask_topic", &[])), ..host.part(intent, build(count), &used) })
}

/// A category other than dining and shows.
pub(in super::super) fn topic(host: &Host<'_>, u: &Understood<'_>, category: &Category) -> Option<Part> {
    let items = host.items(category);
    let intent = category.as_str();
    let timed = items.iter().any(|i| i.hours().is_some());
    let hours_asked = ["open", "opens", "closes", "hours"].iter().any(|f| u.wants(f)) || (u.when.is_said() && timed);
    // "Do you have rooms tonight?" asks for what is free, which only a booking can tell.
    if u.when.is_said() && !hours_asked && !timed && !items.is_empty() {
        return Some(lookup::booking(host, u));
    }
    let several = items.iter().filter(|i| i.hours().is_some()).count() > 1;
    // "Is the spa open?" is about the place; "which games are open?" about its rows.
    if hours_asked
        && u.leftover.is_empty()
        && several
        && u.wants("open")
        && !u.wants("hours")
        && !u.wants("closes")
        && !u.wants("opens")
    {
        return Some(Part { intent: intent.into(), ..open(host, u, &items, category) });
    }
    if hours_asked && let Some(part) = lookup::place(host, u) {
        return Some(part);
    }
    if let Some(part) = lookup::within(host, u, category) {
        return Some(part);
    }
    // Something particular was asked that the category does not hold: perhaps another row does.
    if items.is_empty() || (!u.leftover.is_empty() && u.is_question && !u.intends("listing")) {
        return lookup::anything(host, u);
    }
    if u.facets.iter().any(|f| *f != "about" && *f != "open") {
        let listed = if u.wants("price") { prices(host, &items, intent) } else { None };
        return listed.or_else(|| lookup::anything(host, u));
    }
    match items.as_slice() {
        [one] => Some(venue::info(host, one)),
        _ => Some(names(host, "topic_all", intent, &items, Some("ask_topic"))),
    }
}
