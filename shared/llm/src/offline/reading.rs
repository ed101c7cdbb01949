//! Reading rows for the one sentence that answers, and being honest when none does.

mod demand;

use seven_knowledge::{Category, Item, Passed, Term, index::is_stop, text::words};

use super::{answer::Host, fit::Part, follow_up, understand::Understood};
use demand::Demand;

/// Share of the question that a sentence must hold with its row to be the answer whatever else was understood, and the share it must
/// hold itself.
const SURE: f32 = 0.8;
const SURE_OWN: f32 = 0.3;
/// The same where nothing else answers.
const LIKELY: f32 = 0.6;
const LIKELY_OWN: f32 = 0.25;
/// From here on a row says a term.
const SAID: f32 = 0.7;

/// Phrases that say what is wanted of a thing, not which thing.
const SPENT: [&str; 11] =
    ["open", "opens", "closes", "hours", "price", "where", "phone", "duration", "about", "starts", "age"];
const SPENT_INTENTS: [&str; 9] =
    ["greeting", "thanks", "listing", "recommend", "cheapest", "rules", "help", "ack", "booking"];
const MEALS: [&str; 8] = ["lunch", "dinner", "supper", "noon", "almuerzo", "cena", "lunchtime", "mediodia"];

/// What of the question must be found in a row.
pub(super) fn terms(host: &Host<'_>, u: &Understood<'_>) -> Vec<Term> {
    let pack = host.pack;
    let tables = [(&pack.facets, SPENT.as_slice()), (&pack.intents, SPENT_INTENTS.as_slice())];
    let mut spent: Vec<(usize, usize)> = Vec::new();
    for (table, keys) in tables {
        spent.extend(keys.iter().filter_map(|key| table.get(*key)).flat_map(|phrases| phrases.places(&u.said)));
    }
    let times = pack.times.values().flat_map(|phrases| phrases.places(&u.said));
    let said = &u.said.words;
    spent.extend(times.filter(|(from, to)| !said[*from..*to].iter().any(|word| MEALS.contains(&word.as_str()))));
    let house = words(&host.request.casino_name);
    let idle = |n: usize| {
        let word = &said[n];
        let inside = spent.iter().any(|(from, to)| (*from..*to).contains(&n));
        inside
            || is_stop(word)
            || pack.ignore.contains(word)
            || house.contains(word)
            || word.starts_with(|c: char| c.is_ascii_digit())
    };
    let named = |t: &Term| u.mentions.iter().any(|m| m.telling && m.from <= t.from && t.to <= m.to);
    let all = host.request.index.terms(u.text);
    all.into_iter().filter(|t| named(t) || !(t.from..t.to.min(said.len())).all(idle)).collect()
}

/// Rows the question names, when it names any.
fn named<'u>(u: &'u Understood<'_>) -> Vec<&'u Item> {
    let whole = u.mentions.iter().any(|m| m.telling && m.whole);
    u.mentions.iter().filter(|m| m.telling && (m.whole || !whole)).map(|m| m.item.as_ref()).collect()
}

/// A sentence that says all that was asked, of something a row tells about and is not called: "how much is the ribeye?"
pub(super) fn exact(host: &Host<'_>, u: &Understood<'_>) -> Option<Part> {
    let demand = Demand::of(host, u);
    let structured = ["dress", "dietary", "reservations", "phone"].iter().any(|f| u.wants(f));
    if structured || u.intends("cheapest") || u.intends("booking") && demand == Demand::Any {
        return None;
    }
    let terms = terms(host, u);
    let named = named(u);
    let keep = |item: &Item, text: &str| {
        demand.met(text) && (named.is_empty() || named.iter().any(|own| own.name == item.name))
    };
    let found = host.request.index.passages(&terms, host.language, host.request.now, keep);
    let best = found.first()?;
    let specific = terms.iter().any(|term| is_only_in(best, term));
    let sure = best.score >= SURE && best.own >= SURE_OWN && specific;
    let whole = demand != Demand::Any || (terms.len() > 1 && best.own >= 0.6 && !u.when.is_said() && plain(u));
    (sure && whole).then(|| tell(host, best))
}

/// Nothing of it has a field of its own in the rows.
fn plain(u: &Understood<'_>) -> bool {
    !u.wants("where") && !u.wants("open") && !u.intends("listing") && !u.intends("recommend")
}

/// The sentence says it, and the row's name does not.
fn is_only_in(passed: &Passed, term: &Term) -> bool {
    term.is_in(&passed.text) >= SAID && term.is_in(&passed.item.name) < SAID
}

/// The best sentence where nothing else answered.
pub(super) fn fallback(host: &Host<'_>, u: &Understood<'_>, said_now: &[&str]) -> Option<Part> {
    if !u.is_question && !u.asks_fact() {
        return None;
    }
    let (demand, terms) = (Demand::of(host, u), terms(host, u));
    let index = &host.request.index;
    // A word that no row and no lexicon knows may be all the question is about.
    if terms.iter().any(|term| !term.known) && named(u).is_empty() {
        return None;
    }
    let mut rows: Vec<String> = named(u).iter().map(|item| item.name.clone()).collect();
    if rows.is_empty() && (u.points_back || u.continues() || terms.len() < 2) {
        rows = follow_up::last_names(host, said_now);
    }
    let of_rows = |item: &Item| rows.contains(&item.name);
    let likely = |p: &&Passed| p.score >= LIKELY && p.own >= LIKELY_OWN;
    if !rows.is_empty() {
        let found =
            index.passages(&terms, host.language, host.request.now, |item, text| of_rows(item) && demand.met(text));
        // Of a named place any sentence of the kind asked for will do, when nothing asked is strange to it.
        let kind = |p: &&Passed| demand != Demand::Any && terms.iter().all(|term| index.says(&p.item, term) >= 0.5);
        if let Some(best) = found.iter().find(likely).or_else(|| found.iter().find(kind)) {
            return Some(tell(host, best));
        }
        if !named(u).is_empty() {
            return None;
        }
    }
    let found = index.passages(&terms, host.language, host.request.now, |_, text| demand.met(text));
    found.iter().find(likely).map(|best| tell(host, best))
}

/// A figure was asked for and the answer holds none: says so instead.
pub(super) fn honest(host: &Host<'_>, u: &Understood<'_>, part: Part) -> Part {
    let demand = Demand::of(host, u);
    if !part.grounded || part.chat || part.sources.is_empty() || !demand.is_figure() || demand.met(&part.body) {
        return part;
    }
    let row = part.sources.first().and_then(|id| host.request.index.get(id));
    match row {
        Some(row) if !matches!(row.category, Category::Regulations | Category::Promotions) => missing(host, row),
        _ => part,
    }
}

fn missing(host: &Host<'_>, row: &Item) -> Part {
    let body = host.say("missing", &[("name", &host.name(row))]);
    Part { grounded: false, ..host.part("unanswered", body, &[]) }
}

/// The sentence, with the name of its row where it says it not.
fn tell(host: &Host<'_>, passed: &Passed) -> Part {
    let row = &passed.item;
    let name = host.name(row);
    let text = if host.language == seven_domain::Language::Es {
        super::fit::plain_spanish(&passed.text)
    } else {
        passed.text.clone()
    };
    let rule = matches!(row.category, Category::Regulations | Category::GeneralInfo);
    let body = if rule || text.contains(&name) { text } else { format!("{name}: {text}") };
    let intent = match row.category {
        Category::Dining => "venue_info",
        Category::Entertainment => "events",
        Category::GeneralInfo => "general",
        ref other => other.as_str(),
    };
    host.part(intent, body, std::slice::from_ref(row))
}
