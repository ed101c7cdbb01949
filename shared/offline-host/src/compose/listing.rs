//! Lists open places, places that fit a wish, or the rows of a category. No list shows a closed
//! place as open.

use std::sync::Arc;

use seven_knowledge::{Category, Item};

use super::{
    super::{
        acts::Act, fit::Part, host::Host, pack::Field, suggest, understand::Understood, when::Asked,
    },
    chat, lookup, rows, unlisted, venue,
};
use crate::compose::{
    several::{fits, kind_fits, names, open, open_then},
    times::told_when,
};

/// Lists restaurants, bars and cafes. If the text names a time or says "open", lists those that are
/// open then. Otherwise lists those that fit the guest's wish, or all if there is no wish.
pub(crate) fn dining(host: &Host<'_>, u: &Understood<'_>) -> Part {
    let u = &with_company(host, u);
    let all = host.items(&Category::Dining);
    if all.is_empty() {
        return lookup::anything(host, u).unwrap_or_else(|| host.unanswered());
    }
    let wishes = u.wishes_of(&Category::Dining);
    let division = unlisted::divide(u, &wishes, &all);
    let refused = |item: &Item| u.refused.iter().any(|kind| kind_fits(kind, item));
    let kinds: Vec<Arc<Item>> = division
        .fitting
        .iter()
        .filter(|item| fits(&u.kinds, item) && !refused(item))
        .cloned()
        .collect();
    if kinds.is_empty() {
        return not_served(host, u, &division, &all);
    }
    // "A piano bar" is the bar whose row mentions a piano.
    let told: Vec<Arc<Item>> = kinds
        .iter()
        .filter(|item| !u.kinds.is_empty() && rows::tells_any(item, &u.leftover))
        .cloned()
        .collect();
    let fitting = if told.is_empty() { kinds } else { told };
    let whole = fitting.len() == all.len();
    // A guest who asks which places there are, or which are open, gets the whole list.
    let lists = u.wants("open") || u.intends("listing") || whole && u.asks_which();
    if fitting.len() > 1
        && !lists
        && let Some(part) = suggest::answer(host, Act::Recommend, u)
    {
        return part;
    }
    let timed = u.wants("open") || u.when.is_said();
    if let [one] = fitting.as_slice()
        && !(whole && timed)
    {
        return one_place(host, u, one);
    }
    // "What time do the restaurants close?" has several answers, so the guest is asked which
    // restaurant is meant.
    if !u.wants("open") && ["hours", "opens", "closes"].iter().any(|f| u.wants(f)) {
        return chat::which(
            host,
            &fitting.iter().map(|i| host.name(i)).collect::<Vec<_>>(),
        );
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
    let (intent, ask) = if narrow {
        ("cuisine", "ask_visit")
    } else {
        ("dining", "ask_dining")
    };
    names(host, key, intent, &fitting, Some(ask))
}

/// Adds the party's diets to the kinds that the text asks for. If there is still no kind, as in
/// "where can we eat?", and the party has minors, adds the kinds for children.
fn with_company<'a>(host: &Host<'a>, u: &Understood<'a>) -> Understood<'a> {
    let mut u = u.clone();
    if u.kinds.iter().all(|kind| kind.field != Field::Dietary) {
        u.kinds.extend(host.diets());
    }
    if u.kinds.is_empty() && host.state.has_minors() {
        let kids = host.pack.kinds.iter();
        u.kinds
            .extend(kids.filter(|kind| kind.field == Field::Kids));
    }
    u
}

/// Answers about the only place that fits. Gives the facts that the guest asked for, or says
/// whether it is open at the time asked about; otherwise describes it.
fn one_place(host: &Host<'_>, u: &Understood<'_>, one: &Arc<Item>) -> Part {
    let facts = [
        "where",
        "hours",
        "opens",
        "closes",
        "price",
        "dress",
        "reservations",
        "kids",
    ];
    if u.when.is_said() || u.wants("open") || facts.iter().any(|f| u.wants(f)) {
        let timed = u.wants("open") || (u.when.is_said() && !facts.iter().any(|f| u.wants(f)));
        let part = venue::answer(host, u, std::slice::from_ref(one));
        return if timed {
            Part {
                intent: "open_now".into(),
                ..part
            }
        } else {
            part
        };
    }
    if u.kinds.iter().any(|k| k.field == Field::Dietary) {
        return Part {
            intent: "cuisine".into(),
            ..venue::answer(host, u, std::slice::from_ref(one))
        };
    }
    Part {
        intent: "cuisine".into(),
        ..venue::info(host, one)
    }
}

/// Says that nothing of the kind is listed, and names the places that are open or the cuisines that
/// exist.
fn not_served(
    host: &Host<'_>,
    u: &Understood<'_>,
    division: &unlisted::Division<'_>,
    all: &[Arc<Item>],
) -> Part {
    let wish = if division.fitting.is_empty() {
        let wishes = u.wishes_of(&Category::Dining);
        unlisted::said(
            u,
            if division.denied.is_empty() {
                &wishes
            } else {
                &division.denied
            },
        )
    } else {
        Some(u.words_at(&u.kind_places))
    };
    let denial = unlisted::answer(host, wish.as_deref(), None).body;
    if u.wants("open") || u.when.is_said() {
        let (places, asked) = open_then(host, u, all);
        let names: Vec<(String, Arc<Item>)> = places
            .iter()
            .map(|item| (host.name(item), Arc::clone(item)))
            .collect();
        let key = if asked == Asked::Now {
            "open_now"
        } else {
            "open_when"
        };
        let when = told_when(host, asked);
        let listed = unlisted::others(host, key, &[("when", &when)], &names, &denial);
        return unlisted::answer(host, wish.as_deref(), listed);
    }
    unlisted::in_category(host, &Category::Dining, wish.as_deref(), all)
}
