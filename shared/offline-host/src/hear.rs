//! Brings the state of the dialogue up to date with a sentence of the guest, before it is answered.

use seven_guest::DialogueState;
use seven_knowledge::Category;

use crate::{
    acts::Act,
    company,
    host::Host,
    minors,
    pack::{Field, Kind},
    plan,
    understand::Understood,
    when::Day,
};

/// Returns the state after the sentence. A correction replaces the corrected value, a refusal
/// excludes rows, and conditions are added to the earlier ones.
pub(crate) fn hear(host: &Host<'_>, act: Act, u: &Understood<'_>) -> DialogueState {
    let mut state = host.state.clone();
    let refused = u.refused.iter().map(|kind| kind.name.clone());
    DialogueState::note(&mut state.dislikes, refused.chain(avoided(host, u)));
    state.children |= u.wants("kids") || speaks_of_young(host, u.text);
    state.young |= company::is_own_age_young(u.text);
    match act {
        Act::Recommend | Act::Narrow | Act::More | Act::Reject | Act::Correct => {
            // If the guest asks for suggestions again and names a topic, the wishes of the last
            // request are dropped.
            if act == Act::Recommend && state.proposed && !u.topics.is_empty() {
                state.wishes.clear();
            }
            wish(&mut state, u);
            note_plan(host, &mut state, u);
        }
        Act::Book | Act::Change | Act::Accept => {
            if let Some(category) = category(u) {
                state.begin(category.as_str());
            }
            note_plan(host, &mut state, u);
        }
        Act::Tell => {
            let served = |kind: &&Kind| !kind.is_condition();
            if u.kinds.iter().any(served) {
                wish(&mut state, u);
            }
            note_plan(host, &mut state, u);
        }
        Act::Compare => note_plan(host, &mut state, u),
        Act::Ask => {
            if let Some(category) = category(u) {
                state.begin(category.as_str());
            }
            // A single date, as in "Are you open Christmas Day?", becomes the day of the plan, and so
            // does a day in a remark. "Are you open on sundays?" names no day of a plan.
            if matches!(u.when.day, Some(Day::Date(_) | Day::Tomorrow)) || !u.is_question {
                state.date = plan::moment(host, u).0.or(state.date);
            }
        }
        _ => {}
    }
    // "Nothing Italian" refuses a kind; "not that one" refuses the rows just named.
    if act == Act::Reject && u.refused.is_empty() {
        let rows = state.listed.clone();
        state.refused.extend(rows);
    }
    let refused: Vec<String> = state.dislikes.clone();
    state.wishes.retain(|wish| !refused.contains(wish));
    state
}

/// Returns whether the text mentions somebody under age, the guest included.
pub(crate) fn speaks_of_young(host: &Host<'_>, text: &str) -> bool {
    minors::names_a_minor(host, text) || company::is_young(text)
}

/// Returns the content category that the sentence asks about, if it names one.
pub(crate) fn category(u: &Understood<'_>) -> Option<Category> {
    let served = u.kinds.iter().any(|kind| kind.field != Field::Kids);
    u.topics
        .first()
        .cloned()
        .or_else(|| served.then_some(Category::Dining))
}

/// Adds the wishes of the sentence to the state. A new cuisine, dish, kind of place or price
/// replaces the old wishes; a diet is added to them.
fn wish(state: &mut DialogueState, u: &Understood<'_>) {
    if let Some(category) = category(u) {
        state.begin(category.as_str());
    }
    let replaces = |kind: &&&Kind| !kind.is_condition();
    let known = u.wishes.iter().filter(|wish| wish.known);
    let words: Vec<String> = known
        .map(|wish| u.said.words[wish.at.0..wish.at.1].join(" "))
        .collect();
    if u.kinds.iter().filter(replaces).count() > 0 || !words.is_empty() {
        state.wishes.clear();
    }
    let kinds = u.kinds.iter().map(|kind| kind.name.clone());
    DialogueState::note(&mut state.wishes, kinds.chain(words));
}

fn note_plan(host: &Host<'_>, state: &mut DialogueState, u: &Understood<'_>) {
    let (date, minute) = plan::moment(host, u);
    state.date = date.or(state.date);
    state.minute = minute.or(state.minute);
}

/// Returns the words of things that somebody does not eat or like, as in "she hates mushrooms"
/// (`Understood::denied`). Words that the content does not contain are left out.
fn avoided(host: &Host<'_>, u: &Understood<'_>) -> Vec<String> {
    let is_listed = |word: &str| {
        host.request
            .index
            .terms(word)
            .iter()
            .any(|term| term.known && term.is_literally_in(word))
    };
    u.denied
        .iter()
        .filter(|word| is_listed(word))
        .cloned()
        .collect()
}
