//! The sentence that stands out among all rows, however much of the question it leaves unsaid.

use std::sync::Arc;

use seven_knowledge::{Category, Item, Passed, Term};

use super::{
    super::{compose::venue, fit::Part, host::Host, understand::Understood},
    SAID,
    demand::Demand,
    tell,
};
use crate::sentences::{fits_topic, in_language, terms};

/// How much of the question it must hold, how much of that by itself, and how far it leads.
const CLEAR: f32 = 0.3;
const CLEAR_OWN: f32 = 0.2;
const LEAD: f32 = 1.35;
/// How old somebody is, and no thing asked about.
const AGE: [&str; 8] = ["year", "years", "old", "yr", "yrs", "ano", "anos", "yo"];

/// Returns the sentence that holds little of the question, but far more than those of any other
/// row, because guests type much beside the point. A thing denied by its name needs the very word,
/// or a phrase that means it.
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
    // Rows of one family say the same: every room its check-out.
    let family: Vec<&str> = found.iter().filter(|p| p.text == best.text).map(|p| p.item.id.as_str()).collect();
    let apart = |other: &&Passed| !family.contains(&other.item.id.as_str());
    let next = found.iter().find(apart).map_or(0.0, worth);
    let hard = || terms.iter().filter(|term| !term.soft);
    let said = |term: &&Term| term.is_in(&best.text) >= SAID || index.is_called(&best.item, term) >= SAID;
    // A word of no other row.
    let own = |term: &&Term| {
        let literal = |item: &Item, text: &str| term.is_literally_in(text) || term.is_literally_in(&item.name);
        literal(&best.item, &best.text) && !found.iter().filter(apart).any(|other| literal(&other.item, &other.text))
    };
    let phrase = |term: &&Term| term.to - term.from > 1 && said(term);
    // A part of what was denied is not the thing: a suite is no presidential suite.
    let whole =
        !denied || hard().any(|term| phrase(&term)) || fits_topic(u, &best.item) && hard().all(|term| said(&term));
    let unique = whole && hard().any(|term| own(&term) || phrase(&term));
    // "Weather tomorrow?" is no question about what closes in bad weather.
    if u.when.is_said() && demand == Demand::Any && hard().count() < 2 {
        return None;
    }
    let enough = if demand == Demand::Any && !unique { 2 } else { 1 };
    let clear = best.score >= CLEAR && best.own >= CLEAR_OWN && worth(best) >= LEAD * next;
    let fits = unique || fits_topic(u, &best.item);
    let told = clear && fits && (unique || !denied) && hard().filter(said).count() >= enough;
    told.then(|| if family.len() > 1 { of_family(host, best) } else { in_full(host, u, best) })
}

/// Where it is and when it is open stand in fields.
pub(crate) fn in_full(host: &Host<'_>, u: &Understood<'_>, best: &Passed) -> Part {
    let timed = u.when.is_said() || ["open", "opens", "closes", "hours"].iter().any(|f| u.wants(f));
    let fields = timed && best.item.hours().is_some() || u.wants("where") && best.item.location().is_some();
    let facts = fields.then(|| venue::answer(host, u, std::slice::from_ref(&best.item))).filter(|part| part.grounded);
    facts.unwrap_or_else(|| tell(host, best))
}

/// Answers with a sentence that several rows share, without naming any one of them.
fn of_family(host: &Host<'_>, best: &Passed) -> Part {
    Part { body: in_language(host, &best.text), ..tell(host, best) }
}

/// The only sentence of a row that holds the kind of thing asked for.
pub(crate) fn only_sentence(host: &Host<'_>, u: &Understood<'_>, row: &Arc<Item>) -> Option<Part> {
    let demand = Demand::of(u);
    let mut told = host.request.index.sentences(row, host.language).filter(|text| demand.met(text));
    let text = told.next().filter(|_| demand != Demand::Any)?.to_owned();
    let passed = Passed { item: Arc::clone(row), text, score: 1.0, own: 1.0, rest: 1.0 };
    told.next().is_none().then(|| tell(host, &passed))
}

/// A sentence of a row that holds the kind of thing asked for, and a word of the question.
pub(crate) fn word_of(host: &Host<'_>, u: &Understood<'_>, row: &Arc<Item>) -> Option<Part> {
    let (demand, terms) = (Demand::of(u), terms(host, u));
    let keep = |item: &Item, text: &str| item.id == row.id && demand.met(text);
    let found = host.request.index.passages(&terms, host.language, host.request.now, keep);
    let literal = |p: &&Passed| terms.iter().any(|term| !term.soft && term.is_literally_in(&p.text));
    let best = found.iter().find(literal).filter(|_| demand != Demand::Any)?;
    Some(tell(host, best))
}

/// The sentence among some that holds most of the question, if it holds any of what is asked by name.
pub(crate) fn best_of(host: &Host<'_>, u: &Understood<'_>, keep: impl Fn(&Item, &str) -> bool) -> Option<Part> {
    let terms = terms(host, u);
    let index = &host.request.index;
    let found = index.passages(&terms, host.language, host.request.now, keep);
    // Companions and their ages are no part of the thing asked for.
    let kin = host.pack.facets.get("kids").map(|kids| kids.places(&u.said)).unwrap_or_default();
    let age = |n: usize| AGE.contains(&u.said.words[n].as_str()) || u.said.words[n].parse::<u32>().is_ok();
    let aside =
        |term: &Term| kin.iter().any(|at| at.0 <= term.from && term.to <= at.1) || (term.from..term.to).all(age);
    let terms: Vec<Term> = terms.into_iter().filter(|term| !aside(term)).collect();
    let named = |p: &&Passed| {
        let said = |term: &Term| term.is_in(&p.text) >= SAID || index.is_called(&p.item, term) >= SAID;
        fits_topic(u, &p.item) && terms.iter().any(|term| !term.soft && said(term))
    };
    found.iter().find(named).map(|best| tell(host, best))
}

/// The only place with hours that says the thing at all: "how late can we swim?"
pub(crate) fn only_place(host: &Host<'_>, u: &Understood<'_>) -> Option<Arc<Item>> {
    let kin = host.pack.facets.get("kids").map(|kids| kids.places(&u.said)).unwrap_or_default();
    let outside = |term: &Term| !term.soft && !kin.iter().any(|at| at.0 <= term.from && term.to <= at.1);
    let terms: Vec<Term> = terms(host, u).into_iter().filter(outside).collect();
    let index = &host.request.index;
    let says = |row: &&Arc<Item>| row.hours().is_some() && terms.iter().all(|term| index.says(row, term) >= SAID);
    let mut rows = index.current(host.request.now).filter(says);
    let row = rows.next().filter(|_| !terms.is_empty())?;
    rows.next().is_none().then(|| Arc::clone(row))
}
