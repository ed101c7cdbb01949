//! Finds the dates of the guest's visit: "next Saturday", "el viernes", "Nov 28 to 30", "mañana".

mod figures;

use chrono::{Datelike, Days, NaiveDate};
use seven_domain::Language;

use super::{
    Extracted, Grain, Setting, Slot, Stay,
    calendar::{holiday, month, next_date, next_weekday, weekday},
    number::any_number,
    said::{Gap, Utterance},
};
use crate::Topic;
use figures::{by_day, by_figures, ordinal};

/// A stay found in a text, with the words that state it.
#[derive(Clone, Copy)]
struct At {
    stay: Stay,
    from: usize,
    to: usize,
    /// The confidence that the words mean this stay, in percent.
    percent: u8,
}

const COMING: &[&str] = &[
    "coming",
    "come",
    "arriving",
    "arrive",
    "visiting",
    "visit",
    "staying",
    "stay",
    "check in",
    "checking in",
    "book",
    "booking",
    "reserve",
    "reservation",
    "table",
    "get in",
    "be there",
    "heading",
    "driving",
    "trip",
    "in town",
    "planning",
    "dinner",
    "lunch",
    "brunch",
    "see you",
    "for",
    "well be",
    "ill be",
    "im in",
    "room",
    "tickets",
    "vamos",
    "vengo",
    "venimos",
    "voy",
    "llego",
    "llegamos",
    "visitar",
    "visita",
    "reservar",
    "reserva",
    "reservacion",
    "mesa",
    "quedarnos",
    "quedarme",
    "viaje",
    "iremos",
    "ire",
    "estaremos",
    "estare",
    "cena",
    "habitacion",
    "para",
    "boletos",
    "iriamos",
    "llegaremos",
    "pensando",
];
const PAST: &[&str] = &[
    "last",
    "yesterday",
    "pasado",
    "pasada",
    "ayer",
    "was",
    "went",
    "ago",
    "fue",
    "fui",
    "fuimos",
    "since",
    "desde",
    "previous",
    "estuve",
    "estuvimos",
    "lost",
    "ate",
    "played",
    "visited",
];
const HOURS: &[&str] = &[
    "open", "close", "closed", "closes", "opens", "hours", "abren", "abre", "abierto", "abierta",
    "abiertos", "cierran", "cierra", "horario", "horarios", "born", "expires", "expire",
    "deadline",
];

const NOT_THEN: &[&str] = &[
    "no puedo",
    "no podemos",
    "no voy",
    "no vamos",
    "doesnt work",
    "wont work",
    "i cant",
    "we cant",
    "is no good",
    "is out",
    "no me sirve",
];
const CONTACT: &[&str] = &[
    "call me",
    "text me",
    "remind me",
    "call back",
    "llameme",
    "llamame",
    "escribeme",
    "escribame",
];

/// Returns the guest's stay. If the text names two different dates, returns `None`, because it is
/// unclear which of them the guest plans.
pub(super) fn read(said: &Utterance<'_>, setting: &Setting) -> Option<Extracted> {
    let today = setting.today();
    let mut found: Vec<At> = Vec::new();
    let mut n = 0;
    while n < said.len() {
        let at = range(said, n, today, setting.language)
            .or_else(|| single(said, n, today, setting.language));
        match at.filter(|at| at.to > n) {
            Some(at) => {
                n = at.to;
                found.push(at);
            }
            None => n += 1,
        }
    }
    let first = *found.first()?;
    // Overlapping dates, as in "next Saturday, Nov 28", do not contradict each other. The most
    // certain one is taken.
    let best = *found.iter().max_by_key(|at| at.percent).unwrap_or(&first);
    let clash = found
        .iter()
        .any(|at| best.stay.to < at.stay.from || at.stay.to < best.stay.from);
    let past = (0..first.from.min(said.len())).any(|n| said.is(n, PAST)) || said.is(best.to, PAST);
    if clash || past || said.negated(best.from) || found.iter().any(|at| said.negated(at.from)) {
        return None;
    }
    // A date after words such as "call me" says when to contact the guest, not when the guest
    // comes.
    let contact = said
        .one_of(first.from.saturating_sub(2), CONTACT)
        .is_some_and(|end| end <= first.from)
        || said
            .one_of(first.from.saturating_sub(1), CONTACT)
            .is_some_and(|end| end <= first.from);
    if contact {
        return None;
    }
    if said.one_of(best.to, NOT_THEN).is_some() {
        return None;
    }
    let asked = setting.asked == Some(Topic::VisitDate);
    let short = said.len() <= best.to - best.from + 3 && !said.is_question(best.from);
    let plan = asked || short || said.has(COMING);
    if said.has(HOURS) && !plan || said.has(HOURS) && said.is_question(best.from) {
        return None;
    }
    let percent = if plan {
        best.percent
    } else {
        best.percent.min(65)
    };
    Some(Extracted::new(
        Slot::Visit(best.stay),
        percent,
        said.span(best.from, best.to),
    ))
}

fn day(date: NaiveDate, from: usize, to: usize, percent: u8) -> At {
    At {
        stay: Stay {
            from: date,
            to: date,
            grain: Grain::Day,
        },
        from,
        to,
        percent,
    }
}

/// Reads a range of dates: "Friday to Sunday", "Nov 28-30", "del 28 al 30 de noviembre".
fn range(said: &Utterance<'_>, n: usize, today: NaiveDate, language: Language) -> Option<At> {
    let start = n + usize::from(said.is(n, &["from", "between", "del", "entre"]));
    let stay = |from: NaiveDate, to: NaiveDate, end: usize, percent| {
        let days = (to - from).num_days();
        (1..=31).contains(&days).then_some(At {
            stay: Stay {
                from,
                to,
                grain: Grain::Days,
            },
            from: n,
            to: end,
            percent,
        })
    };
    // The month follows both days, as in "28-30 de noviembre" or "28 to 30 November".
    if let Some((first, after)) = ordinal(said, start)
        && let Some(next) = link(said, after)
        && let Some((last, end)) = ordinal(said, next)
    {
        let named = end + usize::from(said.is(end, &["de", "of"]));
        if let Some(month) = month(said.at(named)) {
            let from = next_date(today, month, first)?;
            return stay(
                from,
                NaiveDate::from_ymd_opt(from.year(), month, last)?,
                named + 1,
                92,
            );
        }
    }
    let first = single(said, start, today, language).filter(|at| at.stay.grain == Grain::Day)?;
    let next = link(said, first.to)?;
    // The month precedes both days, as in "Nov 28-30".
    if let Some((last, end)) = ordinal(said, next)
        && month(said.at(end)).is_none()
        && !said.is(
            end,
            &[
                "de", "of", "pm", "am", "people", "personas", "guests", "adults",
            ],
        )
        && (first.from..first.to).any(|n| month(said.at(n)).is_some())
    {
        let from = first.stay.from;
        return stay(
            from,
            NaiveDate::from_ymd_opt(from.year(), from.month(), last)?,
            end,
            92,
        );
    }
    let last =
        single(said, next, first.stay.from, language).filter(|at| at.stay.grain == Grain::Day)?;
    stay(
        first.stay.from,
        last.stay.to,
        last.to,
        first.percent.min(last.percent),
    )
}

/// If word `n` ("to", "al") or the sign before word `n` ("-") joins two dates, returns where the
/// second date begins.
fn link(said: &Utterance<'_>, n: usize) -> Option<usize> {
    if said.is(
        n,
        &[
            "to", "through", "thru", "until", "till", "al", "a", "hasta", "and", "y",
        ],
    ) && said.gap(n) <= Gap::Space
    {
        return Some(n + 1 + usize::from(said.is(n + 1, &["the", "el"])));
    }
    matches!(said.between(n), "-" | " - " | "\u{2013}" | " \u{2013} ").then_some(n)
}

fn single(said: &Utterance<'_>, n: usize, today: NaiveDate, language: Language) -> Option<At> {
    if n > 0 && said.is(n - 1, &["last", "every", "each", "cada", "todos"]) || said.is(n, &["last"])
    {
        return None;
    }
    let at = relative(said, n, today)
        .or_else(|| weekend_or_week(said, n, today))
        .or_else(|| by_weekday(said, n, today));
    let at = at
        .or_else(|| by_month(said, n, today))
        .or_else(|| by_figures(said, n, today, language))
        .or_else(|| by_day(said, n, today));
    at.or_else(|| holiday(said, n, today).map(|(date, to)| day(date, n, to, 85)))
}

fn plus(today: NaiveDate, days: u64) -> Option<NaiveDate> {
    today.checked_add_days(Days::new(days))
}

/// Reads a date relative to today: "tonight", "tomorrow", "pasado mañana", "in 3 days".
fn relative(said: &Utterance<'_>, n: usize, today: NaiveDate) -> Option<At> {
    let at = |days, to, percent| Some(day(plus(today, days)?, n, to, percent));
    if let Some(to) = said.one_of(
        n,
        &[
            "day after tomorrow",
            "the day after tomorrow",
            "pasado manana",
        ],
    ) {
        return at(2, to, 92);
    }
    if let Some(to) = said.one_of(
        n,
        &[
            "today",
            "tonight",
            "this evening",
            "this afternoon",
            "hoy",
            "esta noche",
            "esta tarde",
        ],
    ) {
        return at(0, to, 90);
    }
    if said.is(n, &["tomorrow", "tmrw", "tmr"]) {
        return at(1, n + 1, 92);
    }
    // In "por la mañana", "las 9 de la mañana" and "esta mañana", "mañana" means morning and not
    // tomorrow.
    if said.is(n, &["manana"]) && !(n > 0 && said.is(n - 1, &["la", "esta", "una", "cada"])) {
        return at(1, n + 1, 90);
    }
    let count = any_number(said, n + 1)
        .filter(|c| (1..=60).contains(c) && said.is(n, &["in", "en", "dentro"]))?;
    let days = if said.is(n + 2, &["days", "dias"]) {
        count
    } else if said.is(n + 2, &["weeks", "semanas"]) {
        count * 7
    } else {
        return None;
    };
    at(u64::from(days), n + 3, 80)
}

/// Reads a weekend, week or month: "this weekend", "next week", "la próxima semana", "in December".
fn weekend_or_week(said: &Utterance<'_>, n: usize, today: NaiveDate) -> Option<At> {
    let monday = u64::from(today.weekday().num_days_from_monday());
    let stay = |from: u64, to: u64, grain, end, percent| {
        Some(At {
            stay: Stay {
                from: plus(today, from)?,
                to: plus(today, to)?,
                grain,
            },
            from: n,
            to: end,
            percent,
        })
    };
    // The weekend is Saturday and Sunday. On a Sunday, only that Sunday is left.
    let saturday = 5u64.saturating_sub(monday);
    if let Some(end) = said.one_of(
        n,
        &[
            "this weekend",
            "the weekend",
            "este fin de semana",
            "este finde",
            "el fin de semana",
        ],
    ) {
        let follows = said.phrase(end, &["que", "viene"]);
        let coming = said.is(n, &["this", "este"]);
        return match follows {
            Some(end) => stay(12 - monday, 13 - monday, Grain::Weekend, end, 75),
            None => stay(
                saturday,
                6 - monday,
                Grain::Weekend,
                end,
                if coming { 88 } else { 65 },
            ),
        };
    }
    if let Some(end) = said.one_of(
        n,
        &[
            "next weekend",
            "proximo fin de semana",
            "el proximo fin de semana",
            "proximo finde",
        ],
    ) {
        return stay(12 - monday, 13 - monday, Grain::Weekend, end, 75);
    }
    if let Some(end) = said.one_of(
        n,
        &[
            "next week",
            "la proxima semana",
            "proxima semana",
            "la semana que viene",
            "la semana proxima",
        ],
    ) {
        return stay(7 - monday, 13 - monday, Grain::Week, end, 70);
    }
    let led = said.is(n, &["in", "en"]) && said.gap(n + 1) == Gap::Space;
    let named = month(said.at(n + 1))
        .filter(|_| led && any_number(said, n + 2).is_none() && !said.is(n + 1, &["mar"]))?;
    let first = if named == today.month() {
        today
    } else {
        next_date(today, named, 1)?
    };
    let last = first
        .with_day(1)?
        .checked_add_months(chrono::Months::new(1))?
        .pred_opt()?;
    Some(At {
        stay: Stay {
            from: first,
            to: last,
            grain: Grain::Month,
        },
        from: n,
        to: n + 2,
        percent: 70,
    })
}

/// Reads a weekday: "Saturday", "next Friday", "el sábado que viene". A weekday means its next
/// date. If that date is today and the guest said "next", the date a week later is meant.
fn by_weekday(said: &Utterance<'_>, n: usize, today: NaiveDate) -> Option<At> {
    let lead = said.is(
        n,
        &[
            "this", "next", "on", "coming", "el", "este", "proximo", "the",
        ],
    );
    let more = lead && said.is(n + 1, &["coming", "proximo", "next"]);
    let name = n + usize::from(lead) + usize::from(more);
    let found = weekday(said, name)?;
    let plural = said.before(n, 1) == "los";
    let past =
        said.is(name + 1, &["pasado", "pasada"]) || ["last", "past"].contains(&said.before(n, 1));
    if plural || past || said.words[name].possessive {
        return None;
    }
    let follows = said.phrase(name + 1, &["que", "viene"]);
    let week_on = said.is(n, &["next", "proximo"])
        || more && said.is(n + 1, &["next", "proximo"])
        || follows.is_some();
    let to = follows.unwrap_or(name + 1);
    let to = to + usize::from(said.is(to, &["night", "evening", "afternoon", "morning"]));
    // Two cases give no date. "Soy Domingo" states a name. "Martes trece" is a Tuesday the 13th in
    // an unknown month.
    let numbered =
        ordinal(said, to).filter(|(_, end)| *end > to + 1 || said.gap(*end) == Gap::Stop);
    let spelled = any_number(said, to).is_some()
        && ordinal(said, to).is_none()
        && said.gap(to + 1) == Gap::Stop;
    if ["soy", "llamo", "im"].contains(&said.before(n, 1)) || spelled {
        return None;
    }
    let coming = next_weekday(today, found)?;
    let date = if week_on && coming == today {
        plus(today, 7)?
    } else {
        coming
    };
    // If the number after the weekday is not the day of `date`, as in "martes 13", the guest means
    // another date.
    if numbered.is_some_and(|(figure, _)| figure != date.day()) && said.gap(to) <= Gap::Space {
        return None;
    }
    let soon = week_on
        && (date - today).num_days() < 6
        && found.num_days_from_monday() > today.weekday().num_days_from_monday();
    let percent = match (week_on, said.is(n, &["this", "este"])) {
        (true, _) if soon => 65,
        (true, _) => 80,
        (_, true) => 92,
        _ => 85,
    };
    // "Saturday after next" has two readings, a week apart, so it gives no date.
    if said.one_of(to, &["after next"]).is_some() {
        return None;
    }
    Some(day(date, n, to, percent))
}

/// Reads a day with a month: "Nov 28", "28 November", "28 de noviembre", "December 5th, 2026".
fn by_month(said: &Utterance<'_>, n: usize, today: NaiveDate) -> Option<At> {
    let start = n + usize::from(said.is(n, &["el", "the", "on"]));
    let (found, figure, to) = if let Some(found) = month(said.at(start)) {
        let (figure, to) = ordinal(said, start + 1)
            .filter(|_| said.gap(start + 1) <= Gap::Space || said.between(start + 1) == ". ")?;
        // Before these words the number is not a day of the month: "may 2 of us come", "march 4
        // people in".
        let counts = said.is(
            to,
            &[
                "people", "personas", "guests", "of", "pm", "am", "more", "kids", "adults",
                "percent", "dogs",
            ],
        );
        (found, figure, if counts { return None } else { to })
    } else {
        let (figure, after) = ordinal(said, start)?;
        let at = after + usize::from(said.is(after, &["de", "of"]));
        let verb = said.is(at, &["may", "march"]) && at == after && !said.words[at].capital;
        (
            month(said.at(at)).filter(|_| !verb && said.gap(at) <= Gap::Space)?,
            figure,
            at + 1,
        )
    };
    let year = said
        .at(to + usize::from(said.is(to, &["de", "del", "of"])))
        .parse::<i32>()
        .ok()
        .filter(|y| (2000..2100).contains(y));
    let date = match year {
        Some(year) => NaiveDate::from_ymd_opt(year, found, figure).filter(|date| *date >= today)?,
        None => next_date(today, found, figure)?,
    };
    let end = if year.is_some() {
        to + 1 + usize::from(said.is(to, &["de", "del", "of"]))
    } else {
        to
    };
    Some(day(date, n, end, 93))
}
