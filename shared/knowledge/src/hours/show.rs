//! Writes hours as people do, in English and Spanish.

use std::fmt;

use chrono::{DateTime, Utc, Weekday};
use chrono_tz::Tz;
use seven_domain::Language;

use super::{DAY, Span, WeeklyHours};

const SHORT: [[&str; 7]; 2] =
    [["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"], ["lun", "mar", "mie", "jue", "vie", "sab", "dom"]];
const LONG: [[&str; 7]; 2] = [
    ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"],
    ["lunes", "martes", "miercoles", "jueves", "viernes", "sabado", "domingo"],
];

fn row<'a>(table: &'a [[&'a str; 7]; 2], language: Language) -> &'a [&'a str; 7] {
    match language {
        Language::En => &table[0],
        Language::Es => &table[1],
    }
}

/// Returns a weekday's name: "Friday", "viernes" (without accents, so that Spanish stays in GSM-7).
pub fn day_name(day: Weekday, language: Language) -> &'static str {
    row(&LONG, language)[day.num_days_from_monday() as usize]
}

/// Writes a time of day such as "10pm", "6:30am", "12am"; the same in both languages.
pub fn clock(minute: u16) -> String {
    let minute = minute % DAY;
    let half = if minute < 720 { "am" } else { "pm" };
    let hour = match minute / 60 % 12 {
        0 => 12,
        hour => hour,
    };
    match minute % 60 {
        0 => format!("{hour}{half}"),
        rest => format!("{hour}:{rest:02}{half}"),
    }
}

impl WeeklyHours {
    /// Writes the week in short: "Sun-Thu 11am-10pm, Fri-Sat 11am-12am" or "dom-jue 11am-10pm,
    /// vie-sab 11am-12am".
    pub fn show(&self, language: Language) -> String {
        let (daily, always, closed, and) = match language {
            Language::En => ("Daily", "24 hours", "Closed", "and"),
            Language::Es => ("Diario", "24 horas", "Cerrado", "y"),
        };
        if self.is_always_usually() {
            return always.to_owned();
        }
        if self.is_empty() {
            return closed.to_owned();
        }
        let spans = |spans: &[Span]| match spans {
            [Span { opens: 0, closes: DAY }] => always.to_owned(),
            spans => spans
                .iter()
                .map(|s| format!("{}-{}", clock(s.opens), clock(s.closes)))
                .collect::<Vec<_>>()
                .join(&format!(" {and} ")),
        };
        let Some(first) = (0..7).find(|d| self.days[*d] != self.days[(d + 6) % 7]) else {
            return format!("{daily} {}", spans(&self.days[0]));
        };
        let names = row(&SHORT, language);
        let mut runs: Vec<(usize, usize)> = Vec::new();
        for day in (0..7).map(|n| (first + n) % 7) {
            match runs.last_mut() {
                Some((_, last)) if self.days[*last] == self.days[day] => *last = day,
                _ => runs.push((day, day)),
            }
        }
        // People start the week on Monday, unless the run of days itself continues past Sunday.
        let wraps = |(a, b): &(usize, usize)| a > b;
        runs.sort_by_key(|run| (!wraps(run), run.0));
        runs.iter()
            .filter(|(from, _)| !self.days[*from].is_empty())
            .map(|(from, to)| {
                let days =
                    if from == to { names[*from].to_owned() } else { format!("{}-{}", names[*from], names[*to]) };
                format!("{days} {}", spans(&self.days[*from]))
            })
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// Writes "until 10pm" or "hasta las 10pm" for a venue open at `at`; "24 hours" if it never
    /// closes; `None` if it is closed.
    pub fn until(&self, at: DateTime<Utc>, tz: Tz, language: Language) -> Option<String> {
        if !self.is_open(at, tz) {
            return None;
        }
        Some(match (self.closes_at(at, tz), language) {
            (None, Language::En) => "24 hours".to_owned(),
            (None, Language::Es) => "24 horas".to_owned(),
            (Some(m), Language::En) => format!("until {}", clock(m.minute())),
            (Some(m), Language::Es) => format!("hasta {} {}", article(m.minute()), clock(m.minute())),
        })
    }
}

/// Returns the Spanish article: "la 1pm", but "las 2pm".
pub(crate) fn article(minute: u16) -> &'static str {
    if minute / 60 % 12 == 1 { "la" } else { "las" }
}

impl fmt::Display for WeeklyHours {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.show(Language::En))
    }
}
