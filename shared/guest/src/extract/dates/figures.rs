//! Reads dates written in figures: "11/28", "the 28th".

use chrono::{Datelike, NaiveDate};
use seven_domain::Language;

use super::{
    super::{
        calendar::{next_date, next_day},
        said::{Gap, Utterance},
    },
    At, day,
};

/// Reads "11/28", "28/11/2026" and "2026-11-28", but not "24/7" or "1/2 price".
pub(super) fn by_figures(
    said: &Utterance<'_>,
    n: usize,
    today: NaiveDate,
    language: Language,
) -> Option<At> {
    let at = |n: usize| said.at(n).parse::<u32>().ok();
    let cut = |n: usize| matches!(said.between(n), "/" | "-");
    let (first, second) = (at(n)?, at(n + 1).filter(|_| cut(n + 1))?);
    let third = at(n + 2).filter(|_| cut(n + 2));
    if said.at(n).len() == 4 {
        let date = NaiveDate::from_ymd_opt(i32::try_from(first).ok()?, second, third?)
            .filter(|d| *d >= today)?;
        return Some(day(date, n, n + 3, 95));
    }
    let slash = said.between(n + 1) == "/" || third.is_some();
    let fraction = (first, second) == (24, 7)
        || (first == 1 && second <= 4 && third.is_none())
        || said.is(n + 2, &["price", "off", "stars", "hour", "star", "odds"]);
    if !slash
        || fraction
        || said.at(n).len() > 2
        || said.at(n + 1).len() > 2
        || cut(n) && n > 0 && at(n - 1).is_some()
    {
        return None;
    }
    let (month, figure) = match (first, second, language) {
        (13.., ..=12, _) => (second, first),
        (..=12, 13.., _) => (first, second),
        (..=12, ..=12, Language::En) => (first, second),
        // Spanish writers use both orders of day and month, so only equal numbers are certain.
        (..=12, ..=12, Language::Es) if first == second => (first, second),
        _ => return None,
    };
    let Some(year) = third else {
        return Some(day(next_date(today, month, figure)?, n, n + 2, 80));
    };
    let year = i32::try_from(if year < 100 { 2000 + year } else { year }).ok()?;
    let date =
        NaiveDate::from_ymd_opt(year, month, figure).filter(|d| *d >= today && d.year() < 2100)?;
    Some(day(date, n, n + 3, 92))
}

/// Reads a day without a month: "the 28th", "el 28".
pub(super) fn by_day(said: &Utterance<'_>, n: usize, today: NaiveDate) -> Option<At> {
    let spanish = said.is(n, &["el"]);
    let lead = spanish || said.is(n, &["the"]);
    let (figure, to) = ordinal(said, n + 1).filter(|_| lead)?;
    let suffixed = to > n + 2;
    let ends = said.gap(to) >= Gap::Comma
        || said.is(
            to,
            &[
                "at", "for", "to", "through", "and", "in", "if", "with", "a", "por", "en", "para",
                "con", "y", "al", "please",
            ],
        );
    let date = next_day(today, figure).filter(|_| ends && (suffixed || spanish))?;
    Some(day(date, n, to, 72))
}

/// Returns a day of the month in figures, such as "28" or "28th", and the index of the word after
/// the day.
pub(super) fn ordinal(said: &Utterance<'_>, n: usize) -> Option<(u32, usize)> {
    let figure: u32 = said
        .at(n)
        .parse()
        .ok()
        .filter(|day| (1..=31).contains(day))?;
    if said.at(n).len() > 2
        || said.between(n + 1).starts_with([':', '%'])
        || said.between(n).ends_with(['$', ':'])
    {
        return None;
    }
    let suffix = said.is(n + 1, &["st", "nd", "rd", "th", "ro"]) && said.between(n + 1).is_empty();
    let glued = !suffix && said.between(n + 1).is_empty() && n + 1 < said.len();
    (!glued).then_some((figure, n + 1 + usize::from(suffix)))
}
