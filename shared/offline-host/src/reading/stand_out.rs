//! Finds a sentence that matches far better than the sentences of all other rows, even if it
//! contains little of the question.

use std::sync::Arc;

use seven_knowledge::{Category, Item, Passed, Term};

use super::{
    super::{
        compose::{rows::has_word, venue},
        fit::Part,
        host::Host,
        understand::Understood,
    },
    SAID,
    demand::Demand,
    tell,
};
use crate::sentences::{fits_topic, terms};

/// Conditions for the best sentence:
/// - The sentence and its row together must contain at least `CLEAR` of the question.
/// - The sentence alone must contain at least `CLEAR_OWN` of the question.
/// - The sum of these two shares must be at least `LEAD` times that of the next row.
const CLEAR: f32 = 0.3;
const CLEAR_OWN: f32 = 0.2;
const LEAD: f32 = 1.35;
/// Words that state a person's age and name no thing.
const AGE: [&str; 8] = ["year", "years", "old", "yr", "yrs", "ano", "anos", "yo"];

/// Answers with a sentence that clearly matches best, even if it contains little of a long
/// question. If an earlier attempt said that the thing is not listed, the sentence or its row must
/// contain the thing's whole name.
pub(crate) fn clearly(
    host: &Host<'_>,
    u: &Understood<'_>,
    demand: Demand,
    terms: &[Term],
    denied: bool,
) -> Option<Part> {
    let index = &host.request.index;
    let calendar = |item: &Item| u.when.is_said() && item.category == Category::Entertainment;
    let keep = |item: &Item, text: &str| demand.met(text) && !calendar(item);
    let found = index.passages(terms, host.language, host.request.now, keep);
    let best = found.first()?;
    let worth = |passed: &Passed| passed.score + passed.own;
    // Several rows may have the same best sentence, such as the check-out time of every room. Such
    // rows are not compared with each other.
    let family: Vec<&str> = found
        .iter()
        .filter(|p| p.text == best.text)
        .map(|p| p.item.id.as_str())
        .collect();
    let apart = |other: &&Passed| !family.contains(&other.item.id.as_str());
    let next = found.iter().find(apart).map_or(0.0, worth);
    let hard = || terms.iter().filter(|term| !term.soft);
    let said =
        |term: &&Term| term.is_in(&best.text) >= SAID || index.is_called(&best.item, term) >= SAID;
    // Returns whether this row alone contains the term.
    let own = |term: &&Term| {
        let literal = |item: &Item, text: &str| {
            term.is_literally_in(text) || term.is_literally_in(&item.name)
        };
        literal(&best.item, &best.text)
            && !found
                .iter()
                .filter(apart)
                .any(|other| literal(&other.item, &other.text))
    };
    let phrase = |term: &&Term| term.to - term.from > 1 && said(term);
    // If an earlier attempt said that the thing is not listed, a part of its name is not enough: a
    // suite is not a presidential suite.
    let whole = !denied
        || hard().any(|term| phrase(&term))
        || fits_topic(u, &best.item) && hard().all(|term| said(&term));
    let unique = whole && hard().any(|term| own(&term) || phrase(&term));
    // If the question has a time and only one other word, it is too vague: "Weather tomorrow?" does
    // not ask which place closes in bad weather.
    if u.when.is_said() && demand == Demand::Any && hard().count() < 2 {
        return None;
    }
    let enough = if demand == Demand::Any && !unique {
        2
    } else {
        1
    };
    let clear = best.score >= CLEAR && best.own >= CLEAR_OWN && worth(best) >= LEAD * next;
    let fits = unique || fits_topic(u, &best.item);
    let told = clear && fits && (unique || !denied) && hard().filter(said).count() >= enough;
    told.then(|| {
        if family.len() > 1 {
            of_family(host, best)
        } else {
            in_full(host, u, best)
        }
    })
}

/// Answers with the sentence. If the question asks where or when, answers from the row's fields
/// instead, which have the location and the hours.
pub(crate) fn in_full(host: &Host<'_>, u: &Understood<'_>, best: &Passed) -> Part {
    let timed = u.when.is_said()
        || ["open", "opens", "closes", "hours"]
            .iter()
            .any(|f| u.wants(f));
    let fields =
        timed && best.item.hours().is_some() || u.wants("where") && best.item.location().is_some();
    let facts = fields
        .then(|| venue::answer(host, u, std::slice::from_ref(&best.item)))
        .filter(|part| part.grounded);
    facts.unwrap_or_else(|| tell(host, best))
}

/// Answers with a sentence that several rows share, and names none of them.
fn of_family(host: &Host<'_>, best: &Passed) -> Part {
    Part {
        body: best.text.clone(),
        ..tell(host, best)
    }
}

/// Answers with the row's sentence that contains the kind of thing asked for, if there is only one.
pub(crate) fn only_sentence(host: &Host<'_>, u: &Understood<'_>, row: &Arc<Item>) -> Option<Part> {
    let demand = Demand::of(u);
    let mut told = host
        .request
        .index
        .sentences(row, host.language)
        .filter(|text| demand.met(text));
    let text = told.next().filter(|_| demand != Demand::Any)?.to_owned();
    let passed = whole(row, text);
    told.next().is_none().then(|| tell(host, &passed))
}

/// Returns a sentence of the row as one that answers the whole question.
fn whole(row: &Arc<Item>, text: String) -> Passed {
    Passed {
        item: Arc::clone(row),
        text,
        score: 1.0,
        own: 1.0,
        rest: 1.0,
    }
}

/// Answers with the row's sentence that names a time and, literally, most of the words that the
/// question leaves open: "when does the last one leave".
pub(crate) fn timed_sentence(host: &Host<'_>, u: &Understood<'_>, row: &Arc<Item>) -> Option<Part> {
    let demand = Demand::of(u);
    let own = |word: &&String| word.as_str() != "one" && !has_word(&row.name, word);
    let asked: Vec<&String> = u.leftover.iter().filter(own).collect();
    let held = |text: &str| asked.iter().filter(|word| has_word(text, word)).count();
    let sentences = host.request.index.sentences(row, host.language);
    let best = sentences
        .filter(|text| demand != Demand::Any && demand.met(text) && held(text) > 0)
        .max_by_key(|text| held(text))?;
    Some(tell(host, &whole(row, best.to_owned())))
}

/// Answers with a sentence of the row. The sentence must contain the kind of thing asked for and a
/// word of the question.
pub(crate) fn word_of(host: &Host<'_>, u: &Understood<'_>, row: &Arc<Item>) -> Option<Part> {
    let (demand, terms) = (Demand::of(u), terms(host, u));
    let keep = |item: &Item, text: &str| item.id == row.id && demand.met(text);
    let found = host
        .request
        .index
        .passages(&terms, host.language, host.request.now, keep);
    let literal = |p: &&Passed| {
        terms
            .iter()
            .any(|term| !term.soft && term.is_literally_in(&p.text))
    };
    let best = found
        .iter()
        .find(literal)
        .filter(|_| demand != Demand::Any)?;
    Some(tell(host, best))
}

/// Answers with the best sentence that `keep` accepts. The sentence or its row's name must contain
/// a term of the question.
pub(crate) fn best_of(
    host: &Host<'_>,
    u: &Understood<'_>,
    keep: impl Fn(&Item, &str) -> bool,
) -> Option<Part> {
    let terms = terms(host, u);
    let index = &host.request.index;
    let found = index.passages(&terms, host.language, host.request.now, keep);
    // Companions and their ages are not part of the thing asked for.
    let kin = host
        .pack
        .facets
        .get("kids")
        .map(|kids| kids.places(&u.said))
        .unwrap_or_default();
    let age = |n: usize| {
        AGE.contains(&u.said.words[n].as_str()) || u.said.words[n].parse::<u32>().is_ok()
    };
    let aside = |term: &Term| {
        kin.iter().any(|at| at.0 <= term.from && term.to <= at.1) || (term.from..term.to).all(age)
    };
    let terms: Vec<Term> = terms.into_iter().filter(|term| !aside(term)).collect();
    let named = |p: &&Passed| {
        let said =
            |term: &Term| term.is_in(&p.text) >= SAID || index.is_called(&p.item, term) >= SAID;
        fits_topic(u, &p.item) && terms.iter().any(|term| !term.soft && said(term))
    };
    found.iter().find(named).map(|best| tell(host, best))
}

/// Returns the only place with hours that mentions everything asked for: "how late can we swim?"
pub(crate) fn only_place(host: &Host<'_>, u: &Understood<'_>) -> Option<Arc<Item>> {
    let kin = host
        .pack
        .facets
        .get("kids")
        .map(|kids| kids.places(&u.said))
        .unwrap_or_default();
    let outside =
        |term: &Term| !term.soft && !kin.iter().any(|at| at.0 <= term.from && term.to <= at.1);
    let terms: Vec<Term> = terms(host, u).into_iter().filter(outside).collect();
    let index = &host.request.index;
    let says = |row: &&Arc<Item>| {
        row.hours().is_some() && terms.iter().all(|term| index.says(row, term) >= SAID)
    };
    let mut rows = index.current(host.request.now).filter(says);
    let row = rows.next().filter(|_| !terms.is_empty())?;
    rows.next().is_none().then(|| Arc::clone(row))
}
