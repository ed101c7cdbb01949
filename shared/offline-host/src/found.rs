//! Answers from the facts that the finder finds (D48), where they are worth more to the guest than
//! the answer that the words of the text led to.

use std::sync::Arc;

use seven_domain::Language;
use seven_knowledge::Item;

use crate::{
    acts::Act,
    adults::{is_allowed, says_adults_only},
    choice::{self, Answer},
    compose::{
        chat,
        venue::{self, TIMED},
    },
    facts::{Fact, Telling},
    finding::{Findings, Found},
    fit::Part,
    host::Host,
    reading, resolve, suggest,
    understand::Understood,
    weighing,
};

/// The lowest probability at which a fact that the answer lacks is told instead.
const LACKED: f32 = 0.6;
/// A fact is told beside the best one if it is at least this share as probable.
const BESIDE: f32 = 0.4;

/// Returns the answer, and its act, that is worth more than `parts`, the answer that the words of
/// the text led to; `None` if that answer is kept.
pub(crate) fn instead(
    host: &Host<'_>,
    act: Act,
    u: &Understood<'_>,
    parts: &[Part],
) -> Option<(Act, Part)> {
    let sure = act == Act::Ask && parts.iter().any(|part| part.is_sure);
    // Dates and further suggestions are counted from the state of the dialogue, which the finder
    // does not read.
    let counted = matches!(act, Act::More | Act::Reject)
        || u.when.is_said() && parts.iter().any(|part| part.intent == "events");
    let told: Vec<&Part> = parts.iter().filter(|part| is_told(part)).collect();
    let barred = tells_barred(host, u, &told);
    if act.is_final() || (sure || counted) && !barred {
        return None;
    }
    let found = host.found()?;
    let inputs = weighing::inputs(host, act, u, parts, found);
    if let Some(observer) = host.observer() {
        observer.see(weighing::weighed(host, u, parts, found, inputs.clone()));
    }
    for answer in choice::ranked(&inputs) {
        let other = match answer {
            Answer::Words if barred => None,
            Answer::Words => return instead_of_words(host, act, u, found, &told),
            Answer::Facts if !barred && tells_best(found, &told) => {
                return instead_of_words(host, act, u, found, &told);
            }
            Answer::Facts => tell(host, u, &found.rows).map(|part| (act, part)),
            Answer::Suggestion | Answer::PassedOn
                if act.proposes() && !told.is_empty() && !barred =>
            {
                return None;
            }
            Answer::Suggestion => suggest::answer(host, Act::Recommend, u)
                .filter(is_told)
                .map(|part| (Act::Recommend, part)),
            // The words' answer apologises, and passes on as well.
            Answer::PassedOn | Answer::Noted if parts.iter().any(|part| part.is_grave) => {
                return None;
            }
            // The words' way of saying that nothing answers has more to say.
            Answer::PassedOn if told.is_empty() && parts.iter().all(|part| !part.grounded) => {
                return None;
            }
            Answer::PassedOn => Some((act, passed_on(host, found))),
            Answer::Noted if weighing::way(parts) == "chat" => return None,
            Answer::Noted => Some((Act::Tell, chat::heard(host))),
        };
        if other.is_some() {
            return other;
        }
    }
    None
}

/// Passes the question on, by the name of the row if it is about the one row in talk.
fn passed_on(host: &Host<'_>, found: &Findings) -> Part {
    let best = found.rows.first();
    let named = best.filter(|best| host.state.listed == [best.row.id.as_str()]);
    named.map_or_else(|| host.unanswered(), |best| host.missing(&best.row))
}

/// Returns whether the party may be told of the row. House rules are for everybody, and so is the
/// age at which guests may enter a place that was listed.
fn may_hear(host: &Host<'_>, u: &Understood<'_>, row: &Item) -> bool {
    let listed = host.state.listed.contains(&row.id);
    let asks_age = u.wants("age") || u.wants("kids") && listed;
    asks_age || resolve::is_house_rule(row) || is_allowed(host, u, row)
}

/// Returns whether the words' answer tells of a row for adults only that is not for the party. The
/// answer stands if the text names the row.
fn tells_barred(host: &Host<'_>, u: &Understood<'_>, told: &[&Part]) -> bool {
    let named = |id: &String| u.mentions.iter().any(|mention| mention.item.id == *id);
    let barred = |id: &String| {
        let row = host.request.index.get(id);
        !named(id) && row.is_some_and(|row| says_adults_only(row) && !may_hear(host, u, row))
    };
    told.iter().any(|part| part.sources.iter().any(barred))
}

/// Returns whether a part tells something of a row.
pub(crate) fn is_told(part: &Part) -> bool {
    part.grounded && !part.is_denial && !part.sources.is_empty()
}

/// Returns the probability that a row of which the words' answer tells has the answer.
pub(crate) fn own_odds(found: &Findings, told: &[&Part]) -> f32 {
    let own = |row: &&Found| told.iter().any(|part| part.sources.contains(&row.row.id));
    found.rows.iter().filter(own).map(|row| row.odds).sum()
}

/// Returns whether the words' answer tells of the row that answers, or of one nearly as likely.
fn tells_best(found: &Findings, told: &[&Part]) -> bool {
    let best = found.rows.first().map_or(0.0, |row| row.odds);
    !told.is_empty() && own_odds(found, told) >= best / 2.0
}

/// Returns the sentence that the words' answer lacks.
fn instead_of_words(
    host: &Host<'_>,
    act: Act,
    u: &Understood<'_>,
    found: &Findings,
    told: &[&Part],
) -> Option<(Act, Part)> {
    let best = found.rows.first()?;
    let lacks = !act.proposes() && tells_best(found, told) && lacked(host, u, best, told);
    let told = || tell(host, u, &found.rows).map(|part| (act, part));
    lacks.then(told).flatten()
}

/// Returns the rows of which [`tell`] tells.
pub(crate) fn of_facts(found: &Findings) -> Vec<String> {
    let rows: Vec<&Found> = found.rows.iter().take(2).collect();
    let least = least(&rows);
    let told = rows.into_iter().filter(|row| best_fact(row) >= least);
    told.map(|row| row.row.id.clone()).collect()
}

/// Returns the lowest probability at which a fact of these rows is told.
fn least(rows: &[&Found]) -> f32 {
    rows.iter().map(|row| best_fact(row)).fold(0.0, f32::max) * BESIDE
}

/// Returns the probability of the row's best fact.
fn best_fact(found: &Found) -> f32 {
    found.facts.first().map_or(0.0, |(_, odds)| *odds)
}

/// Returns whether the answer is about the right row and lacks the sentence that answers the text.
fn lacked(host: &Host<'_>, u: &Understood<'_>, best: &Found, told: &[&Part]) -> bool {
    if told.len() > 1 || TIMED.iter().any(|facet| u.wants(facet)) {
        return false;
    }
    let Some((fact, odds)) = best.facts.first() else {
        return false;
    };
    let Telling::Sentence(at) = fact.telling else {
        return false;
    };
    let text = sentence(host, &best.row, at);
    *odds >= LACKED && told.iter().all(|part| !part.body.contains(&text))
}

/// Tells the facts that were found, of two rows at most; `None` if the party may hear none of them.
fn tell(host: &Host<'_>, u: &Understood<'_>, rows: &[Found]) -> Option<Part> {
    let may = |found: &&Found| may_hear(host, u, &found.row);
    let rows: Vec<&Found> = rows.iter().filter(may).take(2).collect();
    let least = least(&rows);
    let (mut body, mut first) = (String::new(), None::<Part>);
    let (mut told, mut is_whole) = (Vec::new(), false);
    for found in rows {
        for (fact, _) in found.facts.iter().filter(|(_, odds)| *odds >= least) {
            let mut part = one(host, u, &found.row, fact);
            let again = told.contains(&found.row.id);
            // A description tells the other facts too.
            if again && (is_whole || part.is_whole) {
                continue;
            }
            if again {
                let named = format!("{}: ", host.name(&found.row));
                part.body = part.body.replacen(&named, "", 1);
            }
            let joined = format!("{body} {}", part.body);
            let joined = joined.trim();
            if body.contains(&part.body) || !(body.is_empty() || host.room.one(joined)) {
                continue;
            }
            joined.clone_into(&mut body);
            told.push(found.row.id.clone());
            is_whole = part.is_whole;
            match &mut first {
                Some(first) if !first.sources.contains(&found.row.id) => {
                    first.sources.push(found.row.id.clone());
                }
                Some(_) => {}
                None => first = Some(part),
            }
        }
    }
    first.map(|first| Part {
        body,
        is_sure: true,
        ask: None,
        ..first
    })
}

/// Tells one fact. A house rule is short and told whole.
fn one(host: &Host<'_>, u: &Understood<'_>, row: &Arc<Item>, fact: &Fact) -> Part {
    let only = std::slice::from_ref(row);
    match fact.telling {
        Telling::Facet("phone") => venue::with_phone(host, row),
        Telling::Facet(_) if resolve::is_house_rule(row) => venue::info(host, row),
        // The first sentence says what the row is. Guests who ask for that want its times too.
        Telling::Sentence(0) => venue::info(host, row),
        Telling::Sentence(at) => reading::told(host, row, &sentence(host, row, at)),
        Telling::Facet(facet) => {
            let mut asked = u.clone();
            let keeps = TIMED.contains(&facet) && TIMED.iter().any(|facet| u.wants(facet));
            if !keeps {
                asked.facets.clear();
                asked.facets.insert(facet);
            }
            asked.intents.remove("booking");
            let part = venue::answer(host, &asked, only);
            if part.grounded {
                part
            } else {
                venue::info(host, row)
            }
        }
        Telling::Offer => venue::redeeming(host, row).unwrap_or_else(|| venue::info(host, row)),
        Telling::Row => venue::info(host, row),
    }
}

/// Returns a sentence of the row in the reply's language. If it is not translated, or the languages
/// have different numbers of sentences, returns the whole description.
fn sentence(host: &Host<'_>, row: &Item, at: usize) -> String {
    let index = &host.request.index;
    let sentences = |language| index.sentences(row, language).collect::<Vec<_>>();
    let (english, own) = (sentences(Language::En), sentences(host.language));
    let same = english.len() == own.len();
    let is_own = |text: &&&str| host.language == Language::En || english.get(at) != Some(*text);
    let sentence = own.get(at).filter(|text| same && is_own(text));
    let sentence = sentence.map(|text| (*text).to_owned());
    sentence.unwrap_or_else(|| host.description(row))
}
