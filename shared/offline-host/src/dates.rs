//! Finds a date in a text: "December 5", "5 de diciembre", "12/5", "the 28th".

use chrono::{Datelike, Days, NaiveDate};
use seven_domain::Language;
use seven_text::calendar::{month, spanish_month};

/// Finds a date in the text. Returns the next occurrence of the date from `today` on, and the range
/// of words that name it.
pub(crate) fn said(
    text: &str,
    words: &[String],
    today: NaiveDate,
) -> Option<(NaiveDate, (usize, usize))> {
    let at = |n: usize| words.get(n).map_or("", String::as_str);
    (0..words.len()).find_map(|n| {
        // "The 9th floor" names no day.
        let place = [
            "floor", "piso", "hole", "street", "st", "ave", "avenue", "level",
        ]
        .contains(&at(n + 1));
        let day = ordinal(at(n)).filter(|_| !place);
        if let Some(month) = month(at(n)) {
            // Reads "December 5", "5 December" and "5 de diciembre". A "may" without a number is a
            // verb.
            let linked = if n >= 2 && ["de", "of"].contains(&at(n - 1)) {
                n - 2
            } else {
                n.saturating_sub(1)
            };
            let after = ordinal(at(n + 1)).map(|day| (day, (n, n + 2)));
            let before = if n > 0 {
                ordinal(at(linked)).map(|day| (day, (linked, n + 1)))
            } else {
                None
            };
            let (day, place) = after.or(before)?;
            return next(today, Some(month), day).map(|date| (date, place));
        }
        // Reads "12/5" with the month first, as in the United States.
        let figures = (at(n).parse::<u32>().ok(), at(n + 1).parse::<u32>().ok());
        if let (Some(month), Some(day)) = figures
            && text.contains(&format!("{month}/{day}"))
        {
            return next(today, Some(month), day).map(|date| (date, (n, n + 2)));
        }
        let named = n > 0
            && ((at(n - 1) == "the" && !at(n).ends_with(|c: char| c.is_ascii_digit()))
                || at(n - 1) == "el");
        next(today, None, day.filter(|_| named)?).map(|date| (date, (n, n + 1)))
    })
}

/// Finds a holiday that is meant as a day: "On Thanksgiving", "Christmas Eve hours". In "the
/// Christmas show", the holiday is not meant as a day.
pub(crate) fn holiday_said(
    text: &str,
    words: &[String],
    today: NaiveDate,
) -> Option<(NaiveDate, (usize, usize))> {
    const BEFORE: [&str; 13] = [
        "on", "for", "during", "this", "over", "by", "el", "en", "para", "la", "open", "abren",
        "hours",
    ];
    const AFTER: [&str; 7] = ["hours", "day", "night", "or", "and", "this", "morning"];
    let (date, span) = seven_guest::holiday_in(text, today)?;
    let from = seven_text::words(&text[..span.start]).len();
    let to = seven_text::words(&text[..span.end]).len();
    let is = |n: Option<usize>, list: &[&str]| {
        n.and_then(|n| words.get(n))
            .is_some_and(|w| list.contains(&w.as_str()))
    };
    let day = ["eve", "day", "nochebuena", "nochevieja"]
        .iter()
        .any(|own| words[from..to].iter().any(|w| w == own));
    let alone = to >= words.len() || is(Some(to), &AFTER) || is(from.checked_sub(1), &BEFORE);
    (day || alone).then_some((date, (from, to)))
}

/// Returns the first and last day of each period in a sentence: "November 30 through December 4",
/// "Dec 24-26".
pub(crate) fn days_told(text: &str, today: NaiveDate) -> Vec<(NaiveDate, NaiveDate)> {
    let words = seven_text::words(text);
    let at = |n: usize| words.get(n).map_or("", String::as_str);
    let mut told: Vec<(usize, NaiveDate)> = Vec::new();
    let mut running: Option<u32> = None;
    for n in 0..words.len() {
        if let Some(named) = month(at(n)) {
            running = Some(named);
            let before = n
                .checked_sub(if n > 1 && at(n - 1) == "de" { 2 } else { 1 })
                .and_then(|n| ordinal(at(n)));
            told.extend(
                before
                    .and_then(|day| nearest(today, named, day))
                    .map(|date| (n, date)),
            );
        } else if let (Some(named), Some(day)) = (running, ordinal(at(n)))
            && (month(at(n - 1)).is_some() || told.last().is_some_and(|(last, _)| n - last <= 2))
        {
            told.extend(nearest(today, named, day).map(|date| (n, date)));
        }
    }
    let mut days: Vec<(NaiveDate, NaiveDate)> =
        told.iter().map(|(_, date)| (*date, *date)).collect();
    for pair in told.windows(2) {
        let between = &words[(pair[0].0 + 1).min(pair[1].0)..pair[1].0];
        let linked = between
            .iter()
            .any(|w| ["through", "thru", "to", "until", "al", "hasta"].contains(&w.as_str()));
        let dashed = between.is_empty() && pair[1].0 == pair[0].0 + 1;
        if (linked || dashed) && pair[0].1 < pair[1].1 {
            days.push((pair[0].1, pair[1].1));
        }
    }
    days.extend(seven_guest::holiday_in(text, today).map(|(date, _)| (date, date)));
    days
}

/// Returns the date with this month and day that lies between 60 days ago and 305 days ahead. Past
/// days are included because a closing may have begun already.
fn nearest(today: NaiveDate, month: u32, day: u32) -> Option<NaiveDate> {
    let years = [today.year() - 1, today.year(), today.year() + 1];
    let dates = years
        .into_iter()
        .filter_map(|year| NaiveDate::from_ymd_opt(year, month, day));
    dates
        .into_iter()
        .find(|date| (-60..=305).contains(&(*date - today).num_days()))
}

/// Finds a month, as in "In December", "en diciembre" or "this month". Returns the first day of the
/// month, or today if the month has already begun.
pub(crate) fn month_said(
    words: &[String],
    today: NaiveDate,
) -> Option<(NaiveDate, (usize, usize))> {
    words.windows(2).enumerate().find_map(|(n, pair)| {
        let place = (n, n + 2);
        match (pair[0].as_str(), pair[1].as_str()) {
            ("this", "month") | ("este", "mes") => Some((today, place)),
            ("in" | "en" | "for" | "para" | "de" | "of", name) => {
                let month = month(name)?;
                let first = if month == today.month() {
                    today
                } else {
                    next(today, Some(month), 1)?
                };
                Some((first, place))
            }
            _ => None,
        }
    })
}

/// Writes "in December", "en diciembre".
pub(crate) fn month_words(first: NaiveDate, language: Language) -> String {
    match language {
        Language::En => first.format("in %B").to_string(),
        Language::Es => format!("en {}", spanish_month(first.month())),
    }
}

/// Reads the day of a date: "5", "5th", "1ro".
fn ordinal(word: &str) -> Option<u32> {
    let figures = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let ending = &word[figures.len()..];
    let day = figures.parse().ok().filter(|day| (1..=31).contains(day))?;
    ["", "st", "nd", "rd", "th", "ro", "o"]
        .contains(&ending)
        .then_some(day)
}

fn next(today: NaiveDate, month: Option<u32>, day: u32) -> Option<NaiveDate> {
    let fits =
        |date: &NaiveDate| date.day() == day && month.is_none_or(|month| date.month() == month);
    (0..366)
        .filter_map(|ahead| today.checked_add_days(Days::new(ahead)))
        .find(fits)
}

/// Writes "on Dec 5", "el 5 de diciembre".
pub(crate) fn words(date: NaiveDate, language: Language) -> String {
    match language {
        Language::En => date.format("on %b %-d").to_string(),
        Language::Es => format!("el {} de {}", date.day(), spanish_month(date.month())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_in_both_languages() {
        let today = NaiveDate::from_ymd_opt(2026, 11, 21).unwrap();
        for (text, month, day) in [
            ("any shows on december 5?", 12, 5),
            ("shows Dec 5th", 12, 5),
            ("el 5 de diciembre", 12, 5),
            ("what is on 12/5", 12, 5),
            ("on the 28th", 11, 28),
            ("hay algo el 28", 11, 28),
            ("jan 2", 1, 2),
            ("the 3rd of december", 12, 3),
        ] {
            let (date, _) = said(text, &seven_text::words(text), today).unwrap();
            assert_eq!((date.month(), date.day()), (month, day), "{text}");
            assert!(date >= today);
        }
        for text in [
            "may I bring 2 dogs",
            "a table for 4",
            "open 24 hours",
            "the 5 of us",
            "february 30",
            "el 45",
        ] {
            assert_eq!(said(text, &seven_text::words(text), today), None, "{text}");
        }
        assert_eq!(words(today, Language::Es), "el 21 de noviembre");
    }

    #[test]
    fn days_of_a_sentence_are_read_as_spans() {
        let date = |text: &str| text.parse::<NaiveDate>().unwrap();
        let today = date("2026-11-21");
        for (text, from, to) in [
            (
                "Closed for resurfacing November 30 through December 4.",
                "2026-11-30",
                "2026-12-04",
            ),
            ("Closed Dec 24-26.", "2026-12-24", "2026-12-26"),
            (
                "Cerrado del 3 de diciembre al 7 de diciembre.",
                "2026-12-03",
                "2026-12-07",
            ),
            (
                "On Thanksgiving Day open 11am to 4pm only.",
                "2026-11-26",
                "2026-11-26",
            ),
            // A closing that has already begun stays in this year.
            (
                "Closed November 15 to November 25.",
                "2026-11-15",
                "2026-11-25",
            ),
            (
                "We close at 5pm on Christmas Eve.",
                "2026-12-24",
                "2026-12-24",
            ),
        ] {
            assert!(
                days_told(text, today).contains(&(date(from), date(to))),
                "{text}: {:?}",
                days_told(text, today)
            );
        }
        for text in [
            "Open daily 9am to 8pm.",
            "Children 5 to 11 pay half.",
            "Slides may be wet.",
        ] {
            assert_eq!(days_told(text, today), vec![], "{text}");
        }
    }

    #[test]
    fn a_holiday_is_a_day_unless_it_names_a_thing() {
        let today = NaiveDate::from_ymd_opt(2026, 11, 21).unwrap();
        let day = |text: &str| {
            holiday_said(text, &seven_text::words(text), today).map(|(date, _)| date.to_string())
        };
        assert_eq!(
            day("are you open on thanksgiving?").as_deref(),
            Some("2026-11-26")
        );
        assert_eq!(
            day("abren el dia de navidad").as_deref(),
            Some("2026-12-25")
        );
        assert_eq!(day("new years eve plans").as_deref(), Some("2026-12-31"));
        assert_eq!(day("when is the christmas show"), None);
        assert_eq!(day("when is dinner"), None);
    }
}
