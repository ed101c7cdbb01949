//! For whom a text asks, where an earlier one told: "my son turns 17", then "what can he do there?"

use seven_guest::{Setting, Slot, extract};

use super::{answer::Host, compose::lookup, fit::Part, reading, understand::Understood};

const KIN: [&str; 14] = [
    "son",
    "daughter",
    "kid",
    "kids",
    "child",
    "children",
    "grandson",
    "granddaughter",
    "hijo",
    "hija",
    "hijos",
    "nieto",
    "nieta",
    "grandkids",
];
/// Exchanges that are remembered for it.
const TURNS: usize = 2;
/// Whoever is younger is shown nothing but what is for all ages (SEC-29).
const GROWN: u32 = 21;

/// Asked for children: by this text, or by one before that this one goes on from.
pub(super) fn is_for_a_minor(host: &Host<'_>, u: &Understood<'_>) -> bool {
    if u.wants("kids") {
        return true;
    }
    let request = host.request;
    let earlier = request.history.iter().rev().take(TURNS).map(|exchange| exchange.guest.as_str());
    !host.pack.ourselves.found(&u.said) && earlier.chain([u.text]).any(|text| names_a_minor(host, text))
}

/// "Can my daughter, she's 15, get a massage?": the sentence on age that speaks of what is asked.
pub(super) fn age_rule(host: &Host<'_>, u: &Understood<'_>) -> Option<Part> {
    const AGES: [&str; 12] =
        ["under", "over", "older", "younger", "age", "ages", "adult", "menores", "mayores", "edad", "anos", "adulto"];
    if !u.is_question || !names_an_age(host, u.text) {
        return None;
    }
    let of_age = |text: &str| {
        text.contains(|c: char| c.is_ascii_digit())
            && seven_knowledge::text::words(text).iter().any(|word| AGES.contains(&word.as_str()))
    };
    let house =
        ["casino", "gamble", "jugar", "apostar"].iter().any(|word| u.said.words.iter().any(|said| said == word));
    let rule = || lookup::age(host, true);
    if house && u.topics.is_empty() && u.venues().is_empty() {
        return rule();
    }
    reading::best_of(host, u, |_, text| of_age(text)).or_else(|| if house { rule() } else { None })
}

/// A rule or a price of theirs.
pub(super) fn speaks_of_children(text: &str) -> bool {
    const CHILDREN: [&str; 8] = ["children", "child", "kids", "ninos", "nino", "menores", "toddlers", "youth"];
    seven_knowledge::text::words(text).iter().any(|word| CHILDREN.contains(&word.as_str()))
}

fn names_an_age(host: &Host<'_>, text: &str) -> bool {
    let setting = Setting { now: host.request.now, zone: host.request.zone, language: host.language, asked: None };
    let said = seven_knowledge::text::words(text);
    let young = |word: &String| word.parse::<u32>().is_ok_and(|age| age < GROWN);
    let kin = |at: usize| said[at..said.len().min(at + 6)].iter().any(young) && KIN.contains(&said[at].as_str());
    (0..said.len()).any(kin)
        || extract(text, &setting).iter().any(|found| matches!(found.slot, Slot::Companion { age: Some(_), .. }))
}

fn names_a_minor(host: &Host<'_>, text: &str) -> bool {
    let said = seven_knowledge::text::words(text);
    if said
        .windows(2)
        .any(|pair| ["my", "our", "mi", "mis"].contains(&pair[0].as_str()) && KIN.contains(&pair[1].as_str()))
    {
        return true;
    }
    let setting = Setting { now: host.request.now, zone: host.request.zone, language: host.language, asked: None };
    extract(text, &setting).iter().any(|found| match &found.slot {
        Slot::Companion { age: Some(age), .. } => *age < GROWN,
        Slot::Companion { kin, .. } | Slot::Group { kin, .. } => kin == "child" || kin == "grandchild",
        _ => false,
    })
}
