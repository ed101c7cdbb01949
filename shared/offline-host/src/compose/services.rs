//! Answers about services that guests describe in their own words. Also finds questions that only a
//! row with the same words may answer.

use std::sync::Arc;

use seven_knowledge::Item;

use seven_text::words;

use super::{
    super::{fit::Part, host::Host, understand::Understood},
    rows, venue,
};

/// Answers "Where do I park?" or "can we drop our bags?" with the row of the service that is meant.
pub(crate) fn answer(host: &Host<'_>, u: &Understood<'_>) -> Option<Part> {
    let service = host
        .pack
        .services
        .iter()
        .find(|service| service.phrases.found(&u.said))?;
    let index = &host.request.index;
    let all: Vec<&Arc<Item>> = index
        .current(host.request.now)
        .filter(|item| service.categories.contains(&item.category))
        .collect();
    let named = |item: &Item, value: &str| {
        rows::has_word(&item.name, value)
            || item
                .name_es
                .as_ref()
                .is_some_and(|name| rows::has_word(name, value))
    };
    let filed = |item: &Item, value: &str| {
        item.keywords
            .iter()
            .any(|keyword| rows::has_word(keyword, value))
    };
    let row = service.values.iter().find_map(|value| {
        let by_name = all.iter().find(|item| named(item, value));
        by_name.or_else(|| all.iter().find(|item| filed(item, value)))
    })?;
    let told = venue::info(host, row);
    let asks_where = u
        .said
        .words
        .iter()
        .any(|word| word == "where" || word == "donde");
    let place = row
        .location()
        .filter(|_| asks_where)
        .map(|place| host.pack.value(place, host.language));
    let Some(place) = place.filter(|place| !told.body.contains(place.as_str())) else {
        return Some(told);
    };
    let body = format!(
        "{} {}",
        told.body,
        host.say("where", &[("name", &host.name(row)), ("value", &place)])
    );
    Some(if host.room.two(&body) {
        Part { body, ..told }
    } else {
        told
    })
}

/// Returns true if the text asks for a thing such as a lifeguard and no row has the same words.
/// Only a row with the same words may answer such a question.
pub(crate) fn is_untold(host: &Host<'_>, u: &Understood<'_>) -> bool {
    let spoken = |at: (usize, usize)| u.said.words[at.0..at.1].to_vec();
    let wanted: Vec<Vec<String>> = host
        .pack
        .literal
        .places(&u.said)
        .into_iter()
        .map(spoken)
        .collect();
    if wanted.is_empty() {
        return false;
    }
    let texts: Vec<Vec<String>> = host
        .request
        .index
        .current(host.request.now)
        .flat_map(|item| rows::fields(item))
        .map(|text| words(&text))
        .collect();
    let held = |phrase: &[String]| {
        texts
            .iter()
            .any(|text| text.windows(phrase.len()).any(|w| w == phrase))
    };
    let told = |phrase: &Vec<String>| {
        let as_said = phrase.join(" ");
        let one =
            |other: &String| rows::has_word(other, &as_said) && rows::has_word(&as_said, other);
        let alike = host
            .pack
            .same
            .iter()
            .filter(|same| same.iter().any(one))
            .flatten();
        held(phrase) || alike.into_iter().any(|other| held(&words(other)))
    };
    !wanted.iter().any(told)
}
