//! Reads the inputs by which the answers to a sentence are weighed (`choice.rs`).

use crate::{
    acts::{Act, learnt::Learnt},
    choice::{Inputs, Weighed},
    finding::Findings,
    fit::Part,
    found::{is_told, of_facts, own_odds},
    host::Host,
    suggest,
    understand::Understood,
};

/// Odds nearer to zero or one than this count as this.
const EDGE: f32 = 0.001;

/// Returns the inputs of a sentence. `parts` is the answer that its words led to.
pub(crate) fn inputs(
    host: &Host<'_>,
    act: Act,
    u: &Understood<'_>,
    parts: &[Part],
    found: &Findings,
) -> Inputs {
    let told: Vec<&Part> = parts.iter().filter(|part| is_told(part)).collect();
    let odds = |at: usize| found.rows.get(at).map_or(0.0, |row| row.odds);
    let own = own_odds(found, &told);
    let best = found.rows.first();
    let fact = best
        .and_then(|row| row.facts.first())
        .map_or(0.0, |fact| fact.1);
    let named = |id: &str| host.request.state.talked().any(|talked| talked == id);
    let is_named = best.is_some_and(|row| named(&row.row.id));
    let rows: usize = told.iter().map(|part| part.sources.len()).sum();
    let way = way(parts);
    let told_named = told
        .iter()
        .any(|part| part.sources.iter().any(|id| named(id)));
    let kinds = found.kinds;
    let yes = |is: bool| if is { 1.0 } else { 0.0 };
    let mut inputs: Inputs = Vec::new();
    let mut put = |name: &str, value: f32| {
        if value != 0.0 {
            inputs.push((name.to_owned(), value));
        }
    };
    put("bias", 1.0);
    put("asks", logit(kinds.asks));
    put("asks else", logit(kinds.asks_else));
    put("suggestion", logit(kinds.suggestion));
    put("no question", logit(kinds.no_question));
    put("nothing", logit(found.nothing));
    put("best", logit(odds(0)));
    put("second", logit(odds(1)));
    put("fact", logit(fact));
    put("own", if told.is_empty() { 0.0 } else { logit(own) });
    put("own best", yes(own >= odds(0) && !told.is_empty()));
    put("best is named", yes(is_named));
    put("told is named", yes(told_named));
    put(&format!("words {way}"), 1.0);
    put(&format!("{way}, best"), logit(odds(0)));
    put(&format!("{way}, nothing"), logit(found.nothing));
    put(&format!("{way}, suggestion"), logit(kinds.suggestion));
    put("several rows", yes(rows > 1));
    put("many rows", yes(rows > 2));
    put("several parts", yes(parts.len() > 1));
    put("grave", yes(parts.iter().any(|part| part.is_grave)));
    put("sure", yes(parts.iter().any(|part| part.is_sure)));
    put("whole row", yes(told.iter().any(|part| part.is_whole)));
    put("question", yes(u.is_question));
    put("points back", yes(u.points_back));
    put("time", yes(u.when.is_said()));
    put("facets", u.facets.len().min(2) as f32);
    put("kinds", u.kinds.len().min(2) as f32);
    put("topics", u.topics.len().min(2) as f32);
    put("mentions", u.mentions.len().min(2) as f32);
    put("leftover", u.leftover.len().min(5) as f32 / 5.0);
    put("length", u.said.words.len().min(25) as f32 / 25.0);
    put("first", yes(host.request.history.is_empty()));
    put(&format!("act {act:?}"), 1.0);
    if let Some(part) = parts.first() {
        put(&format!("intent {}", part.intent), 1.0);
    }
    let learnt = Learnt::of(&u.said.words);
    for (key, odds) in learnt.all() {
        put(&format!("learnt {key}"), odds);
    }
    inputs
}

/// Returns how the words' answer answers.
pub(crate) fn way(parts: &[Part]) -> &'static str {
    if parts.iter().any(is_told) {
        "told"
    } else if parts.iter().any(|part| part.is_denial) {
        "denied"
    } else if parts.iter().all(|part| part.grounded) {
        "chat"
    } else {
        "passed on"
    }
}

/// Returns a sentence for the tool that learns the weights.
pub(crate) fn weighed(
    host: &Host<'_>,
    u: &Understood<'_>,
    parts: &[Part],
    found: &Findings,
    inputs: Inputs,
) -> Weighed {
    let of = |part: &Part| part.sources.clone();
    let words = parts.iter().filter(|part| is_told(part)).flat_map(of);
    let suggestion = suggest::answer(host, Act::Recommend, u).filter(is_told);
    Weighed {
        inputs,
        rows: [
            words.collect(),
            of_facts(found),
            suggestion.as_ref().map(of).unwrap_or_default(),
        ],
        words: way(parts),
    }
}

fn logit(odds: f32) -> f32 {
    let odds = odds.clamp(EDGE, 1.0 - EDGE);
    (odds / (1.0 - odds)).ln()
}
