//! Lists: what is open, which places fit a wish, what a category holds. A list never names a closed place as open.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use seven_domain::Language;
use seven_knowledge::{Category, Item, item::Details};

use super::{
    super::{
        answer::Host,
        exceptions,
        fit::Part,
        pack::{Field, Kind},
        phrases::Said,
        understand::Understood,
        when::{Asked, Time, day_words, time_words},
    },
    chat, lookup, rows, unlisted, venue,
};

/// Restaurants, bars and cafes: open ones when a time or "open" is asked, else those that fit the wish, else all.
pub(in super::super) fn dining(host: &Host<'_>, u: &Understood<'_>) -> Part {
    let u = &with_company(host, u);
    let all = host.items(&Category::Dining);
    if all.is_empty() {
        return lookup::anything(host, u).unwrap_or_else(|| host.unanswered());
    }
    let wishes = u.wishes_of(&Category::Dining);
    let division = unlisted::divide(u, &wishes, &all);
    let refused = |item: &Item| u.refused.iter().any(|kind| kind_fits(kind, item));
    let kinds: Vec<Arc<Item>> =
        division.fitting.iter().filter(|item| fits(&u.kinds, item) && !refused(item)).cloned().collect();
    if kinds.is_empty() {
        return not_served(host, u, &division, &all);
    }
    let fitting = narrowed(u, kinds);
    let whole = fitting.len() == all.len();
    if u.intends("recommend") && !u.wants("open") && !u.intends("cheapest") {
        return recommend(host, u, &fitting);
    }
    let timed = u.wants("open") || u.when.is_said();
    if let [one] = fitting.as_slice()
        && !(whole && timed)
    {
        return one_place(host, u, one);
    }
    // "What time do the restaurants close?" has as many answers as there are restaurants.
    if !u.wants("open") && ["hours", "opens", "closes"].iter().any(|f| u.wants(f)) {
        return chat::which(host, &fitting.iter().map(|i| host.name(i)).collect::<Vec<_>>());
    }
    if timed {
        return open(host, u, &fitting, &Category::Dining);
    }
    let narrow = !whole;
    let key = if u.kinds.iter().any(|k| k.field == Field::Kids) {
        "kids_list"
    } else if narrow {
        "fitting"
    } else {
        "dining_all"
    };
    let (intent, ask) = if narrow { ("cuisine", "ask_visit") } else { ("dining", "ask_dining") };
    names(host, key, intent, &fitting, Some(ask))
}

/// The one place of the kind said: "the steakhouse".
pub(in super::super) fn only_of_kind(host: &Host<'_>, u: &Understood<'_>) -> Option<Arc<Item>> {
    let mut fitting = host.items(&Category::Dining).into_iter().filter(|item| fits(&u.kinds, item));
    let place = fitting.next().filter(|_| !u.kinds.is_empty())?;
    fitting.next().is_none().then_some(place)
}

/// What the guest said of a diet or of children counts for "where can we eat?" too.
fn with_company<'a>(host: &Host<'a>, u: &Understood<'a>) -> Understood<'a> {
    let mut u = u.clone();
    let request = host.request;
    let stated = |said: &Said| host.pack.intents.get("statement").is_some_and(|statement| statement.found(said));
    let before = request.history.iter().map(|e| Said::new(&e.guest)).filter(stated);
    let heard: Vec<Said> = request.texts.iter().map(|text| Said::new(text)).chain(before).collect();
    let kinds = host.pack.kinds.iter();
    if u.kinds.iter().all(|kind| kind.field != Field::Dietary) {
        let diet = |kind: &&Kind| kind.field == Field::Dietary && heard.iter().any(|said| kind.phrases.found(said));
        let diets: Vec<&'a Kind> = kinds.clone().filter(diet).collect();
        u.kinds.extend(diets);
    }
    let children = host.pack.facets.get("kids").is_some_and(|kids| heard.iter().any(|said| kids.found(said)));
    if u.kinds.is_empty() && children {
        u.kinds.extend(kinds.clone().filter(|kind| kind.field == Field::Kids));
    }
    u
}

/// The only place that fits: its facts, whether it is open then, or what it is.
fn one_place(host: &Host<'_>, u: &Understood<'_>, one: &Arc<Item>) -> Part {
    let facts = ["where", "hours", "opens", "closes", "price", "dress", "reservations", "kids"];
    if u.when.is_said() || u.wants("open") || facts.iter().any(|f| u.wants(f)) {
        let timed = u.wants("open") || (u.when.is_said() && !facts.iter().any(|f| u.wants(f)));
        let part = venue::answer(host, u, std::slice::from_ref(one));
        return if timed { Part { intent: "open_now".into(), ..part } } else { part };
    }
    if u.kinds.iter().any(|k| k.field == Field::Dietary) {
        return Part { intent: "cuisine".into(), ..venue::answer(host, u, std::slice::from_ref(one)) };
    }
    Part { intent: "cuisine".into(), ..venue::info(host, one) }
}

/// No place fits: says what is not listed, and what is open or cooked here instead.
fn not_served(host: &Host<'_>, u: &Understood<'_>, division: &unlisted::Division<'_>, all: &[Arc<Item>]) -> Part {
    let wish = if division.fitting.is_empty() {
        let wishes = u.wishes_of(&Category::Dining);
        unlisted::said(u, if division.denied.is_empty() { &wishes } else { &division.denied })
    } else {
        Some(u.words_at(&u.kind_places))
    };
    let denial = unlisted::answer(host, wish.as_deref(), None).body;
    if u.wants("open") || u.when.is_said() {
        let (places, asked) = open_then(host, u, all);
        let names: Vec<(String, Arc<Item>)> = places.iter().map(|item| (host.name(item), Arc::clone(item))).collect();
        let key = if asked == Asked::Now { "open_now" } else { "open_when" };
        let when = told_when(host, asked);
        let listed = unlisted::others(host, key, &[("when", &when)], &names, &denial);
        return unlisted::answer(host, wish.as_deref(), listed);
    }
    unlisted::in_category(host, &Category::Dining, wish.as_deref(), all)
}

/// Applies words that editors filed places under ("terrace"), where some place has them.
fn narrowed(u: &Understood<'_>, all: Vec<Arc<Item>>) -> Vec<Arc<Item>> {
    let mut fitting = all;
    let wishes = if u.about(&Category::Dining) { &u.beside } else { &u.leftover };
    for wish in wishes {
        let wished: Vec<Arc<Item>> = fitting.iter().filter(|item| serves(item, wish)).cloned().collect();
        if !wished.is_empty() {
            fitting = wished;
        }
    }
    fitting
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
        Field::Dietary => d.dietary_options.iter().any(|option| kind.values.iter().any(|v| rows::has_word(option, v))),
        Field::Kids => d.kids_menu == Some(true) && !is_among_games(item),
        Field::Serves => kind.values.iter().any(|v| serves(item, v)),
    }
}

/// Children may not sit there, whatever the menu says.
fn is_among_games(item: &Item) -> bool {
    item.location()
        .is_some_and(|at| ["casino floor", "gaming floor"].iter().any(|floor| at.to_lowercase().contains(floor)))
}

fn serves(item: &Item, wish: &str) -> bool {
    item.keywords.iter().chain([&item.description]).chain(&item.description_es).any(|text| rows::has_word(text, wish))
}

/// Names exactly the places that are open when asked.
pub(in super::super) fn open(host: &Host<'_>, u: &Understood<'_>, items: &[Arc<Item>], category: &Category) -> Part {
    let timed: Vec<&Arc<Item>> = items.iter().filter(|i| i.hours().is_some()).collect();
    let (open, asked) = open_then(host, u, items);
    let when = when_words(host, asked);
    if open.is_empty() {
        let label = host.pack.label(category, host.language);
        let whole = timed.len() == host.items(category).iter().filter(|i| i.hours().is_some()).count();
        return none_open(host, asked, &timed, whole.then_some(label.as_str()), &when);
    }
    let key = if asked == Asked::Now { "open_now" } else { "open_when" };
    let when = told_when(host, asked);
    let ask = if *category == Category::Dining && open.len() > 1 { Some("ask_dining") } else { None };
    let fixed = |list: &str| host.say(key, &[("list", list), ("when", &when)]);
    list(host, "open_now", &open, ask, fixed)
}

/// Exactly the places that are open when asked, and what "when" was.
pub(in super::super) fn open_then(host: &Host<'_>, u: &Understood<'_>, items: &[Arc<Item>]) -> (Vec<Arc<Item>>, Asked) {
    let (now, zone) = (host.request.now, host.request.zone);
    let asked = u.when.asked(now, zone);
    let is_open = |item: &Item| match asked {
        Asked::Now => item.is_open(now, zone),
        Asked::At(at, ..) => item.is_open(at, zone),
        Asked::On(date) if date == host.local().date() => {
            item.is_open(now, zone)
                || item.hours().and_then(|h| h.next_opening(now, zone)).is_some_and(|m| m.wall.date() == date)
        }
        Asked::On(date) => item.hours().is_some_and(|h| !h.spans_on(date).is_empty()),
    };
    let date = match asked {
        Asked::At(_, _, date) | Asked::On(date) => date,
        Asked::Now => host.local().date(),
    };
    let opens = |item: &Item| item.hours().is_some() && is_open(item) && !exceptions::is_shut(host, item, date);
    (items.iter().filter(|item| opens(item)).cloned().collect(), asked)
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

/// The same beside what is open: a time that only the guest has said is denied or asked back, never asserted (AGENT-60).
pub(in super::super) fn told_when(host: &Host<'_>, asked: Asked) -> String {
    match asked {
        Asked::At(_, Time::Clock(_) | Time::Half(_), _) => host.say("word_then", &[]),
        other => when_words(host, other),
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
                Time::Morning if near => host.say("word_this_morning", &[]),
                Time::Afternoon if near => host.say("word_this_afternoon", &[]),
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
