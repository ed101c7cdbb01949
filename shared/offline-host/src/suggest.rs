//! Suggests at most two rows that meet everything the guest asked for, each with its reasons.

mod liked;
mod nothing;
mod rank;
mod reasons;
mod wanted;

use std::{collections::HashSet, sync::Arc};

use seven_domain::Language;
use seven_knowledge::{Category, Item};
use seven_llm::Request;
use seven_text::{sentence_ranges, stem, words};

use crate::{
    acts::Act,
    adults::is_allowed,
    compose::{figure::figure, lookup, rows},
    fit::Part,
    hear,
    host::Host,
    pack::{Field, Kind},
    resolve,
    understand::Understood,
    when::{Time, When},
};

use nothing::nothing;
use rank::{score, tie, varied};
pub(crate) use reasons::reasons;
use reasons::{caution, named};
use wanted::{Wanted, fits};

/// Minutes from midnight to noon.
const NOON: u16 = 720;

/// Suggests rows for the guest's current request. `None` if the host suggests nothing from the
/// category of the request.
pub(crate) fn answer(host: &Host<'_>, act: Act, u: &Understood<'_>) -> Option<Part> {
    let Some(wanted) = wanted(host, act, u) else {
        let nothing_named = u.topics.is_empty() && u.kinds.is_empty() && u.leftover.is_empty();
        let open = act == Act::Recommend && (nothing_named || asks_openly(host, u));
        let show_and_place = || open.then(|| anything(host, u)).flatten();
        return of_any_kind(host, act, u).or_else(show_and_place);
    };
    let all = host.items(&wanted.category);
    let mut fitting: Vec<Arc<Item>> = all
        .iter()
        .filter(|item| is_allowed(host, u, item) && fits(host, &wanted, item))
        .cloned()
        .collect();
    let telling: Vec<Arc<Item>> = fitting
        .iter()
        .filter(|item| rows::tells_any(item, &wanted.words))
        .cloned()
        .collect();
    if !telling.is_empty() {
        fitting = telling;
    }
    if u.intends("cheapest") {
        keep_cheapest(host, &mut fitting);
    }
    fitting.sort_by_key(|item| {
        let points = score(host, &wanted, item) + liked::points(host, item);
        (std::cmp::Reverse(points), tie(host, item))
    });
    if fitting.is_empty() {
        let nothing = nothing(host, act, u, &wanted, &all);
        return nothing.or_else(|| of_any_kind(host, act, u));
    }
    let chosen = varied(&fitting);
    let (count, mut text) = worded(host, act, &chosen, &wanted);
    let (mut sources, besides) = (chosen[..count].to_vec(), besides(host, &wanted));
    let notes = caution(host, &wanted.category).map(|note| (note, None));
    for (note, row) in notes
        .into_iter()
        .chain(besides.map(|(note, row)| (note, Some(row))))
    {
        let with = format!("{text} {note}");
        if host.room.two(&with) {
            text = with;
            sources.extend(row);
        }
    }
    let intent = match wanted.category {
        Category::Dining => "recommend",
        Category::Entertainment => "events",
        ref other => other.as_str(),
    };
    Some(host.part(intent, text, &sources))
}

/// Writes the suggestions, and returns how many of them fit into the reply.
fn worded(host: &Host<'_>, act: Act, chosen: &[Arc<Item>], wanted: &Wanted<'_>) -> (usize, String) {
    let other = matches!(act, Act::More | Act::Reject);
    let stands = |row: &Arc<Item>| host.state.listed.contains(&row.id);
    let same = act == Act::Narrow && chosen.len() == host.state.listed.len();
    let again = same && chosen.iter().all(stands);
    let body = |rows: &[Arc<Item>]| {
        let key = match rows.len() {
            1 if other => "suggest_other_one",
            1 if again => "suggest_still_one",
            1 => "suggest_one",
            _ if other => "suggest_other",
            _ if again => "suggest_still",
            _ => "suggest",
        };
        let told = |row: &Arc<Item>| named(host, row, wanted);
        let names: Vec<String> = rows.iter().map(told).collect();
        let second = names.get(1).cloned().unwrap_or_default();
        host.say(key, &[("name", &names[0]), ("other", &second)])
    };
    let all = body(chosen);
    if chosen.len() > 1 && host.room.two(&all) {
        return (chosen.len(), all);
    }
    let one = body(&chosen[..1]);
    let described = first_sentence(host, &chosen[0]).map(|told| format!("{one} {told}"));
    let described = described.filter(|text| !again && host.room.one(text));
    (1, described.unwrap_or(one))
}

/// Returns the first sentence of the row's description, which says what is good about the row;
/// `None` if it is not translated into the reply's language.
fn first_sentence(host: &Host<'_>, row: &Item) -> Option<String> {
    if host.language == Language::Es && row.description_es.is_none() {
        return None;
    }
    let text = host.description(row);
    let first = sentence_ranges(&text).into_iter().next()?;
    Some(text[first].to_owned())
}

/// If rooms are suggested and a house rule is about a word of the guest, returns the rule's first
/// sentence and its row. For "a room for me and my dog", this is the rule on dogs.
fn besides(host: &Host<'_>, wanted: &Wanted<'_>) -> Option<(String, Arc<Item>)> {
    if wanted.category.as_str() != "rooms" {
        return None;
    }
    let named = |item: &Item, word: &str| {
        rows::has_word(&item.name, word)
            || item.keywords.iter().any(|key| rows::has_word(key, word))
    };
    let mut all = host
        .request
        .index
        .current(host.request.now)
        .filter(|row| resolve::is_house_rule(row));
    let row = all.find(|row| wanted.words.iter().any(|word| named(row, word)))?;
    Some((first_sentence(host, row)?, Arc::clone(row)))
}

fn keep_cheapest(host: &Host<'_>, rows: &mut Vec<Arc<Item>>) {
    let prices = rows.iter().filter_map(|row| figure(host, row));
    if let Some(least) = prices.min_by(f64::total_cmp) {
        rows.retain(|row| figure(host, row).is_some_and(|price| price <= least));
    }
}

/// Returns whether rows have the word in their names or keywords; the guest then asks about such a
/// row.
pub(crate) fn is_listed(host: &Host<'_>, word: &str) -> bool {
    words(word)
        .iter()
        .all(|word| host.listed.contains(&stem(word)))
}

/// Returns the stems of all words in the names and keywords of rows.
pub(crate) fn listed_stems(request: &Request) -> HashSet<String> {
    let rows = request.index.current(request.now);
    let names = rows.flat_map(|item| std::iter::once(&item.name).chain(&item.keywords));
    names
        .flat_map(|text| words(text))
        .map(|word| stem(&word))
        .collect()
}

/// Returns whether the guest asks for suggestions without saying of what: "3 hours to kill, ideas?"
fn asks_openly(host: &Host<'_>, u: &Understood<'_>) -> bool {
    let phrases = host.pack.acts.get("recommend");
    u.topics.is_empty()
        && (u.intends("recommend") || phrases.is_some_and(|phrases| phrases.found(&u.said)))
        && !u.leftover.iter().any(|word| is_in_a_name(host, word))
}

/// Returns whether the name of a row has the word, so that a wish with it asks for that row.
fn is_in_a_name(host: &Host<'_>, word: &str) -> bool {
    let index = &host.request.index;
    let mut rows = index.current(host.request.now);
    rows.any(|row| lookup::in_name(row, word))
}

/// Suggests the rows that suit a wish best by its meaning, of whatever category they are.
fn of_any_kind(host: &Host<'_>, act: Act, u: &Understood<'_>) -> Option<Part> {
    let any = |item: &Item| Wanted::any(host, item.category.clone(), host.when_of(u));
    let other = matches!(act, Act::More | Act::Reject);
    let rows = liked::best(host, |item| {
        is_offered(&item.category)
            && !(other && host.state.shown.contains(&item.id))
            && is_allowed(host, u, item)
            && fits(host, &any(item), item)
    });
    let wanted = any(rows.first()?);
    let (count, text) = worded(host, act, &rows, &wanted);
    Some(host.part("recommend", text, &rows[..count]))
}

/// Suggests a show and a place to eat, if the guest does not say what kind of thing to suggest.
fn anything(host: &Host<'_>, u: &Understood<'_>) -> Option<Part> {
    let best = |category: Category| {
        let wanted = Wanted::any(host, category, host.when_of(u));
        let rows = host.items(&wanted.category);
        let fitting = rows
            .into_iter()
            .filter(|item| is_allowed(host, u, item) && fits(host, &wanted, item));
        let best = fitting.min_by_key(|item| {
            (
                std::cmp::Reverse(score(host, &wanted, item)),
                tie(host, item),
            )
        })?;
        Some((named(host, &best, &wanted), best))
    };
    let (show, place) = (best(Category::Entertainment), best(Category::Dining));
    let (show, show_row) = show?;
    let (place, place_row) = place?;
    let body = host.say("suggest_both", &[("name", &show), ("other", &place)]);
    host.room
        .two(&body)
        .then(|| host.part("recommend", body, &[show_row, place_row]))
}

/// Returns whether the host suggests rows of the category if the guest names it.
fn is_suggested(category: &Category) -> bool {
    let of_these = matches!(
        category,
        Category::Dining | Category::Entertainment | Category::Spa
    );
    of_these || category.as_str() == "rooms"
}

/// Returns whether the host suggests rows of the category to guests who name none. Nobody who asks
/// for something to do wants a room.
fn is_offered(category: &Category) -> bool {
    category.as_str() == "amenities" || is_suggested(category) && category.as_str() != "rooms"
}

fn wanted<'a>(host: &Host<'a>, act: Act, u: &Understood<'a>) -> Option<Wanted<'a>> {
    // A wish without a category applies to the last category, unless the wish names something else.
    let goes_on = act != Act::Recommend || u.leftover.iter().all(|word| !is_listed(host, word));
    let before = host.state.category.as_deref().filter(|_| goes_on);
    let named = hear::category(u).or_else(|| liked::category(host));
    let category = named.or_else(|| before.map(Category::from))?;
    if !is_suggested(&category) {
        return None;
    }
    let (mut kinds, mut wishes) = (Vec::new(), Vec::new());
    for word in &host.state.wishes {
        let (found, more) = host.words(word, &category);
        kinds.extend(found);
        wishes.extend(more);
    }
    let new = |kind: &&&Kind| !kinds.iter().any(|known| known.name == kind.name);
    let more: Vec<&Kind> = u.kinds.iter().filter(new).copied().collect();
    kinds.extend(more);
    wishes.extend(u.wishes_of(&category).into_iter().cloned());
    // "Our anniversary is on Friday, we want a massage": the occasion names no restaurant.
    let of_places = |kind: &&Kind| {
        matches!(
            kind.field,
            Field::Cuisine | Field::Subcategory | Field::Serves
        )
    };
    if category == Category::Spa || category.as_str() == "rooms" {
        kinds.retain(|kind| !of_places(kind));
    }
    let again = matches!(act, Act::More | Act::Reject) && u.refused.is_empty();
    let mut skipped = host.state.refused.clone();
    if again {
        skipped.extend(host.state.shown.iter().cloned());
    }
    let cheaper = [
        "cheaper",
        "barato",
        "barata",
        "economico",
        "expensive",
        "pricey",
        "caro",
        "cara",
        "carisimo",
    ];
    let cheaper = u
        .said
        .words
        .iter()
        .any(|word| cheaper.contains(&word.as_str()));
    let listed = resolve::listed(host);
    let below = if cheaper && matches!(act, Act::Narrow | Act::Reject | Act::More) {
        kinds.retain(|kind: &&Kind| kind.field != Field::Price);
        listed
            .iter()
            .filter_map(|row| figure(host, row))
            .min_by(f64::total_cmp)
    } else {
        None
    };
    Some(Wanted {
        kinds,
        wishes,
        words: u.leftover.clone(),
        skipped,
        below,
        ..Wanted::any(host, category, at_table(host.when_of(u), u))
    })
}

/// Reads "at 7" as the evening, when people eat out, unless the text is about breakfast.
fn at_table(when: When, u: &Understood<'_>) -> When {
    let breakfast = u
        .kinds
        .iter()
        .any(|kind| kind.values.iter().any(|v| v == "breakfast"));
    match when.time {
        Some(Time::Half(half)) if !breakfast && half < NOON => When {
            time: Some(Time::Clock(half + NOON)),
            ..when
        },
        _ => when,
    }
}
