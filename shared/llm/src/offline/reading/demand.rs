//! What kind of thing an answer must hold: an amount, a time, a number.

use seven_knowledge::text::words;

use super::super::{answer::Host, understand::Understood};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Demand {
    Any,
    Money,
    /// A time of day, a day or a month.
    Time,
    /// How long, how many, how old.
    Number,
}

const FREE: [&str; 9] =
    ["free", "gratis", "half", "complimentary", "included", "incluido", "incluida", "mitad", "cost"];
const CALENDAR: [&str; 46] = [
    "noon",
    "midnight",
    "mediodia",
    "medianoche",
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
    "mondays",
    "tuesdays",
    "wednesdays",
    "thursdays",
    "fridays",
    "saturdays",
    "sundays",
    "lunes",
    "martes",
    "miercoles",
    "jueves",
    "viernes",
    "sabado",
    "domingo",
    "sabados",
    "domingos",
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
    "minutes",
    "hours",
    "daily",
    "weekdays",
    "weekends",
    "enero",
    "diciembre",
];
const NUMBERS: [&str; 26] = [
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "twenty",
    "thirty", "forty", "fifty", "hundred", "uno", "dos", "tres", "cuatro", "cinco", "seis", "siete", "ocho", "diez",
];

// === impl Demand ===

impl Demand {
    pub(super) fn of(host: &Host<'_>, u: &Understood<'_>) -> Self {
        let _ = host;
        let said = |phrase: [&str; 2]| u.said.words.windows(2).any(|w| w[0] == phrase[0] && w[1] == phrase[1]);
        let many = said(["how", "many"]) || u.said.words.iter().any(|w| w == "cuantos" || w == "cuantas");
        if u.wants("price") || u.text.contains('$') {
            Self::Money
        } else if u.wants("duration") || u.wants("age") || many {
            Self::Number
        } else if ["hours", "opens", "closes", "starts"].iter().any(|f| u.wants(f))
            || u.said.words.iter().any(|w| w == "when" || w == "cuando")
        {
            Self::Time
        } else {
            Self::Any
        }
    }

    /// Asks for an amount, which nothing but an amount answers.
    pub(super) fn is_figure(self) -> bool {
        self == Self::Money
    }

    pub(super) fn met(self, text: &str) -> bool {
        let words = words(text);
        let digit = |w: &String| w.starts_with(|c: char| c.is_ascii_digit());
        let any = |list: &[&str]| words.iter().any(|w| list.contains(&w.as_str()));
        let clock = |w: &String| digit(w) && (w.ends_with("am") || w.ends_with("pm"));
        match self {
            Self::Any => true,
            Self::Money => {
                text.contains('$')
                    || text.contains('%')
                    || any(&FREE)
                    || words.iter().any(|w| w == "cent" || w == "cents")
            }
            Self::Time => words.iter().any(clock) || any(&CALENDAR),
            Self::Number => words.iter().any(digit) || any(&NUMBERS),
        }
    }
}
