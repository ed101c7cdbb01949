//! Extracts facts about the guest from a text, by rules, in English and Spanish. A rule that is not
//! sure finds nothing, and no text makes extraction fail.

mod calendar;
mod children;
mod contact;
mod dates;
mod found;
mod name;
mod needs;
mod number;
mod observe;
mod party;
mod people;
mod said;
mod tastes;
mod terms;
#[cfg(test)]
mod tests;

use std::ops::Range;

use chrono::{DateTime, NaiveDate, Utc};
use chrono_tz::Tz;
use seven_domain::Language;

pub use found::{Budget, Extracted, Grain, Slot, Stay};
pub use observe::{Observed, observations};

use crate::{Confidence, Topic};
use said::Utterance;

/// The circumstances in which a text is read.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    pub now: DateTime<Utc>,
    /// The casino's time zone, which decides the date of "tomorrow".
    pub zone: Tz,
    /// Decides whether 5/12 is in May or in December.
    pub language: Language,
    /// The topic that the host has just asked about. If that is the party size, "4" alone is an
    /// answer.
    pub asked: Option<Topic>,
}

impl Setting {
    fn today(&self) -> NaiveDate {
        self.now.with_timezone(&self.zone).date_naive()
    }
}

/// A finding must have a higher confidence than this; others are dropped.
pub const LEAST: Confidence = Confidence::percent(50);

/// Finds the first holiday that a text names. Returns the holiday's next date, from `today` on, and
/// the byte range of its name.
pub fn holiday_in(text: &str, today: NaiveDate) -> Option<(NaiveDate, Range<usize>)> {
    let said = Utterance::read(text, &[]);
    (0..said.len()).find_map(|n| {
        calendar::holiday(&said, n, today).map(|(date, end)| (date, said.span(n, end)))
    })
}

/// Returns every fact that the text states, in the order of the text.
pub fn extract(text: &str, setting: &Setting) -> Vec<Extracted> {
    let mut found = contact::emails(text);
    let mut masked: Vec<_> = found.iter().map(|f| f.span.clone()).collect();
    masked.extend(contact::addresses(text));
    let said = Utterance::read(text, &masked);
    found.extend(name::read(&said, setting));
    found.extend(party::read(&said, setting));
    found.extend(dates::read(&said, setting));
    found.extend(needs::read(&said));
    found.extend(tastes::read(&said));
    found.extend(people::read(&said));
    found.extend(contact::budget(&said));
    let corrected = corrects(&said);
    for one in &mut found {
        one.correction = corrected;
    }
    found.retain(|one| one.confidence > LEAST);
    found.sort_by_key(|one| (one.span.start, one.span.end));
    found
}

/// Returns whether the text corrects an earlier statement ("Actually, ..."). The text's facts then
/// replace earlier ones.
fn corrects(said: &Utterance<'_>) -> bool {
    said.has(&[
        "actually",
        "i meant",
        "i mean",
        "make that",
        "no wait",
        "correction",
        "sorry its",
        "instead",
        "changed my mind",
        "change of plans",
        "en realidad",
        "mejor dicho",
        "quise decir",
        "me equivoque",
        "perdon es",
        "perdon son",
        "cambio de planes",
    ])
}

/// Returns the folded words of a text: lower case, without accents and apostrophes.
pub(crate) fn words(text: &str) -> Vec<String> {
    Utterance::read(text, &[])
        .words
        .into_iter()
        .map(|word| word.text)
        .collect()
}
