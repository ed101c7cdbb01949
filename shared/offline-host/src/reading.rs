//! Finds the one sentence of the rows that answers a question, and says when there is none.

pub(crate) mod demand;
mod stand_out;

use std::sync::Arc;

use demand::Demand;
use seven_knowledge::{Category, Item, Passed, Term};
use stand_out::{clearly, in_full};

use super::{
    compose::venue,
    fit::{Part, leading_sentences},
    host::Host,
    understand::Understood,
};
use crate::{
    exchanges,
    sentences::{HALF_SAID, fits_topic, named, named_sentence, terms},
};

pub(super) use stand_out::{best_of, only_place, only_sentence, timed_sentence, word_of};

/// A sentence may answer before anything else is tried. Then the sentence and its row must together
/// contain at least `SURE` of the question. The sentence must contain at least `SURE_REST` of the
/// words that the row's name and keywords lack.
const SURE: f32 = 0.8;
const SURE_REST: f32 = 0.6;
/// A sentence may answer if nothing else has. Then the sentence and its row must together contain
/// at least `LIKELY` of the question, and the sentence alone at least `LIKELY_OWN`.
const LIKELY: f32 = 0.6;
const LIKELY_OWN: f32 = 0.25;
/// The lowest score at which a row counts as mentioning a term (a word or phrase of the question);
/// `ALMOST_SAID` is stricter.
const SAID: f32 = 0.7;
const ALMOST_SAID: f32 = 0.82;
/// Answers with a sentence that contains everything asked for, including a thing that the row's
/// name does not contain: "how much is the ribeye?"
pub(crate) fn exact(host: &Host<'_>, u: &Understood<'_>) -> Option<Part> {
    let demand = Demand::of(u);
    let structured = ["dress", "dietary", "reservations", "phone"]
        .iter()
        .any(|f| u.wants(f));
    // A question about events for children at a certain time is answered with the list of coming
    // shows.
    let calendar = u.wants("kids") && u.when.is_said();
    if structured
        || calendar
        || u.intends("cheapest")
        || u.intends("booking") && demand == Demand::Any
    {
        return None;
    }
    let terms = terms(host, u);
    let named = named(u, &terms);
    let keep = |item: &Item, text: &str| {
        demand.met(text) && (named.is_empty() || named.iter().any(|own| own.name == item.name))
    };
    let index = &host.request.index;
    let found = index.passages(&terms, host.language, host.request.now, keep);
    let best = found.first()?;
    let drinks = u
        .kinds
        .iter()
        .any(|kind| kind.field == super::pack::Field::Subcategory);
    if u.topics.is_empty() && drinks && best.item.category == Category::Entertainment {
        return None;
    }
    let specific = |term: &Term| {
        !term.soft
            && is_only_in(best, term)
            && (fits_topic(u, &best.item) || term.is_literally_in(&best.text))
    };
    let sure = best.score >= SURE && best.rest >= SURE_REST && terms.iter().any(specific);
    let hard = terms.iter().filter(|term| !term.soft).count();
    // A phrase such as "check out" counts as much as two words.
    let phrase = || {
        terms
            .iter()
            .any(|t| !t.soft && t.to - t.from > 1 && t.is_literally_in(&best.text))
    };
    // If the question names other categories than the sentence's, the sentence or its row's name
    // must contain every word literally: "rooms with a kitchen", "haute cuisine".
    let apart = !fits_topic(u, &best.item);
    let literal =
        |term: &Term| term.is_literally_in(&best.text) || term.is_literally_in(&best.item.name);
    let held = |term: &Term| term.soft || literal(term);
    if apart && !terms.iter().all(held) {
        return None;
    }
    let about_shows = u.when.is_said() && u.about(&Category::Entertainment);
    let whole = demand != Demand::Any && !about_shows
        || (plain(u) && (phrase() || hard > 1 && !u.when.is_said()));
    (sure && whole).then(|| tell(host, best))
}

/// Returns whether the question needs neither a field of a row nor a list of rows.
fn plain(u: &Understood<'_>) -> bool {
    !u.wants("where") && !u.wants("open") && !u.intends("listing") && !u.intends("recommend")
}

/// Returns whether the sentence mentions the term and the row's name does not.
fn is_only_in(passed: &Passed, term: &Term) -> bool {
    let here = term.is_in(&passed.text);
    here >= SAID && term.is_in(&passed.item.name) < here - 0.1
}

/// Answers with the best sentence, if nothing else has answered.
pub(crate) fn fallback(
    host: &Host<'_>,
    u: &Understood<'_>,
    _said_now: &[&str],
    denied: bool,
) -> Option<Part> {
    let (demand, terms) = (Demand::of(u), terms(host, u));
    let index = &host.request.index;
    // Two cases need a much better match: an unknown word may be the point of the question, and a
    // remark may ask for nothing.
    let strange = terms.iter().any(|term| !term.known && !term.soft) && named(u, &terms).is_empty();
    if strange || !u.is_question && !u.asks_fact() && !u.intends("rules") {
        return clearly(host, u, demand, &terms, denied);
    }
    let mut rows: Vec<String> = named(u, &terms)
        .iter()
        .map(|item| item.name.clone())
        .collect();
    if rows.is_empty() && (u.points_back || u.continues() || terms.len() < 2) {
        rows = exchanges::last_names(host);
    }
    let named = !named(u, &terms).is_empty();
    let hard = terms.iter().any(|term| !term.soft);
    let of_rows = |item: &Item| rows.contains(&item.name);
    // If an earlier attempt said that the thing is not listed, only a row or sentence with the word
    // itself may answer: an orchestra is not an opera.
    let named_there = |p: &Passed, term: &Term| {
        term.is_literally_in(&p.text) || index.is_called(&p.item, term) >= ALMOST_SAID
    };
    let place = |item: &Item| fits_topic(u, item) || item.category == Category::GeneralInfo;
    let wished = |item: &Item| u.wishes.iter().all(|wish| wish.fits(item));
    let literal = |p: &Passed| {
        place(&p.item)
            && wished(&p.item)
            && terms.iter().all(|term| term.soft || named_there(p, term))
    };
    let hards = terms.iter().filter(|term| !term.soft).count();
    // If the question has a time and only one other word, it is too vague: "Weather tomorrow?" does
    // not ask which place closes in bad weather.
    let timely = !u.when.is_said() || demand != Demand::Any || hards > 1;
    let likely =
        |p: &&Passed| p.score >= LIKELY && p.own >= LIKELY_OWN && timely && (!denied || literal(p));
    if !rows.is_empty() {
        let found = index.passages(&terms, host.language, host.request.now, |item, text| {
            of_rows(item) && demand.met(text)
        });
        // For a named place, a sentence with the demanded kind of fact is enough, if the place's
        // row mentions all terms of the question.
        let kind = |p: &&Passed| {
            demand != Demand::Any
                && terms
                    .iter()
                    .all(|term| term.soft || index.says(&p.item, term) >= 0.5)
        };
        let best = found
            .iter()
            .find(|p| hard && likely(p))
            .or_else(|| found.iter().find(kind));
        if let Some(best) = best {
            return Some(tell(host, best));
        }
    }
    let found = index.passages(&terms, host.language, host.request.now, |item, text| {
        // A question about shows at a certain time is answered with the list of coming shows.
        let calendar = u.when.is_said() && item.category == Category::Entertainment;
        demand.met(text) && !calendar && (rows.is_empty() || !named || of_rows(item))
    });
    if let Some(best) = found.iter().find(|p| hard && likely(p)) {
        return Some(in_full(host, u, best));
    }
    // Returns whether a row's name or keywords contain everything asked for.
    let called = |p: &Passed| {
        (!denied || literal(p))
            && terms
                .iter()
                .all(|term| term.soft || index.is_called(&p.item, term) >= SAID)
    };
    if let Some(row) = found.iter().find(|best| hard && called(best)) {
        let part = venue::answer(host, u, std::slice::from_ref(&row.item));
        return part.grounded.then_some(part);
    }
    clearly(host, u, demand, &terms, denied)
}

/// Checks the answer `part`. If it contains nothing of the question or is about another place, says
/// instead that the detail is missing.
pub(crate) fn honest(host: &Host<'_>, u: &Understood<'_>, part: Part) -> Part {
    let asks = u.is_question || u.asks_fact() || part.intent == "booking";
    if !part.grounded || part.chat || !asks || (part.sources.is_empty() && part.intent != "booking")
    {
        return part;
    }
    let index = &host.request.index;
    let terms: Vec<Term> = terms(host, u)
        .into_iter()
        .filter(|term| !term.soft)
        .collect();
    let named = named(u, &terms);
    // An unknown name, as in "A table at Nobu" or "Coyote Wash buffet", is a place that the content
    // does not have.
    if named.is_empty() && terms.iter().any(|term| is_place(u, term)) {
        return host.unanswered();
    }
    let rows: Vec<_> = part.sources.iter().filter_map(|id| index.get(id)).collect();
    let Some(row) = rows.first() else { return part };
    if matches!(row.category, Category::Regulations | Category::Promotions) {
        return part;
    }
    let demand = Demand::of(u);
    let unmet = demand == Demand::Money && !demand.met(&part.body);
    let said = |term: &Term| {
        term.is_in(&part.body) >= HALF_SAID
            || rows.iter().any(|row| index.says(row, term) >= HALF_SAID)
    };
    let beside = |term: &&Term| !rows.iter().any(|row| index.is_called(row, term) >= SAID);
    let asked: Vec<&Term> = terms.iter().filter(beside).collect();
    // The price range of a place is not the price of a dish.
    let other = demand == Demand::Money
        && part.is_price_range
        && asked
            .iter()
            .any(|term| !is_meal(u, term) && !is_kind(u, term))
        && !part.body.contains(|c: char| c.is_ascii_digit());
    let met = demand != Demand::Any && demand.met(&part.body);
    // The pack may say that "piano" also means "live music".
    let wished = u
        .wishes
        .iter()
        .any(|wish| rows.iter().any(|row| wish.fits(row)));
    let strange = !wished
        && !met
        && part.is_whole
        && !u.wants("about")
        && !asked.is_empty()
        && !asked.iter().any(|term| said(term));
    match (unmet || other, strange) {
        (true, _) => Part {
            is_denial: strange,
            ..host.missing(row)
        },
        (false, true) => partly(host, &part),
        (false, false) => part,
    }
}

/// Returns the row's answer and adds that people can tell the rest. The guest may have used a word
/// that the host does not know.
pub(crate) fn partly(host: &Host<'_>, part: &Part) -> Part {
    let rest = host.say("missing_rest", &[]);
    let told = leading_sentences(&part.body, |text| host.room.two(&format!("{text} {rest}")));
    let (intent, body) = ("unanswered".to_owned(), format!("{told} {rest}"));
    Part {
        intent,
        body,
        sources: part.sources.clone(),
        grounded: false,
        is_denial: true,
        ..Part::default()
    }
}

/// Returns whether the term is a general word for a meal, which any place may serve.
fn is_meal(u: &Understood<'_>, term: &Term) -> bool {
    const MEAL: [&str; 9] = [
        "dinner", "cena", "cenar", "comer", "comida", "eat", "eating", "meal", "food",
    ];
    (term.from..term.to).all(|n| MEAL.contains(&u.said.words[n].as_str()))
}

/// Returns whether the term is a kind of place and not a dish: "how expensive is the steakhouse?"
fn is_kind(u: &Understood<'_>, term: &Term) -> bool {
    let dish = |kind: &&super::pack::Kind| kind.field == super::pack::Field::Serves;
    !u.kinds.iter().any(dish)
        && u.kind_places
            .iter()
            .any(|at| at.0 <= term.from && term.to <= at.1)
}

/// Returns whether the term is an unknown word where names usually occur, as in "at nobu".
fn is_place(u: &Understood<'_>, term: &Term) -> bool {
    let before = term.from.checked_sub(1).map(|n| u.said.words[n].as_str());
    !term.known
        && matches!(
            before,
            None | Some("at" | "en" | "called" | "is" | "the" | "el" | "la")
        )
}

/// Answers with the sentence, and adds the row's name if the sentence does not contain it.
pub(crate) fn tell(host: &Host<'_>, passed: &Passed) -> Part {
    told(host, &passed.item, &passed.text)
}

/// Answers with a sentence of the row.
pub(crate) fn told(host: &Host<'_>, row: &Arc<Item>, text: &str) -> Part {
    if row.category == Category::Promotions {
        // The value of a promotion is in a field and not in the sentence.
        return venue::info(host, row);
    }
    let body = named_sentence(host, row, text);
    let intent = match row.category {
        Category::Dining => "venue_info",
        Category::Entertainment => "events",
        Category::GeneralInfo => "general",
        ref other => other.as_str(),
    };
    host.part(intent, body, std::slice::from_ref(row))
}
