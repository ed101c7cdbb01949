//! Answers a text that names no venue. The text is then about the venue that the conversation named
//! last, its subject.

mod asked;
mod subject;

use std::sync::Arc;

use asked::{WHOLE, asked, hard_terms, is_added, is_of, is_open, is_whole};
use seven_knowledge::{Category, Item, Term};
use subject::subjects;

use super::{
    compose::{
        lookup,
        several::{self, kind_fits},
        venue,
    },
    fit::Part,
    host::Host,
    pack::Field,
    reading,
    understand::{Understood, is_rule},
};
use crate::{about as place, minors, resolve, sentences};

/// The lowest score at which a row counts as mentioning a term (a word or phrase of the question).
/// `CALLED` is the same limit for the row's name and keywords alone.
const SAID: f32 = 0.5;
const CALLED: f32 = 0.82;

/// Answers about the rows that the last reply named, if the text itself does not say what it is
/// about. If the last reply named two rows, the answer may be about both.
pub(crate) fn answer(host: &Host<'_>, u: &Understood<'_>) -> Option<Part> {
    let mut again = asked(u);
    let hard = hard_terms(host, &again);
    if minors::names_a_minor(host, u.text) {
        again.facets.insert("kids");
    }
    if let Some(part) = of_list(host, &again) {
        return Some(part);
    }
    if !is_open(&again) {
        return None;
    }
    let rows = subjects(host, &again, &hard);
    if rows.len() > 2 {
        return of_house(host, &again, &hard, &rows);
    }
    let mut parts = rows
        .iter()
        .take(2)
        .filter_map(|row| about(host, &again, &hard, row));
    let first = parts.next()?;
    if first.grounded && rows.first().is_some_and(|row| resolve::is_house_rule(row)) {
        return Some(first);
    }
    let Some(second) = parts.next() else {
        return Some(first);
    };
    match (first.grounded, second.grounded) {
        (true, false) => return Some(first),
        (false, true) => return Some(second),
        (true, true) | (false, false) => {}
    }
    let body = several::joined(host, &first, &second);
    if !first.grounded || first.body == second.body || !host.room.two(&body) {
        return Some(first);
    }
    Some(Part {
        body,
        sources: [first.sources, second.sources].concat(),
        ask: None,
        ..first
    })
}

/// Answers "and for new members?" with the row of the last reply's list that fits best.
fn of_list(host: &Host<'_>, u: &Understood<'_>) -> Option<Part> {
    let rows = resolve::listed(host);
    let category = &rows.first()?.category;
    let alike = rows.len() > 2 && rows.iter().all(|row| row.category == *category);
    let whole = u.mentions.iter().any(|mention| mention.whole);
    let goes_on = u.continues() && u.topics.is_empty() && u.facets.is_empty() && !whole;
    let part = (alike && goes_on).then(|| lookup::within(host, u, &rows, category));
    part.flatten().map(|part| Part {
        is_sure: true,
        ..part
    })
}

/// Answers about one row.
fn about(host: &Host<'_>, again: &Understood<'_>, hard: &[Term], row: &Arc<Item>) -> Option<Part> {
    if !is_of(again, row) {
        return None;
    }
    // A word that only repeats the subject's name, as in "that massage", asks for nothing more.
    let index = &host.request.index;
    let hard: Vec<Term> = hard
        .iter()
        .filter(|term| index.is_called(row, term) < CALLED)
        .cloned()
        .collect();
    let points = again.refers();
    // A kind after "that" only describes the subject: "How late is that coffee place open".
    let kinds = again.kinds.iter().any(|kind| {
        let described = points && kind_fits(kind, row);
        !described && !kind.is_condition()
    });
    // A text that names a kind of food does not ask about a row outside dining: "Is breakfast early
    // or can I get it at 11" after a reply about check-out.
    if kinds && !again.kind_places.is_empty() && row.category != Category::Dining {
        return None;
    }
    let diet = again.kinds.iter().any(|kind| kind.field == Field::Dietary);
    if (kinds || diet && row.category != Category::Dining) && !points {
        return None;
    }
    let again = &Understood {
        topics: Vec::new(),
        wishes: Vec::new(),
        ..again.clone()
    };
    let rows = std::slice::from_ref(row);
    if hard.is_empty()
        && again.facets.is_empty()
        && again.when.is_said()
        && again.intents.is_empty()
        && !kinds
    {
        return at_time(host, again, rows);
    }
    let whole = |word: &String| WHOLE.contains(&word.as_str());
    let diets = diet || again.wants("dietary");
    if !diets && again.said.words.iter().any(whole) && hard.iter().all(|term| is_whole(again, term))
    {
        return Some(venue::redeeming(host, row).unwrap_or_else(|| venue::info(host, row)));
    }
    if again.wants("sleeps") {
        let sleeps = row.details.extra().and_then(|extra| extra.get("sleeps"))?;
        let count = seven_knowledge::formatter::plain(sleeps);
        let body = host.say("sleeps", &[("name", &host.name(row)), ("value", &count)]);
        return Some(host.part("venue_info", body, rows));
    }
    // Treatments and rooms are booked in the same way as their whole category.
    if again.wants("reservations") && row.category != Category::Dining && hard.is_empty() {
        let of_category = Understood {
            topics: vec![row.category.clone()],
            ..again.clone()
        };
        return Some(lookup::booking(host, &of_category));
    }
    // A row without hours, such as a treatment, has the hours of its venue, such as the spa.
    if asks_hours(again) && row.hours().is_none() && hard.is_empty() {
        let house = lookup::house_of(host, again, &row.category);
        return house.or_else(|| Some(host.missing(row)));
    }
    // "Till when can I buy a seat" asks about the sentence on seats, not when the place closes.
    if asks_hours(again) && row.category != Category::Entertainment {
        let names = |other: &&Arc<Item>| other.name.eq_ignore_ascii_case(&row.name);
        let mut same = index.current(host.request.now).filter(names);
        if let Some(part) = same.find_map(|row| reading::timed_sentence(host, again, row)) {
            return Some(Part {
                is_sure: true,
                ..part
            });
        }
    }
    if row.category == Category::Promotions && again.intends("booking") {
        let contact = host.say("contact", &[]);
        let body = format!("{} {contact}", host.description(row));
        return host
            .room
            .two(&body)
            .then(|| host.part("promotions", body, rows));
    }
    let told = (!kinds)
        .then(|| of_fields(host, again, &hard, row))
        .flatten();
    let only = || {
        (points || is_added(again))
            .then(|| reading::only_sentence(host, again, row))
            .flatten()
    };
    told.or_else(|| sentence(host, again, &hard, rows))
        .or_else(only)
        .or_else(|| {
            let unknown = !hard.is_empty() && !hard.iter().all(|term| says(host, rows, term));
            let about = points
                || is_added(again)
                || (again.continues() && hard.is_empty())
                || (!hard.is_empty() && !unknown && !again.facets.is_empty());
            let asks = again.is_question || again.asks_fact();
            // If the name or keywords of another rule or service contain a word of the question, as
            // in "How much is it for dogs", that row may answer.
            let elsewhere = !hard.is_empty() && is_told_elsewhere(host, &hard, row);
            (about && !elsewhere && asks && (!hard.is_empty() || again.asks_fact()))
                .then(|| host.missing(row))
        })
}

/// Answers "how early do they open" about several treatments with the hours of their venue, such as
/// the spa.
fn of_house(
    host: &Host<'_>,
    again: &Understood<'_>,
    hard: &[Term],
    rows: &[Arc<Item>],
) -> Option<Part> {
    let category = &rows.first()?.category;
    let alike = |row: &Arc<Item>| row.category == *category && row.hours().is_none();
    let asked = asks_hours(again) && hard.is_empty() && rows.iter().all(alike);
    asked
        .then(|| lookup::house_of(host, again, category))
        .flatten()
}

fn asks_hours(u: &Understood<'_>) -> bool {
    ["hours", "open", "opens", "closes"]
        .iter()
        .any(|facet| u.wants(facet))
}

/// Returns whether the name or keywords of another rule or service contain something that is asked
/// for.
fn is_told_elsewhere(host: &Host<'_>, hard: &[Term], row: &Item) -> bool {
    let index = &host.request.index;
    let rules = |item: &Item| {
        let service = ["amenities", "loyalty"].contains(&item.category.as_str());
        service || is_rule(&item.category)
    };
    index
        .current(host.request.now)
        .filter(|other| rules(other))
        .any(|other| {
            let called = |term: &Term| index.is_called(other, term) >= CALLED;
            other.id != row.id && hard.iter().any(called)
        })
}

/// Checks the answer `part` to a text that names no venue. If the answer comes from a row that is
/// not the subject and lacks the thing asked for, says instead that the subject's row lacks it.
pub(crate) fn honest(host: &Host<'_>, u: &Understood<'_>, part: Part) -> Part {
    let again = asked(u);
    let hard = hard_terms(host, &again);
    let index = &host.request.index;
    let found: Vec<_> = part
        .sources
        .iter()
        .filter_map(|id| index.get(id))
        .cloned()
        .collect();
    let plain = again.topics.is_empty()
        && again.kinds.is_empty()
        && again.wishes.is_empty()
        && part.intent != "booking";
    let stray = found.len() == 1
        && !hard.is_empty()
        && !part.chat
        && u.is_question
        && plain
        && is_open(&again);
    let literal = |term: &Term| {
        term.is_literally_in(&part.body)
            || found.iter().any(|row| index.is_called(row, term) >= CALLED)
    };
    // A row that the question calls by its name or a keyword is not stray: "the kids want a pool".
    let called =
        |term: &Term| term.known && found.iter().any(|row| index.is_called(row, term) >= CALLED);
    let mostly_called = hard.iter().filter(|term| called(term)).count() * 2 >= hard.len();
    if !stray || hard.iter().all(literal) || mostly_called {
        return part;
    }
    let subjects = subjects(host, &again, &hard);
    match subjects.first() {
        // "Do you have a petting zoo" asks about the casino.
        Some(_) if u.intends("listing") => host.unanswered(),
        Some(row) if subjects.iter().all(|row| row.id != found[0].id) => host.missing(row),
        _ => part,
    }
}

/// Returns whether the part contains everything that the text asks for by name.
pub(crate) fn tells_all(host: &Host<'_>, u: &Understood<'_>, part: &Part) -> bool {
    let hard = hard_terms(host, &asked(u));
    let index = &host.request.index;
    let rows: Vec<_> = part.sources.iter().filter_map(|id| index.get(id)).collect();
    let told = |term: &Term| {
        let called = rows.iter().any(|row| index.is_called(row, term) >= CALLED);
        called || term.is_literally_in(&part.body)
    };
    part.grounded && !part.chat && !rows.is_empty() && !hard.is_empty() && hard.iter().all(told)
}

fn says(host: &Host<'_>, rows: &[Arc<Item>], term: &Term) -> bool {
    rows.iter()
        .any(|row| host.request.index.says(row, term) >= SAID)
}

/// Answers "And on sundays?" with the subject's hours or, for a show, its performances at that
/// time.
fn at_time(host: &Host<'_>, u: &Understood<'_>, rows: &[Arc<Item>]) -> Option<Part> {
    if !u.is_question && !u.continues() {
        return None;
    }
    if rows
        .iter()
        .any(|row| row.category == Category::Entertainment)
    {
        let night = Understood {
            topics: vec![Category::Entertainment],
            is_question: true,
            ..u.clone()
        };
        return place::about_topic(host, &night);
    }
    let timed: Vec<Arc<Item>> = rows
        .iter()
        .filter(|row| row.hours().is_some())
        .cloned()
        .collect();
    (!timed.is_empty())
        .then(|| venue::answer(host, u, &timed))
        .filter(|part| part.grounded)
}

/// Answers from the fields of the subject.
fn of_fields(host: &Host<'_>, u: &Understood<'_>, hard: &[Term], row: &Arc<Item>) -> Option<Part> {
    let asks = u.facets.iter().any(|facet| *facet != "about");
    // If a word of the question is in another row's name or keywords, the question is about that
    // row: "is parking free?"
    let index = &host.request.index;
    let elsewhere = |term: &Term| {
        index
            .current(host.request.now)
            .any(|other| other.id != row.id && index.is_called(other, term) >= CALLED)
    };
    let only = !hard.iter().any(elsewhere) || u.refers() && !u.wants("price");
    // The price of a dish is not the price of the place that serves it.
    let dish = u.wants("price") && hard.iter().any(|term| term.known);
    if !asks || !only || dish {
        return None;
    }
    // The age rule of a pool is in one of its sentences, not in its general description.
    let of_people = u.wants("kids") || u.wants("age");
    Some(venue::answer(host, u, std::slice::from_ref(row)))
        .filter(|part| part.grounded && !(part.is_whole && of_people))
}

/// Answers with the subject's sentence that contains everything asked for.
fn sentence(
    host: &Host<'_>,
    u: &Understood<'_>,
    hard: &[Term],
    rows: &[Arc<Item>],
) -> Option<Part> {
    let index = &host.request.index;
    let terms = sentences::terms(host, u);
    if !hard.iter().all(|term| says(host, rows, term)) {
        return None;
    }
    let keep = |item: &Item, text: &str| {
        rows.iter().any(|row| row.id == item.id) && sentences::meets(u, text)
    };
    let found = index.passages(&terms, host.language, host.request.now, keep);
    let own = |text: &str| hard.is_empty() || hard.iter().any(|term| term.is_in(text) >= SAID);
    let best = found
        .iter()
        .find(|passed| passed.own > 0.0 && own(&passed.text))?;
    Some(reading::tell(host, best))
}
