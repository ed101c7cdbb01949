//! Answers from the facts that the finder finds (D48), where it is surer than the words of the text.

use std::sync::Arc;

use seven_domain::Language;
use seven_knowledge::Item;

use crate::{
    acts::Act,
    compose::venue::{self, TIMED},
    facts::{Fact, Telling},
    finding::{Findings, Found},
    fit::Part,
    host::Host,
    reading, resolve, suggest,
    understand::Understood,
};

/// The lowest probability that a text asks for something, at which the finder answers it.
const ASKS: f32 = 0.5;
/// The highest probability of a wish for suggestions, at which a fact answers instead of them.
const SUGGESTS: f32 = 0.2;
/// The lowest probability of a wish for suggestions, at which the host suggests rows although the
/// text's words led to nothing.
const WISHES: f32 = 0.7;
/// The lowest probability at which a row that the text's words did not lead to answers.
const SURE: f32 = 0.6;
/// The lowest probability at which the row of an answer in part answers whole.
const LIKELY: f32 = 0.45;
/// The lowest probability at which a fact that the answer lacks is told instead.
const LACKED: f32 = 0.6;
/// The highest probability that the content does not answer, at which a question is answered that
/// the text's words found no answer to.
const DOUBT: f32 = 0.05;
/// The lowest probability that the content does not answer, at which an answer is withdrawn.
const NOTHING: f32 = 0.75;
/// A fact is told beside the best one if it is at least this share as probable.
const BESIDE: f32 = 0.4;

/// Returns the answer from what the finder found, and its act, if the finder is surer than `parts`,
/// the answer that the words of the text led to; `None` if that answer is kept.
pub(crate) fn instead(
    host: &Host<'_>,
    act: Act,
    u: &Understood<'_>,
    parts: &[Part],
) -> Option<(Act, Part)> {
    let kept = |part: &Part| part.is_sure || part.is_grave;
    // Dates and further suggestions are counted from the state of the dialogue, which the finder
    // does not read.
    let counted = matches!(act, Act::More | Act::Reject)
        || u.when.is_said() && parts.iter().any(|part| part.intent == "events");
    if act.is_certain() || counted || parts.iter().any(kept) {
        return None;
    }
    let found = host.found()?;
    let (asks, suggests) = (
        found.kinds.asks + found.kinds.asks_else,
        found.kinds.suggestion,
    );
    let told = |part: &&Part| part.grounded && !part.is_denial && !part.sources.is_empty();
    let told: Vec<&Part> = parts.iter().filter(told).collect();
    if told.is_empty() && suggests >= WISHES {
        let wish = Act::Recommend;
        return suggest::answer(host, wish, u).map(|part| (wish, part));
    }
    let elsewhere = found.kinds.asks_else > found.kinds.asks;
    if asks < ASKS || elsewhere || act.proposes() && suggests > SUGGESTS {
        return None;
    }
    facts_instead(host, act, u, found, parts, &told).map(|part| (act, part))
}

/// Returns the answer from facts, for a text that asks for them.
fn facts_instead(
    host: &Host<'_>,
    act: Act,
    u: &Understood<'_>,
    found: &Findings,
    parts: &[Part],
    told: &[&Part],
) -> Option<Part> {
    let best = found.rows.first()?;
    if told.len() < parts.len() {
        let near = |part: &Part| part.sources.contains(&best.row.id);
        let least = if parts.iter().any(near) { LIKELY } else { SURE };
        let sure = best.odds >= least && found.nothing <= DOUBT;
        return sure.then(|| tell(host, u, &found.rows));
    }
    let own = |row: &&Found| told.iter().any(|part| part.sources.contains(&row.row.id));
    let odds: f32 = found.rows.iter().filter(own).map(|row| row.odds).sum();
    if odds >= best.odds / 2.0 {
        return lacked(host, u, best, told).then(|| tell(host, u, &found.rows));
    }
    if best.odds >= SURE {
        return Some(tell(host, u, &found.rows));
    }
    (found.nothing >= NOTHING && !act.proposes()).then(|| host.unanswered())
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

/// Tells the facts that were found, of two rows at most.
fn tell(host: &Host<'_>, u: &Understood<'_>, rows: &[Found]) -> Part {
    let best = |found: &Found| found.facts.first().map_or(0.0, |(_, odds)| *odds);
    let least = rows.iter().take(2).map(best).fold(0.0, f32::max) * BESIDE;
    let (mut body, mut first) = (String::new(), None::<Part>);
    for found in rows.iter().take(2) {
        for (fact, _) in found.facts.iter().filter(|(_, odds)| *odds >= least) {
            let part = one(host, u, &found.row, fact);
            let joined = format!("{body} {}", part.body);
            let joined = joined.trim();
            if body.contains(&part.body) || !(body.is_empty() || host.room.one(joined)) {
                continue;
            }
            joined.clone_into(&mut body);
            match &mut first {
                Some(first) if !first.sources.contains(&found.row.id) => {
                    first.sources.push(found.row.id.clone());
                }
                Some(_) => {}
                None => first = Some(part),
            }
        }
    }
    let told = first.map(|first| Part {
        body,
        is_sure: true,
        ask: None,
        ..first
    });
    told.unwrap_or_else(|| host.unanswered())
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
