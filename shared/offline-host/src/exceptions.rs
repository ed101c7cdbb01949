//! Finds exceptional hours that only a sentence of a row states: "Closed for resurfacing November
//! 30 through December 4." A reply must not give the regular hours for such days.

use chrono::NaiveDate;
use seven_knowledge::Item;
use seven_text::words;

use super::{dates, host::Host};

const OPENING: [&str; 24] = [
    "closed", "close", "closes", "closing", "open", "opens", "opening", "hours", "until", "only",
    "early", "served", "runs", "serves", "serving", "cerrado", "cerrada", "cierra", "abre",
    "abierto", "abierta", "horario", "hasta", "cierran",
];
const SHUT: [&str; 4] = ["closed", "cerrado", "cerrada", "cerramos"];

/// Returns the row's sentence about its hours on that day; `None` if no sentence names the day.
pub(crate) fn on(host: &Host<'_>, item: &Item, date: NaiveDate) -> Option<String> {
    let today = host.local().date();
    let speaks = |text: &&str| {
        words(text)
            .iter()
            .any(|word| OPENING.contains(&word.as_str()))
    };
    let of_day = |text: &&str| {
        dates::days_told(text, today)
            .iter()
            .any(|(from, to)| (*from..=*to).contains(&date))
    };
    host.request
        .index
        .sentences(item, host.language)
        .filter(speaks)
        .find(of_day)
        .map(str::to_owned)
}

/// Returns whether the row says that it is closed that day.
pub(crate) fn is_shut(host: &Host<'_>, item: &Item, date: NaiveDate) -> bool {
    on(host, item, date).is_some_and(|text| {
        words(&text)
            .iter()
            .any(|word| SHUT.contains(&word.as_str()))
    })
}
