//! Writes when a show takes place or a venue is open.

use std::sync::Arc;

use chrono::{Datelike as _, NaiveDateTime, TimeDelta, Timelike as _};
use seven_domain::Language;
use seven_knowledge::{Item, hours::weekly_starts, item::Details};
use seven_text::calendar;

use crate::{
    dates,
    host::Host,
    when::{Asked, Time, day_words, time_words},
};

/// Writes when one show takes place: "today at 8pm".
pub(crate) fn when_of(host: &Host<'_>, item: &Item) -> Option<String> {
    let next = nights(host, &[Arc::new(item.clone())]).into_iter().next();
    let Details::Entertainment(d) = &item.details else {
        return None;
    };
    match next {
        Some(night) => {
            let day = day_of(host, &night);
            Some(host.say(
                "day_at",
                &[
                    ("day", &day),
                    ("time", &time_words(minute(night.wall), host.language)),
                ],
            ))
        }
        None => d.schedule.clone(),
    }
}

/// Writes a sentence such as "Riverlight Trio is today at 8pm at Birch Hall."
pub(crate) fn time_of(host: &Host<'_>, item: &Item) -> Option<String> {
    let when = when_of(host, item)?;
    let place = item.location().unwrap_or_default();
    Some(host.say(
        "event_time",
        &[
            ("name", &host.name(item)),
            ("value", &when),
            ("place", place),
        ],
    ))
}

/// Writes when the next performance of a show ends; `None` if the content does not say how long the
/// show takes.
pub(crate) fn end_of(host: &Host<'_>, item: &Item) -> Option<String> {
    let Details::Entertainment(d) = &item.details else {
        return None;
    };
    let minutes = d.duration_minutes?;
    let night = nights(host, &[Arc::new(item.clone())]).into_iter().next()?;
    let end = night.wall + TimeDelta::minutes(minutes.into());
    let slots = [
        ("name", host.name(item)),
        ("value", when_of(host, item)?),
        ("minutes", minutes.to_string()),
        ("time", time_words(minute(end), host.language)),
    ];
    let slots = slots.each_ref().map(|(slot, text)| (*slot, text.as_str()));
    Some(host.say("event_end", &slots))
}

/// Writes "today" or "on Saturday"; adds the date if the weekday alone is ambiguous.
pub(crate) fn day_of(host: &Host<'_>, night: &Night) -> String {
    let (wall, today) = (night.wall, host.local().date());
    let weekday = calendar::weekday_name(wall.weekday(), host.language);
    match ((wall.date() - today).num_days(), host.language) {
        (..7, _) => day_words(wall.date(), today, host.language),
        // A weekly show has no date in the content, so the reply gives none.
        _ if !matches!(&night.item.details, Details::Entertainment(d) if d.starts_at.is_some()) => {
            host.say("word_next_day", &[("day", weekday)])
        }
        (_, Language::En) => format!("on {}", wall.format("%a %b %-d")),
        (_, Language::Es) => {
            dates::words(wall.date(), host.language).replacen("el ", &format!("el {weekday} "), 1)
        }
    }
}

pub(crate) fn minute(wall: NaiveDateTime) -> u16 {
    u16::try_from(wall.hour() * 60 + wall.minute()).unwrap_or(0)
}

/// Returns all coming performances in order of time. For a weekly show, these are the performances
/// of today and the next seven days. A performance that has begun stays in the list for half an
/// hour.
pub(crate) fn nights(host: &Host<'_>, items: &[Arc<Item>]) -> Vec<Night> {
    let now = host.local();
    let mut nights = Vec::new();
    for item in items {
        let Details::Entertainment(d) = &item.details else {
            continue;
        };
        if let Some(starts) = d.starts_at {
            nights.push(Night {
                item: Arc::clone(item),
                wall: starts.with_timezone(&host.request.zone).naive_local(),
            });
        } else if let Some(week) = d.schedule.as_deref().and_then(|s| weekly_starts(s).ok()) {
            for ahead in 0..=7 {
                let date = now.date() + TimeDelta::days(ahead);
                let starts = &week[date.weekday().num_days_from_monday() as usize];
                let wall = |minute: &u16| {
                    date.and_time(chrono::NaiveTime::MIN) + TimeDelta::minutes((*minute).into())
                };
                nights.extend(starts.iter().map(|minute| Night {
                    item: Arc::clone(item),
                    wall: wall(minute),
                }));
            }
        } else if let Some(hours) = &d.hours {
            for ahead in 0..=7 {
                let date = now.date() + TimeDelta::days(ahead);
                nights.extend(hours.openings_on(date).into_iter().map(|(wall, _)| Night {
                    item: Arc::clone(item),
                    wall,
                }));
            }
        }
    }
    nights.retain(|n| n.wall >= now - TimeDelta::minutes(30));
    nights.sort_by(|a, b| (a.wall, &a.item.id).cmp(&(b.wall, &b.item.id)));
    nights
}

/// Writes the time for a list of open places. If the guest asked about an exact time of day, writes
/// "then", so that the reply does not state that time as a fact.
pub(crate) fn told_when(host: &Host<'_>, asked: Asked) -> String {
    match asked {
        Asked::At(_, Time::Clock(_) | Time::Half(_), _) => host.say("word_then", &[]),
        other => when_words(host, other),
    }
}

/// Writes the time that the text names: "tonight", "at 3am", "tomorrow morning".
pub(crate) fn when_words(host: &Host<'_>, asked: Asked) -> String {
    let today = host.local().date();
    let es = host.language == Language::Es;
    match asked {
        Asked::Now => host.say("word_now", &[]),
        Asked::On(date) => day_words(date, today, host.language),
        Asked::At(_, time, date) => {
            let day = day_words(date, today, host.language);
            let near = date == today;
            match time {
                Time::Evening if near => host.say("word_tonight", &[]),
                Time::Late if near => host.say("word_late", &[]),
                Time::Clock(minute) | Time::Half(minute) => {
                    let time = time_words(minute, host.language);
                    let time = if es {
                        format!("a {time}")
                    } else {
                        format!("at {time}")
                    };
                    // A time shortly after midnight belongs to tonight, so "tomorrow" is left out.
                    if near || minute < 5 * 60 {
                        time
                    } else {
                        format!("{day} {time}")
                    }
                }
                Time::Evening | Time::Late => host.say("word_night", &[("day", &day)]),
                Time::Morning if near => host.say("word_this_morning", &[]),
                Time::Afternoon if near => host.say("word_this_afternoon", &[]),
                Time::Morning => host.say("word_morning", &[("day", &day)]),
                Time::Afternoon => host.say("word_afternoon", &[("day", &day)]),
                Time::Now => host.say("word_now", &[]),
            }
        }
    }
}

/// A performance: the show, and its local time.
#[derive(Clone)]
pub(crate) struct Night {
    pub(crate) item: Arc<Item>,
    pub(crate) wall: NaiveDateTime,
}
