//! Answers questions that depend on somebody's age, and finds the ages of minors in texts.

use seven_guest::{Setting, Slot, extract};

use seven_text::sentence_ranges;

use super::{
    compose::{lookup, venue},
    fit::Part,
    host::Host,
    reading,
    understand::Understood,
};
use crate::{
    minors::{GROWN, KIN},
    resolve,
    sentences::named_sentence,
};

/// Returns the age rule that mentions the thing asked for: "Can my daughter, she's 15, get a
/// massage?"
pub(crate) fn age_rule(host: &Host<'_>, u: &Understood<'_>) -> Option<Part> {
    const AGES: [&str; 12] = [
        "under", "over", "older", "younger", "age", "ages", "adult", "menores", "mayores", "edad",
        "anos", "adulto",
    ];
    let entry = asks_to_enter(u);
    let young = entry && (host.state.has_minors() || is_young(u.text));
    if !u.is_question || !young && !names_an_age(host, u.text) {
        return None;
    }
    let of_age = |text: &str| {
        text.contains(|c: char| c.is_ascii_digit())
            && seven_text::words(text)
                .iter()
                .any(|word| AGES.contains(&word.as_str()))
    };
    let house = ["casino", "gamble", "jugar", "apostar"]
        .iter()
        .any(|word| u.said.words.iter().any(|said| said == word));
    let rule = || lookup::age(host, true);
    let unnamed = u.topics.is_empty() && u.venues().is_empty();
    if house && unnamed {
        return rule();
    }
    // A rule of the place just named is preferred to the casino's rule.
    let listed = if u.topics.is_empty() && u.venues().is_empty() {
        resolve::listed(host)
    } else {
        Vec::new()
    };
    let told = |row: &std::sync::Arc<seven_knowledge::Item>| venue::fact(host, u, "age", row);
    let fields: Vec<String> = listed.iter().filter_map(told).collect();
    let body = fields.join(" ");
    if !fields.is_empty() && host.room.two(&body) {
        return Some(host.part("venue_info", body, &listed));
    }
    let here = listed.iter().find_map(|row| {
        let text = host.description(row);
        let mut sentences = sentence_ranges(&text).into_iter().map(|range| &text[range]);
        let body = named_sentence(host, row, sentences.find(|sentence| of_age(sentence))?);
        Some(host.part("venue_info", body, std::slice::from_ref(row)))
    });
    here.or_else(|| reading::best_of(host, u, |_, text| of_age(text)))
        .or_else(|| {
            if house || young && unnamed {
                rule()
            } else {
                None
            }
        })
}

/// Returns whether the guest asks to be let in: "can I still come in?"
fn asks_to_enter(u: &Understood<'_>) -> bool {
    const WORDS: [&str; 8] = [
        "enter", "entrar", "allowed", "permiten", "gamble", "jugar", "pasar", "inside",
    ];
    const PAIRS: [&str; 7] = [
        "come in", "get in", "go in", "get into", "let in", "me in", "us in",
    ];
    let words = &u.said.words;
    let pair = |pair: &[String]| PAIRS.contains(&pair.join(" ").as_str());
    words.iter().any(|word| WORDS.contains(&word.as_str())) || words.windows(2).any(pair)
}

/// Returns whether the text says that the guest is under age: "I'm 20 btw".
pub(crate) fn is_own_age_young(text: &str) -> bool {
    tells_a_young_age(text, &["im", "am", "turn", "turning", "turned", "cumplo"])
}

/// Returns whether the text says that somebody is under age, the guest or another person.
pub(crate) fn is_young(text: &str) -> bool {
    let others = [
        "hes", "shes", "theyre", "is", "turns", "tiene", "tienen", "cumple",
    ];
    is_own_age_young(text) || tells_a_young_age(text, &others)
}

/// Returns whether the age of a minor follows one of the words in `before`.
fn tells_a_young_age(text: &str, before: &[&str]) -> bool {
    const UNITS: [&str; 22] = [
        "people", "personas", "of", "pounds", "pound", "lb", "lbs", "dollars", "dolares", "am",
        "pm", "nights", "noches", "adults", "adultos", "minutes", "min", "mins", "hours", "horas",
        "percent", "miles",
    ];
    let said = seven_text::words(text);
    let young = |at: usize| {
        let age = said[at]
            .parse::<u32>()
            .is_ok_and(|age| (1..GROWN).contains(&age));
        // "We are 4 people" and "he is 15 pounds" state no age.
        let unit = said
            .get(at + 1)
            .is_some_and(|word| UNITS.contains(&word.as_str()));
        age && !unit && before.contains(&said[at - 1].as_str())
    };
    (1..said.len()).any(young)
}

fn names_an_age(host: &Host<'_>, text: &str) -> bool {
    let setting = Setting {
        now: host.request.now,
        zone: host.request.zone,
        language: host.language,
        asked: None,
    };
    let said = seven_text::words(text);
    let young = |word: &String| word.parse::<u32>().is_ok_and(|age| age < GROWN);
    let kin = |at: usize| {
        said[at..said.len().min(at + 6)].iter().any(young) && KIN.contains(&said[at].as_str())
    };
    (0..said.len()).any(kin)
        || extract(text, &setting)
            .iter()
            .any(|found| matches!(found.slot, Slot::Companion { age: Some(_), .. }))
}
