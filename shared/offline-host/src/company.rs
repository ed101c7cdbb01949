//! Finds out whom a question is about from an earlier text: "my son turns 17", then "what can he do
//! there?"

use seven_guest::{Setting, Slot, extract};

use super::{compose::lookup, fit::Part, host::Host, reading, understand::Understood};
use crate::minors::{GROWN, KIN};

/// Returns the sentence about age limits that mentions the thing asked for: "Can my daughter, she's
/// 15, get a massage?"
pub(crate) fn age_rule(host: &Host<'_>, u: &Understood<'_>) -> Option<Part> {
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

fn names_an_age(host: &Host<'_>, text: &str) -> bool {
    let setting = Setting { now: host.request.now, zone: host.request.zone, language: host.language, asked: None };
    let said = seven_knowledge::text::words(text);
    let young = |word: &String| word.parse::<u32>().is_ok_and(|age| age < GROWN);
    let kin = |at: usize| said[at..said.len().min(at + 6)].iter().any(young) && KIN.contains(&said[at].as_str());
    (0..said.len()).any(kin)
        || extract(text, &setting).iter().any(|found| matches!(found.slot, Slot::Companion { age: Some(_), .. }))
}
