//! Lists the open places, the places that fit a wish, or the rows of a category. A list never
//! presents a closed place as open.

use std::sync::Arc;

use seven_knowledge::{Category, Item};

use super::{
    super::{
        fit::Part,
        host::Host,
        pack::{Field, Kind},
        phrases::Tokens,
        understand::Understood,
        when::Asked,
    },
    chat, lookup, unlisted, venue,
};
use crate::compose::{
    several::{fits, kind_fits, names, open, open_then, serves},
    times::told_when,
};

/// Lists restaurants, bars and cafes: the open ones if the text asks for a time or for "open", else
/// those that fit the wish, else all.
pub(crate) fn dining(host: &Host<'_>, u: &Understood<'_>) -> Part {
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
    // "What time do the restaurants close?" has a different answer for each restaurant, so the
    // guest is asked which one.
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

/// Adds a diet or children that the guest mentioned earlier to a question such as "where can we
/// eat?".
fn with_company<'a>(host: &Host<'a>, u: &Understood<'a>) -> Understood<'a> {
    let mut u = u.clone();
    let request = host.request;
    let stated = |said: &Tokens| host.pack.intents.get("statement").is_some_and(|statement| statement.found(said));
    let before = request.history.iter().map(|e| Tokens::new(&e.guest)).filter(stated);
    let heard: Vec<Tokens> = request.texts.iter().map(|text| Tokens::new(text)).chain(before).collect();
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

/// Answers about the only place that fits: the facts asked for, whether it is open then, or a
/// description.
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

/// Says that nothing of the kind is listed, and which places are open or which cuisines exist
/// instead.
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

/// Narrows the places by words that editors filed them under ("terrace"), if at least one place has
/// the word.
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

/// Recommends one place to a guest who cannot choose: one that is open now if there is any, picked
/// by the seed.
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
