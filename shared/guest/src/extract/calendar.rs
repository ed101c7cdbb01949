//! Reads the names of months, weekdays and holidays, and finds their next dates.

use chrono::{Datelike, Days, NaiveDate, Weekday};
use seven_domain::Language;
use seven_text::calendar;

use super::said::Utterance;

pub(super) fn month(word: &str) -> Option<u32> {
    calendar::month(word).or_else(|| (word == "mar").then_some(3))
}

/// Returns the weekday at word `n`. A short name may be another word, as "sun" is. Short names are
/// read as weekdays only in a range, or after words such as "this", "next" or "on".
pub(super) fn weekday(said: &Utterance<'_>, n: usize) -> Option<Weekday> {
    let short = |n: usize| calendar::short_weekday(said.at(n), Language::En);
    let led = || {
        ["this", "next", "on", "coming", "through", "until", "thru"].contains(&said.before(n, 1))
    };
    // A range such as "Fri-Sun" or "Fri to Sun".
    let name = |n: usize| calendar::weekday(said.at(n)).is_some() || short(n).is_some();
    let ranged = || {
        n >= 1 && said.between(n) == "-" && name(n - 1)
            || n >= 2 && said.is(n - 1, &["to"]) && name(n - 2)
    };
    calendar::weekday(said.at(n)).or_else(|| short(n).filter(|_| led() || ranged()))
}

/// Returns the next date, from today on, that is this weekday.
pub(super) fn next_weekday(today: NaiveDate, day: Weekday) -> Option<NaiveDate> {
    let ahead = (day.num_days_from_monday() + 7 - today.weekday().num_days_from_monday()) % 7;
    today.checked_add_days(Days::new(u64::from(ahead)))
}

/// Returns the next date with this month and day. Returns `None` if such a date was at most five
/// weeks ago, because the guest may mean that past date.
pub(super) fn next_date(today: NaiveDate, month: u32, day: u32) -> Option<NaiveDate> {
    let in_year = |year: i32| NaiveDate::from_ymd_opt(year, month, day);
    let date = in_year(today.year())
        .filter(|date| *date >= today)
        .or_else(|| in_year(today.year().checked_add(1)?))?;
    ((date - today).num_days() <= 330).then_some(date)
}

/// Returns the next date, from today on, that is this day of a month.
pub(super) fn next_day(today: NaiveDate, day: u32) -> Option<NaiveDate> {
    (0..62)
        .filter_map(|ahead| today.checked_add_days(Days::new(ahead)))
        .find(|date| date.day() == day)
}

/// Returns the next date of the holiday whose name begins at word `n`, and the index of the first
/// word after the name.
pub(super) fn holiday(
    said: &Utterance<'_>,
    n: usize,
    today: NaiveDate,
) -> Option<(NaiveDate, usize)> {
    // Folding turns "New Year's Eve" into "new year eve"; "New Years Eve" keeps its "s".
    const FIXED: &[(&[&str], u32, u32)] = &[
        (&["christmas eve", "xmas eve", "nochebuena"], 12, 24),
        (&["christmas day", "christmas", "xmas", "navidad"], 12, 25),
        (
            &[
                "new years eve",
                "new year eve",
                "nye",
                "nochevieja",
                "fin de ano",
                "ano viejo",
            ],
            12,
            31,
        ),
        (&["new years day", "new year day", "ano nuevo"], 1, 1),
        (
            &[
                "valentines day",
                "valentine day",
                "valentines",
                "valentine",
                "san valentin",
                "dia de los enamorados",
            ],
            2,
            14,
        ),
        (&["fourth of july", "independence day"], 7, 4),
        (&["cinco de mayo"], 5, 5),
        (&["halloween"], 10, 31),
        (&["veterans day"], 11, 11),
        (&["st patricks day", "st patrick day"], 3, 17),
    ];
    for (names, month, day) in FIXED {
        if let Some(end) = said.one_of(n, names) {
            return Some((next_date(today, *month, *day)?, end));
        }
    }
    let names = [
        "thanksgiving day",
        "thanksgiving",
        "turkey day",
        "accion de gracias",
        "dia de accion de gracias",
    ];
    let end = said.one_of(n, &names)?;
    let in_year = |year| NaiveDate::from_weekday_of_month_opt(year, 11, Weekday::Thu, 4);
    let date = in_year(today.year())
        .filter(|d| *d >= today)
        .or_else(|| in_year(today.year().checked_add(1)?))?;
    Some((date, end))
}
