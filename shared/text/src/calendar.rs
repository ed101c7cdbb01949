//! Names of months and weekdays, in English and Spanish.

use chrono::Weekday;
use seven_domain::Language;

/// Folded names of each month: English, Spanish, then abbreviations. "mar" is missing, because it
/// is also Spanish for "sea", and "ago" is missing, because it is also an English word.
const MONTHS: [&[&str]; 12] = [
    &["january", "enero", "jan", "ene"],
    &["february", "febrero", "feb"],
    &["march", "marzo"],
    &["april", "abril", "apr", "abr"],
    &["may", "mayo"],
    &["june", "junio", "jun"],
    &["july", "julio", "jul"],
    &["august", "agosto", "aug"],
    &["september", "septiembre", "sept", "sep", "setiembre"],
    &["october", "octubre", "oct"],
    &["november", "noviembre", "nov"],
    &["december", "diciembre", "dec", "dic"],
];

/// Spanish names have no accents, so that a text stays in GSM-7, the cheaper encoding.
const WEEKDAYS: [[&str; 7]; 2] = [
    [
        "Monday",
        "Tuesday",
        "Wednesday",
        "Thursday",
        "Friday",
        "Saturday",
        "Sunday",
    ],
    [
        "lunes",
        "martes",
        "miercoles",
        "jueves",
        "viernes",
        "sabado",
        "domingo",
    ],
];
const SHORT_WEEKDAYS: [[&str; 7]; 2] = [
    ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"],
    ["lun", "mar", "mie", "jue", "vie", "sab", "dom"],
];
/// Abbreviations that have no other meaning.
const CLEAR_ABBREVIATIONS: [(&str, Weekday); 5] = [
    ("tues", Weekday::Tue),
    ("weds", Weekday::Wed),
    ("thur", Weekday::Thu),
    ("thurs", Weekday::Thu),
    ("fri", Weekday::Fri),
];

/// Returns the number of the month, from 1, that a folded word names.
pub fn month(word: &str) -> Option<u32> {
    (1..)
        .zip(MONTHS)
        .find(|(_, names)| names.contains(&word))
        .map(|(month, _)| month)
}

/// Returns the Spanish name of a month from 1 to 12; empty for another number.
pub fn spanish_month(month: u32) -> &'static str {
    (1..)
        .zip(MONTHS)
        .find(|(number, _)| *number == month)
        .map_or("", |(_, names)| names[1])
}

/// Returns the weekday that a folded word names: in full, or by an abbreviation that has no other
/// meaning.
pub fn weekday(word: &str) -> Option<Weekday> {
    let full = || {
        Language::ALL
            .into_iter()
            .find_map(|language| position(&WEEKDAYS[row(language)], word))
    };
    let clear = || {
        CLEAR_ABBREVIATIONS
            .iter()
            .find(|(name, _)| *name == word)
            .map(|(_, day)| *day)
    };
    full().or_else(clear)
}

/// Returns the weekday that a folded word of three letters abbreviates. Call this only if a weekday
/// is meant: "sun" and "mar" are also other words.
pub fn short_weekday(word: &str, language: Language) -> Option<Weekday> {
    position(&SHORT_WEEKDAYS[row(language)], word)
}

/// Returns a weekday's name: "Friday", "viernes".
pub fn weekday_name(day: Weekday, language: Language) -> &'static str {
    WEEKDAYS[row(language)][day.num_days_from_monday() as usize]
}

/// Returns the abbreviations of the weekdays from Monday on: "Mon", "lun".
pub fn short_weekdays(language: Language) -> [&'static str; 7] {
    SHORT_WEEKDAYS[row(language)]
}

fn row(language: Language) -> usize {
    match language {
        Language::En => 0,
        Language::Es => 1,
    }
}

fn position(names: &[&str; 7], word: &str) -> Option<Weekday> {
    let at = names
        .iter()
        .position(|name| name.eq_ignore_ascii_case(word))?;
    Weekday::try_from(u8::try_from(at).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_month_and_weekday_is_read_back() {
        for month_number in 1..=12 {
            assert_eq!(month(spanish_month(month_number)), Some(month_number));
        }
        assert_eq!(spanish_month(13), "");
        for day in (0..7).map(|n| Weekday::try_from(n).unwrap()) {
            for language in Language::ALL {
                let name = weekday_name(day, language).to_lowercase();
                assert_eq!(weekday(&name), Some(day));
                let short =
                    short_weekdays(language)[day.num_days_from_monday() as usize].to_lowercase();
                assert_eq!(short_weekday(&short, language), Some(day));
            }
        }
        assert_eq!(
            (weekday("sun"), month("mar"), month("ago")),
            (None, None, None)
        );
    }
}
