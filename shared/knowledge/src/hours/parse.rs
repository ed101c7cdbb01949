//! Reads door signs: "Sun-Thu 11am-10pm, Fri-Sat 11am-12am", "Closed Mon, Tue-Sun 5pm-11pm".

use std::{fmt, sync::LazyLock};

use regex::Regex;

use super::{DAY, Span, WeeklyHours};
use seven_domain::Language;
use seven_text::{calendar, fold};

/// A text that cannot be read as opening hours, and the reason.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot read `{text}` as opening hours: {reason}")]
pub struct HoursError {
    pub text: String,
    pub reason: String,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Token {
    Day(usize),
    Every,
    Weekdays,
    Weekend,
    Time { minute: u16, half: Half },
    Dash,
    And,
    Comma,
    Always,
    Closed,
}

/// How a written time shows whether it is before or after noon.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Half {
    Said,
    /// The time is written on the 24-hour clock: "22:00".
    Clock24,
    /// The half of the day is not written, as for "5" in "5-10pm"; the other time decides.
    Unsaid,
}

const PATTERN: &str = r"(?x)
    (?P<always> 24\s*/\s*7 | 24\s*-?\s*(?:hours?|hrs?|horas?|h)\b(?:\s+a\s+day)? | always\s+open | round\s+the\s+clock )
  | (?P<time> \d{1,2}(?::\d{2})?\s*(?:[ap]\.?\s?m\b\.?)? ) | (?P<named> noon | midnight | mediodia | medianoche )
  | (?P<dash> - | \bto\b | \buntil\b | \btill?\b | \bthrough\b | \ba\b | \bhasta\b ) | (?P<and> & | \+ | \band\b | \by\b ) | (?P<comma> [,;/\n|] )
  | (?P<word> [a-z]+ ) | (?P<skip> [\s.:()] ) | (?P<bad> . )";

static TOKENS: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(PATTERN).expect("the pattern is a constant"));

/// Returns the weekday, from Monday = 0, that a word names in full, in the plural or shortened.
fn day(word: &str) -> Option<usize> {
    let short = || {
        Language::ALL
            .into_iter()
            .find_map(|language| calendar::short_weekday(word, language))
    };
    let plural = || calendar::weekday(word.strip_suffix('s')?);
    let day = calendar::weekday(word).or_else(short).or_else(plural)?;
    Some(day.num_days_from_monday() as usize)
}

fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let folded = fold(text);
    let mut tokens = Vec::new();
    for found in TOKENS.captures_iter(&folded) {
        let whole = found.get(0).map_or("", |m| m.as_str());
        let token = if found.name("always").is_some() {
            Token::Always
        } else if found.name("time").is_some() {
            time(whole)?
        } else if found.name("named").is_some() {
            let minute = if whole.starts_with("noon") || whole == "mediodia" {
                720
            } else {
                0
            };
            Token::Time {
                minute,
                half: Half::Said,
            }
        } else if found.name("dash").is_some() {
            Token::Dash
        } else if found.name("and").is_some() {
            Token::And
        } else if found.name("comma").is_some() {
            Token::Comma
        } else if found.name("word").is_some() {
            match whole {
                "daily" | "everyday" | "diario" | "diariamente" | "todos" | "siempre" => {
                    Token::Every
                }
                "every" | "all" | "open" | "abierto" | "from" | "de" | "desde" | "las" | "la"
                | "los" | "at" | "day" | "days" | "dias" | "week" | "hours" | "hrs" | "cada"
                | "el" => continue,
                "weekday" | "weekdays" => Token::Weekdays,
                "weekend" | "weekends" => Token::Weekend,
                "closed" | "cerrado" => Token::Closed,
                word => Token::Day(
                    day(word).ok_or_else(|| format!("`{word}` is neither a weekday nor a time"))?,
                ),
            }
        } else if found.name("skip").is_some() {
            continue;
        } else {
            return Err(format!("`{whole}` has no meaning here"));
        };
        tokens.push(token);
    }
    Ok(tokens)
}

fn time(text: &str) -> Result<Token, String> {
    let bad = || format!("`{}` is no time of day", text.trim());
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let (hour, minute) = digits.split_once(':').unwrap_or((digits, "0"));
    let (hour, rest): (u16, u16) = (
        hour.parse().map_err(|_| bad())?,
        minute.parse().map_err(|_| bad())?,
    );
    let suffix = text[digits.len()..].trim_start();
    let (minute, half) = match suffix.chars().next() {
        Some(_) if !(1..=12).contains(&hour) || rest > 59 => return Err(bad()),
        Some('a') => (hour % 12 * 60 + rest, Half::Said),
        Some(_) => (hour % 12 * 60 + 720 + rest, Half::Said),
        None if rest > 59 || hour * 60 + rest > DAY => return Err(bad()),
        None if digits.contains(':') || hour > 12 => (hour * 60 + rest, Half::Clock24),
        None => (hour * 60 + rest, Half::Unsaid),
    };
    Ok(Token::Time { minute, half })
}

/// Makes an opening from two times. If one of them lacks am or pm, the other decides.
fn span(from: (u16, Half), to: (u16, Half)) -> Result<Span, String> {
    let twelve = |minute: u16| if minute >= 720 { minute - 720 } else { minute };
    let (opens, closes) = match (from, to) {
        ((_, Half::Unsaid), (_, Half::Unsaid)) => return Err("say am or pm".into()),
        ((a, Half::Unsaid), (b, _)) => {
            let same = twelve(a) + if b >= 720 { 720 } else { 0 };
            (if same < b { same } else { (same + 720) % DAY }, b)
        }
        ((a, _), (b, Half::Unsaid)) => {
            let same = twelve(b) + if a >= 720 { 720 } else { 0 };
            (a, if same > a { same } else { same + 720 })
        }
        ((a, _), (b, _)) => (a, b),
    };
    let opens = opens % DAY;
    let closes = if closes % DAY <= opens {
        closes % DAY + DAY
    } else {
        closes
    };
    Ok(Span { opens, closes })
}

/// The week as far as its tokens have been read.
struct Week {
    days: [Vec<Span>; 7],
    /// Groups of days named since the last opening, such as `[Mon]`, `[Tue..Sun]`.
    groups: Vec<Vec<usize>>,
    /// The days to which the next opening belongs.
    current: Vec<usize>,
    /// Days whose hours come from a general word such as "daily". Hours of a named day replace
    /// them.
    blanket: [bool; 7],
    closing: bool,
    said: bool,
}

impl Week {
    /// Decides to which days the next time applies. In "Closed Mon, Tue-Sun 5pm", the time applies
    /// only to the last group, "Tue-Sun".
    fn take_days(&mut self) {
        if self.groups.is_empty() {
            if !self.said {
                self.current = (0..7).collect();
                self.blanket = [true; 7];
            }
            return;
        }
        if self.closing {
            let keep = (self.groups.len() - 1).max(1);
            let closed: Vec<usize> = self.groups.drain(..keep).flatten().collect();
            self.close(&closed);
            if self.groups.is_empty() {
                self.groups
                    .push((0..7).filter(|day| !closed.contains(day)).collect());
            }
            self.closing = false;
        }
        self.current = self.groups.drain(..).flatten().collect();
        let all = self.current.len() == 7;
        for &day in &self.current {
            if self.blanket[day] && !all {
                self.days[day].clear();
            }
            self.blanket[day] = all;
        }
    }

    fn close(&mut self, days: &[usize]) {
        for &day in days {
            self.days[day].clear();
            self.blanket[day] = false;
        }
        self.said = true;
    }

    fn add(&mut self, span: Span) {
        self.take_days();
        for &day in &self.current {
            self.days[day].push(span);
        }
        self.said = true;
    }
}

fn range(from: usize, to: usize) -> Vec<usize> {
    let length = (to + 7 - from) % 7;
    (0..=length).map(|n| (from + n) % 7).collect()
}

/// Reads the whole text. If `starts` is true, single times ("Fri-Sat 9pm") are accepted too; they
/// become openings without a length.
fn week(text: &str, starts: bool) -> Result<[Vec<Span>; 7], String> {
    let tokens = tokens(text)?;
    let mut week = Week {
        days: Default::default(),
        groups: Vec::new(),
        current: Vec::new(),
        blanket: [false; 7],
        closing: false,
        said: false,
    };
    let mut at = 0;
    while at < tokens.len() {
        match (tokens[at], tokens.get(at + 1), tokens.get(at + 2)) {
            (Token::Day(from), Some(Token::Dash), Some(Token::Day(to))) => {
                week.groups.push(range(from, *to));
                at += 3;
                continue;
            }
            (Token::Day(day), ..) => week.groups.push(vec![day]),
            (Token::Every, ..) => week.groups.push((0..7).collect()),
            (Token::Weekdays, ..) => week.groups.push((0..5).collect()),
            (Token::Weekend, ..) => week.groups.push(vec![5, 6]),
            (Token::Always, ..) => week.add(Span {
                opens: 0,
                closes: DAY,
            }),
            (
                Token::Time {
                    minute: a,
                    half: ha,
                },
                Some(Token::Dash),
                Some(Token::Time {
                    minute: b,
                    half: hb,
                }),
            ) => {
                week.add(span((a, ha), (*b, *hb))?);
                at += 3;
                continue;
            }
            (Token::Time { minute, half }, ..) if starts && half != Half::Unsaid => {
                week.add(Span {
                    opens: minute,
                    closes: minute,
                });
            }
            (Token::Time { .. }, ..) => {
                return Err("a time without its other end; write both, such as 11am-10pm".into());
            }
            (Token::Closed, ..) if week.groups.is_empty() || week.closing => week.closing = true,
            (Token::Closed, ..) => {
                let days: Vec<usize> = week.groups.drain(..).flatten().collect();
                week.close(&days);
            }
            (Token::Comma | Token::And | Token::Dash, ..) => {}
        }
        at += 1;
    }
    if week.closing {
        let days: Vec<usize> = if week.groups.is_empty() && !week.said {
            (0..7).collect()
        } else {
            week.groups.concat()
        };
        week.close(&days);
    } else if !week.groups.is_empty() {
        return Err("days without hours; write such as Mon-Fri 9am-5pm".into());
    }
    if week.said {
        Ok(week.days)
    } else {
        Err("no hours in it; write such as Daily 7am-2am, or 24 hours".into())
    }
}

pub(super) fn weekly(text: &str) -> Result<WeeklyHours, HoursError> {
    week(text, false)
        .map(WeeklyHours::new)
        .map_err(|reason| HoursError {
            text: text.to_owned(),
            reason,
        })
}

/// Reads the weekly starting times of a show ("Fri-Sat 9pm"), Monday first, in minutes of the day.
/// Fails if the text says anything else, such as a season.
pub fn weekly_starts(text: &str) -> Result<[Vec<u16>; 7], HoursError> {
    let days = week(text, true).map_err(|reason| HoursError {
        text: text.to_owned(),
        reason,
    })?;
    Ok(days.map(|spans| spans.into_iter().map(|s| s.opens).collect()))
}

pub(super) fn weekly_json(value: &serde_json::Value) -> Result<WeeklyHours, HoursError> {
    let fail = |text: &dyn fmt::Display, reason: &str| HoursError {
        text: text.to_string(),
        reason: reason.to_owned(),
    };
    match value {
        serde_json::Value::String(text) => weekly(text),
        serde_json::Value::Object(map) => {
            let mut week: [Vec<Span>; 7] = Default::default();
            for (key, spans) in map {
                let days = match fold(key).as_str() {
                    "daily" => (0..7).collect(),
                    word => {
                        vec![day(word).ok_or_else(|| {
                            fail(&key, "the key is no weekday; write mon, tue, ... sun")
                        })?]
                    }
                };
                let texts: Vec<&str> = match spans {
                    serde_json::Value::String(text) => vec![text],
                    serde_json::Value::Array(list) => {
                        list.iter().filter_map(serde_json::Value::as_str).collect()
                    }
                    _ => return Err(fail(spans, "write a list such as [\"11:00-22:00\"]")),
                };
                for text in texts {
                    let read = weekly(text)?;
                    for &d in &days {
                        // This text has no weekdays, so all days of its week have the same
                        // openings.
                        week[d].extend_from_slice(&read.days[0]);
                    }
                }
            }
            Ok(WeeklyHours::new(week))
        }
        other => Err(fail(
            other,
            "write text such as Daily 7am-2am, or an object of weekdays",
        )),
    }
}
