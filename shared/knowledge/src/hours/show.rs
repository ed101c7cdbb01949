//! Writes opening hours as people do, in English and Spanish.

use std::fmt;

use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use seven_domain::Language;
use seven_text::calendar;

use super::{DAY, Span, WeeklyHours};

/// Writes a time of day such as "10pm", "6:30am" or "12am"; it is the same in both languages.
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
    /// Writes the week in short form: "Sun-Thu 11am-10pm, Fri-Sat 11am-12am", "dom-jue 11am-10pm".
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
            [
                Span {
                    opens: 0,
                    closes: DAY,
                },
            ] => always.to_owned(),
            spans => spans
                .iter()
                .map(|s| format!("{}-{}", clock(s.opens), clock(s.closes)))
                .collect::<Vec<_>>()
                .join(&format!(" {and} ")),
        };
        let Some(first) = (0..7).find(|d| self.days[*d] != self.days[(d + 6) % 7]) else {
            return format!("{daily} {}", spans(&self.days[0]));
        };
        let names = calendar::short_weekdays(language);
        let mut runs: Vec<(usize, usize)> = Vec::new();
        for day in (0..7).map(|n| (first + n) % 7) {
            match runs.last_mut() {
                Some((_, last)) if self.days[*last] == self.days[day] => *last = day,
                _ => runs.push((day, day)),
            }
        }
        // The list begins with Monday, or with a run of days that contains both Sunday and Monday.
        let wraps = |(a, b): &(usize, usize)| a > b;
        runs.sort_by_key(|run| (!wraps(run), run.0));
        runs.iter()
            .filter(|(from, _)| !self.days[*from].is_empty())
            .map(|(from, to)| {
                let days = if from == to {
                    names[*from].to_owned()
                } else {
                    format!("{}-{}", names[*from], names[*to])
                };
                format!("{days} {}", spans(&self.days[*from]))
            })
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// For a venue that is open at `at`, writes "until 10pm" or "hasta las 10pm", or "24 hours" if
    /// it never closes. `None` if the venue is closed.
    pub fn until(&self, at: DateTime<Utc>, tz: Tz, language: Language) -> Option<String> {
        if !self.is_open(at, tz) {
            return None;
        }
        Some(match (self.closes_at(at, tz), language) {
            (None, Language::En) => "24 hours".to_owned(),
            (None, Language::Es) => "24 horas".to_owned(),
            (Some(m), Language::En) => format!("until {}", clock(m.minute())),
            (Some(m), Language::Es) => {
                format!("hasta {} {}", article(m.minute()), clock(m.minute()))
            }
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
