//! Reads the time that a guest means: "tonight", "at 3am", "this weekend", "el sábado por la
//! noche".

use std::sync::LazyLock;

use chrono::{
    DateTime, Datelike, Days, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, TimeZone, Timelike,
    Utc, Weekday,
};
use chrono_tz::Tz;
use regex::Regex;
use seven_domain::Language;
use seven_knowledge::hours::clock;
use seven_text::{calendar, fold};

use super::{
    dates,
    pack::HostPack,
    phrases::{Phrases, Tokens},
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Day {
    Today,
    Tomorrow,
    /// The next day that is this weekday, today included.
    Named(Weekday),
    Date(NaiveDate),
    /// The first day of the month, or today if the month has already begun.
    Month(NaiveDate),
    Weekend,
    Week,
    NextWeekend,
    NextWeek,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Time {
    Now,
    /// An evening, such as "tonight" or "saturday night".
    Evening,
    Late,
    Morning,
    Afternoon,
    /// The minute of the day that the guest named.
    Clock(u16),
    /// The minute of a time without am or pm, such as "at 9" or "7:30"; always below 720.
    Half(u16),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct When {
    pub(crate) day: Option<Day>,
    pub(crate) time: Option<Time>,
}

/// The moment or day for which a text asks whether places are open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asked {
    /// The present moment.
    Now,
    /// Another moment, with the time and the date to write in the reply.
    At(DateTime<Utc>, Time, NaiveDate),
    /// Any time of that day.
    On(NaiveDate),
}

static CLOCK: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r"(?x) \b(?P<hour>\d{1,2})(?::(?P<minute>\d{2}))?\s*
        (?: (?P<half>[ap])\.?\s?m\b\.? | de\sla\s(?P<part>manana|madrugada|tarde|noche)\b | in\sthe\s(?P<en>morning|afternoon|evening)\b | (?P<h24>h\b) )?";
    Regex::new(pattern).expect("the pattern is a constant")
});

// === impl Time ===

impl Time {
    /// Returns whether the guest named a clock time, such as "9:30 pm".
    pub(crate) fn is_exact(self) -> bool {
        matches!(self, Self::Clock(_) | Self::Half(_))
    }
}

// === impl When ===

impl When {
    /// Reads the time in the text. Also returns the ranges of words that were read, so that the
    /// caller can treat them as understood.
    pub(crate) fn read(
        pack: &HostPack,
        text: &str,
        said: &Tokens,
        today: NaiveDate,
    ) -> (Self, Vec<(usize, usize)>) {
        let mut places = Vec::new();
        let mut has = |key: &str| {
            let found = pack
                .times
                .get(key)
                .map(|p: &Phrases| p.places(said))
                .unwrap_or_default();
            places.extend_from_slice(&found);
            !found.is_empty()
        };
        let (tonight, evening, late, now) =
            (has("tonight"), has("evening"), has("late"), has("now"));
        let (morning, afternoon, lunch) = (has("morning"), has("afternoon"), has("lunchtime"));
        let (noon, midnight) = (has("noon"), has("midnight"));
        let (this_day, tomorrow, weekend, week) =
            (has("today"), has("tomorrow"), has("weekend"), has("week"));
        let named = said.words.iter().enumerate();
        let named = named.filter(|(_, word)| weekday(word).is_some());
        let named: Vec<usize> = named.map(|(at, _)| at).collect();
        // "Not tomorrow, Friday": of several days, those that are refused do not count.
        let refused = |key: &str| {
            let all = places_of(pack, key, said);
            !named.is_empty() && !all.is_empty() && all.iter().all(|at| is_refused(said, *at))
        };
        let (this_day, tomorrow) = (
            this_day && !refused("today"),
            tomorrow && !refused("tomorrow"),
        );
        let kept = |at: &&usize| !is_refused(said, (**at, **at + 1));
        let named = named.iter().find(kept).or(named.first()).copied();
        places.extend(named.map(|at| (at, at + 1)));
        let date = dates::said(text, &said.words, today)
            .or_else(|| dates::holiday_said(text, &said.words, today));
        places.extend(date.map(|(_, place)| place));
        let month = if date.is_none() {
            dates::month_said(&said.words, today)
        } else {
            None
        };
        places.extend(month.map(|(_, place)| place));
        let clock = clock_said(text);
        if clock.is_some() {
            let digits = |w: &String| {
                w.starts_with(|c: char| c.is_ascii_digit())
                    || ["am", "pm", "a", "p", "m", "at"].contains(&w.as_str())
            };
            places.extend(
                said.words
                    .iter()
                    .enumerate()
                    .filter(|(_, w)| digits(w))
                    .map(|(n, _)| (n, n + 1)),
            );
        }
        // "Mañana" means tomorrow, except in "por la mañana" and "3 de la mañana".
        let morning_only = places_of(pack, "morning", said);
        let tomorrow = tomorrow
            && places_of(pack, "tomorrow", said).iter().any(|t| {
                said.words[t.0] != "manana"
                    || !morning_only.iter().any(|m| m.0 <= t.0 && t.1 <= m.1)
            })
            && !(clock.is_some() && fold(text).contains("de la manana"));
        // "Next Saturday" is seven days ahead if today is a Saturday. "Next weekend" always means
        // the weekend of the next week.
        let follows = said
            .words
            .iter()
            .any(|w| ["next", "proximo", "proxima"].contains(&w.as_str()))
            || said
                .words
                .windows(2)
                .any(|w| w[0] == "que" && w[1] == "viene");
        let next_week = follows && said.words.iter().any(|w| w == "week" || w == "semana");
        let day = match named.and_then(|at| weekday(&said.words[at])) {
            _ if date.is_some() => date.map(|(date, _)| Day::Date(date)),
            _ if month.is_some() => month.map(|(first, _)| Day::Month(first)),
            _ if tomorrow => Some(Day::Tomorrow),
            Some(day) if follows && day == today.weekday() => {
                today.checked_add_days(Days::new(7)).map(Day::Date)
            }
            Some(day) => Some(Day::Named(day)),
            None if weekend && follows => Some(Day::NextWeekend),
            None if next_week => Some(Day::NextWeek),
            None if weekend => Some(Day::Weekend),
            None if week => Some(Day::Week),
            None => this_day.then_some(Day::Today),
        };
        let time = match clock {
            // "At 4:30 tonight" means 16:30; "at 1 tonight" means 01:00, after midnight.
            Some(Time::Half(half)) if tonight || evening => {
                Some(Time::Clock(if half >= 4 * 60 { half + 720 } else { half }))
            }
            Some(time) => Some(time),
            None if noon => Some(Time::Clock(720)),
            None if midnight => Some(Time::Clock(0)),
            None if tonight || evening => Some(Time::Evening),
            None if late => Some(Time::Late),
            None if morning => Some(Time::Morning),
            None if afternoon || lunch => Some(Time::Afternoon),
            None => now.then_some(Time::Now),
        };
        // A text with both "right now" and "tonight" means now.
        let time = if now && clock.is_none() {
            Some(Time::Now)
        } else {
            time
        };
        (Self { day, time }, places)
    }

    pub(crate) fn is_said(self) -> bool {
        self.day.is_some() || self.time.is_some()
    }

    /// Returns whether the text means more than one day.
    pub(crate) fn is_long(self) -> bool {
        matches!(
            self.day,
            Some(Day::Weekend | Day::Week | Day::NextWeekend | Day::NextWeek | Day::Month(_))
        )
    }

    /// Returns the moment or day that a question such as "is it open" is about. Once the evening
    /// has begun (17:00 to 5:00), "tonight" is the present moment.
    pub(crate) fn asked(self, now: DateTime<Utc>, zone: Tz) -> Asked {
        let local = now.with_timezone(&zone).naive_local();
        let night = local.hour() >= 17 || local.hour() < 5;
        let date = self.date(local);
        let today = date == local.date();
        let at = |minute: u16, time: Time| {
            let mut wall = date.and_time(NaiveTime::MIN) + TimeDelta::minutes(minute.into());
            // If this time of day has passed, the guest means tomorrow, but "Friday at 2am" stays
            // on Friday.
            if wall < local
                && !matches!(self.day, Some(Day::Named(_) | Day::Tomorrow | Day::Date(_)))
            {
                wall += TimeDelta::days(1);
            }
            Asked::At(instant(wall, zone), time, wall.date())
        };
        match self.time {
            Some(Time::Now) => Asked::Now,
            Some(Time::Evening) if today && night => Asked::Now,
            Some(Time::Late) if today && (local.hour() >= 23 || local.hour() < 5) => Asked::Now,
            Some(Time::Evening) => at(19 * 60, Time::Evening),
            Some(Time::Late) => at(23 * 60, Time::Late),
            Some(Time::Morning) if today && (5..11).contains(&local.hour()) => Asked::Now,
            Some(Time::Morning) => at(9 * 60, Time::Morning),
            Some(Time::Afternoon) if today && (12..17).contains(&local.hour()) => Asked::Now,
            Some(Time::Afternoon) => at(13 * 60, Time::Afternoon),
            Some(Time::Clock(minute)) => at(minute, Time::Clock(minute)),
            Some(Time::Half(early)) => {
                let minute = local.hour() * 60 + local.minute();
                let late = early + 720;
                // On another day, "at 9" means 9pm. Today it means the next 9 o'clock, am or pm.
                let next = if today && (minute > late.into() || minute <= early.into()) {
                    early
                } else {
                    late
                };
                at(next, Time::Clock(next))
            }
            None if self.day.is_some() => Asked::On(date),
            None => Asked::Now,
        }
    }

    fn date(self, local: NaiveDateTime) -> NaiveDate {
        let today = local.date();
        let ahead = |weekday: Weekday| {
            u64::from(
                (weekday.num_days_from_monday() + 7 - today.weekday().num_days_from_monday()) % 7,
            )
        };
        let days = match self.day {
            Some(Day::Date(date) | Day::Month(date)) => return date,
            None | Some(Day::Today | Day::Week) => 0,
            Some(Day::NextWeek) => 7 - u64::from(today.weekday().num_days_from_monday()),
            Some(Day::NextWeekend) => 12 - u64::from(today.weekday().num_days_from_monday()),
            Some(Day::Tomorrow) => 1,
            Some(Day::Named(weekday)) => ahead(weekday),
            Some(Day::Weekend) if [Weekday::Sat, Weekday::Sun].contains(&today.weekday()) => 0,
            Some(Day::Weekend) => ahead(Weekday::Sat),
        };
        today.checked_add_days(Days::new(days)).unwrap_or(today)
    }

    /// Returns the local times between which the guest looks for events. A day lasts until 5 the
    /// next morning. `None` if the text names no time.
    pub(crate) fn range(
        self,
        now: DateTime<Utc>,
        zone: Tz,
    ) -> Option<(NaiveDateTime, NaiveDateTime)> {
        if !self.is_said() {
            return None;
        }
        let local = now.with_timezone(&zone).naive_local();
        let date = self.date(local);
        let midnight = |date: NaiveDate| date.and_time(NaiveTime::MIN);
        let five = |date: NaiveDate| midnight(date) + TimeDelta::hours(29);
        let monday = u64::from(local.weekday().num_days_from_monday());
        let plus = |days: u64| {
            local
                .date()
                .checked_add_days(Days::new(days))
                .unwrap_or(local.date())
        };
        let (from, to) = match self.day {
            // The weekend begins on Friday evening.
            Some(Day::Weekend) => (
                midnight(plus(4u64.saturating_sub(monday))) + TimeDelta::hours(17),
                five(plus(6 - monday)),
            ),
            Some(Day::NextWeekend) => (
                midnight(plus(11 - monday)) + TimeDelta::hours(17),
                five(plus(13 - monday)),
            ),
            Some(Day::NextWeek) => (midnight(plus(7 - monday)), five(plus(13 - monday))),
            Some(Day::Week) => (local, five(plus(7))),
            Some(Day::Month(first)) => {
                let last = first
                    .with_day(1)
                    .and_then(|d| d.checked_add_months(chrono::Months::new(1)))
                    .unwrap_or(first);
                (midnight(first), midnight(last))
            }
            _ => (midnight(date), five(date)),
        };
        let small_hours = date == local.date() && local.hour() < 5;
        let from = match self.time {
            Some(Time::Evening | Time::Late) if !small_hours => {
                from.max(midnight(date) + TimeDelta::hours(17))
            }
            Some(Time::Afternoon) => from.max(midnight(date) + TimeDelta::hours(12)),
            _ => from,
        };
        let to = match self.time {
            Some(Time::Morning) => midnight(date) + TimeDelta::hours(12),
            Some(Time::Afternoon) => midnight(date) + TimeDelta::hours(18),
            _ => to,
        };
        Some((from.max(local - TimeDelta::minutes(30)), to))
    }
}

/// Returns whether the guest refuses the day that these words name, as in "no es el sabado" and
/// "tomorrow no". A "no" that begins the text refuses what was said before: "No, Saturday".
fn is_refused(said: &Tokens, (from, to): (usize, usize)) -> bool {
    const BETWEEN: [&str; 6] = ["el", "la", "on", "this", "para", "for"];
    let words: Vec<&str> = said.words.iter().map(String::as_str).collect();
    let between = |word: &&&str| BETWEEN.contains(*word);
    let before = &words[..from - words[..from].iter().rev().take_while(between).count()];
    let denied = match before {
        [.., "no", "es"] | [.., "not" | "isnt"] => true,
        [earlier @ .., "no"] => !earlier.is_empty(),
        _ => false,
    };
    denied || words.get(to) == Some(&"no")
}

/// Names a day relative to today: "today", "tomorrow", "on Friday". A day that is at least seven
/// days ahead is written as a date.
pub(crate) fn day_words(date: NaiveDate, today: NaiveDate, language: Language) -> String {
    match ((date - today).num_days(), language) {
        (7.., _) => dates::words(date, language),
        (0, Language::En) => "today".to_owned(),
        (0, Language::Es) => "hoy".to_owned(),
        (1, Language::En) => "tomorrow".to_owned(),
        (1, Language::Es) => "mañana".to_owned(),
        (_, Language::En) => format!("on {}", calendar::weekday_name(date.weekday(), language)),
        (_, Language::Es) => format!("el {}", calendar::weekday_name(date.weekday(), language)),
    }
}

/// Writes a time of day: "5pm", "las 5pm".
pub(crate) fn time_words(minute: u16, language: Language) -> String {
    match language {
        Language::En => clock(minute),
        Language::Es => format!(
            "{} {}",
            if minute / 60 % 12 == 1 { "la" } else { "las" },
            clock(minute)
        ),
    }
}

pub(crate) fn instant(wall: NaiveDateTime, zone: Tz) -> DateTime<Utc> {
    // If the clocks skip this local time, reads it with the offset from before the change. The
    // result is a later time.
    let earliest = zone.from_local_datetime(&wall).earliest();
    let shifted = || {
        zone.from_local_datetime(&(wall - TimeDelta::hours(3)))
            .earliest()
            .map(|t| t + TimeDelta::hours(3))
    };
    earliest
        .or_else(shifted)
        .map_or_else(|| wall.and_utc(), |t| t.to_utc())
}

fn places_of(pack: &HostPack, key: &str, said: &Tokens) -> Vec<(usize, usize)> {
    pack.times
        .get(key)
        .map(|p| p.places(said))
        .unwrap_or_default()
}

/// Returns the weekday that a word names, also in the plural: "Mondays".
fn weekday(word: &str) -> Option<Weekday> {
    let named = |word: &str| {
        calendar::weekday(word).or_else(|| calendar::short_weekday(word, Language::En))
    };
    named(word).or_else(|| calendar::weekday(word.strip_suffix('s')?))
}

/// Reads a time of day in the text: "3am", "9:30 pm", "15:00", "las 3 de la madrugada", or "at 9".
fn clock_said(text: &str) -> Option<Time> {
    let text = fold(text);
    CLOCK.captures_iter(&text).find_map(|found| {
        let hour: u16 = found["hour"].parse().ok().filter(|h| *h <= 24)?;
        let minute: u16 = found
            .name("minute")
            .map_or(Some(0), |m| m.as_str().parse().ok().filter(|m| *m < 60))?;
        let said = |name: &str| found.name(name).map(|m| m.as_str());
        let twelve = (1..=12).contains(&hour);
        let late = match (said("half"), said("part"), said("en")) {
            (Some("a"), ..) | (_, Some("manana" | "madrugada"), _) | (.., Some("morning")) => {
                Some(false)
            }
            (Some(_), ..) | (_, Some(_), _) | (.., Some(_)) => Some(true),
            _ => None,
        };
        // "12 de la noche" means midnight.
        let late = if said("part") == Some("noche") && hour == 12 {
            Some(false)
        } else {
            late
        };
        match late {
            Some(late) if twelve => Some(Time::Clock(
                hour % 12 * 60 + minute + if late { 720 } else { 0 },
            )),
            Some(_) => None,
            None if found.name("minute").is_some() && (hour > 12 || hour == 0) => {
                Some(Time::Clock(hour % 24 * 60 + minute))
            }
            None if said("h24").is_some() && hour != 24 => Some(Time::Clock(hour * 60 + minute)),
            None if twelve && found.name("h24").is_none() => {
                let before = text[..found.get(0).map_or(0, |m| m.start())].trim_end();
                let after = text[found.get(0).map_or(0, |m| m.end())..].trim_start();
                let named = [
                    " at", " a las", " a la", " by", " around", " until", " past", " after",
                ]
                .iter()
                .any(|w| format!(" {before}").ends_with(w));
                // In "at 9 dollars" and "a las 4 personas", the number is not a time.
                let counts = [
                    "people", "person", "guests", "dollars", "usd", "street", "percent", "%",
                ]
                .iter()
                .any(|w| after.starts_with(w));
                ((named || found.name("minute").is_some()) && !counts)
                    .then_some(Time::Half(hour % 12 * 60 + minute))
            }
            None => None,
        }
    })
}
