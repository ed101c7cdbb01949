//! Names several rows in one sentence.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use seven_knowledge::{Category, Item, item::Details};

use crate::{
    adults,
    compose::{
        rows,
        times::{told_when, when_words},
        venue,
    },
    exceptions,
    fit::Part,
    host::Host,
    pack::{Field, Kind},
    understand::Understood,
    when::Asked,
};

/// Puts the names of the items into one of the pack's sentences.
pub(crate) fn names(
    host: &Host<'_>,
    key: &str,
    intent: &str,
    items: &[Arc<Item>],
    ask: Option<&str>,
) -> Part {
    list(host, intent, items, ask, |list| {
        host.say(key, &[("list", list)])
    })
}

/// Joins the answers about two rows. If both say the same, as in "No reservation needed at X", names
/// both rows in one sentence; a last sentence that both have is told once.
pub(crate) fn joined(host: &Host<'_>, first: &Part, second: &Part) -> String {
    let name = |part: &Part| {
        let row = part
            .sources
            .first()
            .and_then(|id| host.request.index.get(id));
        row.map(|row| host.name(row)).unwrap_or_default()
    };
    let (one, other) = (name(first), name(second));
    let begins = one.is_empty() || first.body.starts_with(&one);
    if !begins && first.body.replace(&one, &other) == second.body {
        let both = format!("{one} {} {other}", host.and());
        return first.body.replace(&one, &both);
    }
    let last = |part: &Part| {
        part.body
            .rfind(". ")
            .map(|at| part.body[at + 1..].to_owned())
    };
    let again = last(second).and_then(|last| first.body.strip_suffix(&last));
    format!("{} {}", again.unwrap_or(&first.body), second.body)
}

/// Lists all names if two texts have room for them; else as many as fit, and how many are left.
pub(crate) fn list(
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
    let count = (1..=names.len())
        .rev()
        .find(|count| host.room.two(&body(*count)))
        .unwrap_or(1);
    let shown = |item: &&Arc<Item>| names[..count.min(names.len())].contains(&host.name(item));
    let used: Vec<Arc<Item>> = items.iter().filter(shown).cloned().collect();
    Part {
        ask: ask.map(|key| host.say(key, &[])),
        ..host.part(intent, body(count), &used)
    }
}

/// Lists exactly the places that are open at the requested time.
pub(crate) fn open(
    host: &Host<'_>,
    u: &Understood<'_>,
    items: &[Arc<Item>],
    category: &Category,
) -> Part {
    let timed: Vec<&Arc<Item>> = items.iter().filter(|i| i.hours().is_some()).collect();
    let (open, asked) = open_then(host, u, items);
    let when = when_words(host, asked);
    if open.is_empty() {
        let label = host.pack.label(category, host.language);
        let whole = timed.len()
            == host
                .items(category)
                .iter()
                .filter(|i| i.hours().is_some())
                .count();
        return none_open(host, asked, &timed, whole.then_some(label.as_str()), &when);
    }
    let key = if asked == Asked::Now {
        "open_now"
    } else {
        "open_when"
    };
    let when = told_when(host, asked);
    let ask = if *category == Category::Dining && open.len() > 1 {
        Some("ask_dining")
    } else {
        None
    };
    let fixed = |list: &str| host.say(key, &[("list", list), ("when", &when)]);
    list(host, "open_now", &open, ask, fixed)
}

pub(crate) fn none_open(
    host: &Host<'_>,
    asked: Asked,
    timed: &[&Arc<Item>],
    label: Option<&str>,
    when: &str,
) -> Part {
    let from: DateTime<Utc> = match asked {
        Asked::At(at, ..) => at,
        Asked::Now | Asked::On(_) => host.request.now,
    };
    let next = timed
        .iter()
        .filter_map(|item| {
            item.hours()?
                .next_opening(from, host.request.zone)
                .map(|m| (m, *item))
        })
        .min_by_key(|(moment, item)| (moment.at, item.id.clone()));
    let body = match (label, asked) {
        (None, _) => host.say("none_of_those", &[("when", when)]),
        (Some(label), Asked::Now) => host.say("none_open", &[("label", label)]),
        (Some(label), Asked::At(..) | Asked::On(_)) => {
            host.say("none_open_when", &[("label", label), ("when", when)])
        }
    };
    match next.and_then(|(_, item)| Some((item, venue::next_words(host, item.hours()?, from)?))) {
        Some((item, next)) => {
            let opens = host.say(
                "opens_next",
                &[("name", &host.name(item)), ("value", &next)],
            );
            host.part(
                "open_now",
                format!("{body} {opens}"),
                std::slice::from_ref(item),
            )
        }
        None if timed.is_empty() => host.unanswered(),
        None => host.part("open_now", body, &[]),
    }
}

/// Returns exactly the places that are open at the time that the text names, and that time.
pub(crate) fn open_then(
    host: &Host<'_>,
    u: &Understood<'_>,
    items: &[Arc<Item>],
) -> (Vec<Arc<Item>>, Asked) {
    let (now, zone) = (host.request.now, host.request.zone);
    let asked = u.when.asked(now, zone);
    let is_open = |item: &Item| match asked {
        Asked::Now => item.is_open(now, zone),
        Asked::At(at, ..) => item.is_open(at, zone),
        Asked::On(date) if date == host.local().date() => {
            item.is_open(now, zone)
                || item
                    .hours()
                    .and_then(|h| h.next_opening(now, zone))
                    .is_some_and(|m| m.wall.date() == date)
        }
        Asked::On(date) => item.hours().is_some_and(|h| !h.spans_on(date).is_empty()),
    };
    let date = match asked {
        Asked::At(_, _, date) | Asked::On(date) => date,
        Asked::Now => host.local().date(),
    };
    let opens = |item: &Item| {
        item.hours().is_some() && is_open(item) && !exceptions::is_shut(host, item, date)
    };
    (
        items.iter().filter(|item| opens(item)).cloned().collect(),
        asked,
    )
}

/// Returns the only place of the kind asked for, as in "the steakhouse"; `None` if there are
/// several.
pub(crate) fn only_of_kind(host: &Host<'_>, u: &Understood<'_>) -> Option<Arc<Item>> {
    let mut fitting = host
        .items(&Category::Dining)
        .into_iter()
        .filter(|item| fits(&u.kinds, item));
    let place = fitting.next().filter(|_| !u.kinds.is_empty())?;
    fitting.next().is_none().then_some(place)
}

/// Returns whether the item fits the kinds: one kind per field is enough, but every field must fit.
pub(crate) fn fits(kinds: &[&Kind], item: &Item) -> bool {
    [
        Field::Cuisine,
        Field::Subcategory,
        Field::Price,
        Field::Dietary,
        Field::Kids,
        Field::Serves,
    ]
    .into_iter()
    .all(|field| {
        let wanted: Vec<&&Kind> = kinds.iter().filter(|k| k.field == field).collect();
        wanted.is_empty() || wanted.iter().any(|kind| kind_fits(kind, item))
    })
}

pub(crate) fn kind_fits(kind: &Kind, item: &Item) -> bool {
    let Details::Dining(d) = &item.details else {
        return false;
    };
    let has = |value: &str| kind.values.iter().any(|v| v.eq_ignore_ascii_case(value));
    match kind.field {
        Field::Cuisine => has(&d.cuisine_type),
        Field::Subcategory => item.subcategory.as_deref().is_some_and(has) || has(&d.cuisine_type),
        Field::Price => has(&d.price_range),
        Field::Dietary => d
            .dietary_options
            .iter()
            .any(|option| kind.values.iter().any(|v| rows::has_word(option, v))),
        Field::Kids => d.kids_menu == Some(true) && !adults::is_among_games(item),
        Field::Serves => kind.values.iter().any(|v| serves(item, v)),
    }
}

pub(crate) fn serves(item: &Item, wish: &str) -> bool {
    item.keywords
        .iter()
        .chain([&item.description])
        .chain(&item.description_es)
        .any(|text| rows::has_word(text, wish))
}
