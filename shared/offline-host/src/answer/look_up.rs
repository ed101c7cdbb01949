//! Looks for the answer to a question in three groups of rows, in this order:
//! - the rows that the last reply named,
//! - the rows that the words of the text lead to,
//! - the rows that the search for hosted models finds.

use std::sync::Arc;

use seven_knowledge::{Category, Item, Term, index::is_stop};

use crate::{
    about::{about_topic, about_venue},
    company,
    compose::{chat, events, lookup, rows, services, venue},
    fit::Part,
    focus, follow_up,
    host::Host,
    minors,
    reading::{self, demand::Demand},
    resolve, sentences, subjects,
    understand::Understood,
};

/// Maximum number of words in a question that does not say what it is about.
const MOST_WORDS: usize = 9;
/// The lowest score at which a row counts as mentioning a word of the question.
const SAID: f32 = 0.7;

/// Answers from the fields of rows. If no field answers, uses a sentence of a row. If no sentence
/// fits, tells the guest whom to ask.
pub(super) fn settled(host: &Host<'_>, u: &Understood<'_>, said_now: &[&str]) -> Part {
    let part = of_rows(host, u, said_now);
    let found = !part.sources.is_empty() && !part.is_denial || part.chat;
    let named = (!found).then(|| with_name(host, u, said_now)).flatten();
    let part = named.unwrap_or(part);
    if part.is_sure {
        return part;
    }
    let part = house_hours(host, u, &part).unwrap_or(part);
    subjects::kept(host, u, part, |plain| of_rows(host, plain, said_now))
}

/// Answers "what time do they open" with the casino's own hours if the dialogue named no place.
fn house_hours(host: &Host<'_>, u: &Understood<'_>, part: &Part) -> Option<Part> {
    let asks = ["open", "opens", "closes", "hours"];
    let asks = asks.iter().any(|facet| u.wants(facet)) && u.is_all_said();
    let unnamed = u.topics.is_empty() && u.kinds.is_empty() && u.venues().is_empty();
    let timed = |row: &Arc<Item>| row.hours().is_some();
    let placed = resolve::listed(host).iter().any(timed);
    let open = part.sources.is_empty() && asks && unnamed && !placed;
    open.then(|| lookup::house(host, u)).flatten()
}

/// Answers a question that no row answers as if it named the row of the last reply: "how much do
/// they charge per trip". The answer must be this row's and contain what was asked for.
fn with_name(host: &Host<'_>, u: &Understood<'_>, said_now: &[&str]) -> Option<Part> {
    let rows = resolve::listed(host);
    let [row] = rows.as_slice() else { return None };
    let open = u.is_question || u.asks_fact() || u.points_back;
    let open = open && u.topics.is_empty() && u.kinds.is_empty();
    if !open || !said_now.is_empty() || u.said.words.len() > MOST_WORDS || !u.venues().is_empty() {
        return None;
    }
    let text = format!("{} {}", row.name, u.text);
    let again = Understood::read(host.pack, host.request, &text);
    let part = of_rows(host, &again, said_now);
    let demand = Demand::of(u);
    let (index, terms) = (&host.request.index, sentences::terms(host, u));
    let hard = || terms.iter().filter(|term| !term.soft);
    let says = |term: &Term| index.says(row, term) >= SAID;
    let own = part.grounded && part.sources == [row.id.as_str()];
    if own && demand != Demand::Any && demand.met(&part.body) {
        return Some(part);
    }
    // If the question demands no particular fact, a whole description may answer it. The row must
    // mention a word of the question, and the guest must not have just read the description.
    let told = host.request.history.last();
    let is_new = !told.is_some_and(|last| last.host.contains(&part.body));
    let of_ages = minors::names_a_minor(host, u.text) && part.body.contains('+');
    if own && demand == Demand::Any && is_new && (of_ages || hard().any(says)) {
        return Some(part);
    }
    // If other rows or the lexicon know a word of the question ("corkage") but this row does not
    // mention it, the question is about another thing. A word that is known nowhere may be mere
    // phrasing.
    let elsewhere = hard().any(|term| term.known && !says(term));
    let priced = demand == Demand::Money && row.category == Category::Dining;
    (!elsewhere && !priced)
        .then(|| reading::only_sentence(host, u, row))
        .flatten()
}

/// Answers from the rows that the last reply named, else from those that the text leads to.
fn of_rows(host: &Host<'_>, u: &Understood<'_>, said_now: &[&str]) -> Part {
    if services::is_untold(host, u) {
        return host.unanswered();
    }
    if let Some(part) = services::answer(host, u).or_else(|| eats_there(host, u)) {
        return Part {
            is_sure: true,
            ..part
        };
    }
    let of_subject = company::age_rule(host, u).or_else(|| focus::answer(host, u));
    match of_subject {
        Some(part) if part.grounded => part,
        // If the row that the question is about does not answer it, another row may. That row must
        // contain everything asked for.
        Some(missing) => {
            let part = found(host, u, said_now);
            if focus::tells_all(host, u, &part) {
                return part;
            }
            // Keeps the staff request that names the row, so that questions about different rows
            // open different cases.
            Part {
                staff: missing.staff,
                ..host.unanswered()
            }
        }
        None => {
            let part = found(host, u, said_now);
            if let Some(row) = of_last_row(host, u, &part) {
                return Part {
                    is_sure: true,
                    ..host.missing(&row)
                };
            }
            let retrieved = || lookup::retrieved(host, u);
            let unnamed = part.sources.is_empty() && !part.is_denial && u.venues().is_empty();
            let open = part.intent == "unanswered" && unnamed;
            open.then(retrieved).flatten().unwrap_or(part)
        }
    }
}

/// Returns the row of the last reply if the question is about a thing that this row mentions ("what
/// does the tournament cost") and `part` is about another row, whose name lacks the thing.
fn of_last_row(host: &Host<'_>, u: &Understood<'_>, part: &Part) -> Option<Arc<Item>> {
    let listed = resolve::listed(host);
    let [row] = listed.as_slice() else {
        return None;
    };
    let elsewhere = !part.sources.is_empty() && !part.sources.contains(&row.id);
    if !elsewhere || !u.is_question || u.venues().iter().any(|mention| mention.whole) {
        return None;
    }
    let index = &host.request.index;
    let others: Vec<_> = part.sources.iter().filter_map(|id| index.get(id)).collect();
    let said = &u.said.words;
    let is_meant = |at: usize| {
        let (article, thing) = (said[at - 1].as_str(), &said[at]);
        ["the", "el", "la"].contains(&article)
            && !is_stop(thing)
            && !host.pack.ignores(thing)
            && rows::has_word(&host.description(row), thing)
            && !others.iter().any(|other| lookup::in_name(other, thing))
    };
    (1..said.len()).any(is_meant).then(|| Arc::clone(row))
}

/// Answers "can we eat there?" about the row of the last reply.
fn eats_there(host: &Host<'_>, u: &Understood<'_>) -> Option<Part> {
    let only_food = u.topics == [Category::Dining] && u.kinds.is_empty() && u.venues().is_empty();
    if !(only_food && u.is_question && u.points_there()) {
        return None;
    }
    match resolve::listed(host).as_slice() {
        [row] if row.category == Category::Dining => Some(venue::info(host, row)),
        [row] => reading::only_sentence(host, u, row),
        _ => None,
    }
}

/// Answers from the fields or a sentence of the rows that the text itself leads to.
fn found(host: &Host<'_>, u: &Understood<'_>, said_now: &[&str]) -> Part {
    let part = reading::honest(host, u, part(host, u, said_now));
    let part = focus::honest(host, u, part);
    let open = part.intent == "unanswered"
        || (part.chat && u.is_question && !u.leftover.is_empty())
        || (matches!(part.intent.as_str(), "unclear" | "statement") && u.leftover.len() > 1);
    let open =
        open && !["identity", "complaint", "human", "allergy"].contains(&part.intent.as_str());
    let open = open && !services::is_untold(host, u);
    // A question about what guests may do is not answered from a restaurant, show or spa row.
    let of_rule = |found: &Part| {
        let index = &host.request.index;
        let mut rows = found.sources.iter().filter_map(|id| index.get(id));
        let sold = |item: &Item| {
            matches!(
                item.category,
                Category::Dining | Category::Entertainment | Category::Spa
            )
        };
        !u.intends("rules") || !rows.any(|row| sold(row))
    };
    let found = || reading::fallback(host, u, said_now, part.is_denial).filter(of_rule);
    if open && let Some(found) = found() {
        found
    } else {
        part
    }
}

fn part(host: &Host<'_>, u: &Understood<'_>, said_now: &[&str]) -> Part {
    if u.said.words.is_empty() {
        return chat::say(host, "unclear");
    }
    if u.intends("allergy") && u.venues().is_empty() && u.kinds.is_empty() {
        return chat::firm(chat::say(host, "allergy"));
    }
    if u.intends("rules") {
        return lookup::rule(host, u).unwrap_or_else(|| host.unanswered());
    }
    follow_up::of_last(host, u, said_now)
        .or_else(|| reading::exact(host, u))
        .or_else(|| events::at_place(host, u))
        .or_else(|| follow_up::of_other(host, u, said_now))
        .or_else(|| about_venue(host, u))
        .or_else(|| lookup::by_name(host, u))
        .or_else(|| follow_up::answer(host, u, said_now))
        .or_else(|| contact(host, u))
        .or_else(|| about_topic(host, u))
        .or_else(|| events::found(host, u).or_else(|| events::on_that_day(host, u)))
        .or_else(|| lookup::anything(host, u))
        .or_else(|| chat::small_talk(host, u))
        .unwrap_or_else(|| {
            if u.is_question || u.asks_fact() {
                host.unanswered()
            } else {
                chat::say(host, "unclear")
            }
        })
}

/// Gives the casino's phone number if the guest asks for a phone and names no place.
fn contact(host: &Host<'_>, u: &Understood<'_>) -> Option<Part> {
    let house =
        u.wants("phone") && u.leftover.is_empty() && u.topics.is_empty() && u.venues().is_empty();
    house.then(|| host.part("contact", host.say("contact", &[]), &[]))
}
