//! Converts local hours to instants, across changes of the clocks, and intersects the spans of
//! several places.

use chrono::{
    DateTime, Datelike, Days, MappedLocalTime, NaiveDateTime, Offset, TimeDelta, TimeZone, Utc,
};
use chrono_tz::{GapInfo, Tz};

use super::hours::{CasinoWindow, Week};

/// The time from `start` up to but not including `end`; never empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) start: DateTime<Utc>,
    pub(super) end: DateTime<Utc>,
}

/// Whether a local time is the start or the end of a span. If a local time occurs twice, the
/// instant that makes the span shorter is taken.
#[derive(Debug, Clone, Copy)]
enum Border {
    Start,
    End,
}

/// Returns the wall-clock time of the zone at that instant.
pub(super) fn local(zone: Tz, at: DateTime<Utc>) -> Option<NaiveDateTime> {
    at.naive_utc()
        .checked_add_offset(zone.offset_from_utc_datetime(&at.naive_utc()).fix())
}

/// Returns the open spans of one place, from the guest's today to ten days later, in order.
/// Adjacent spans are joined.
pub(super) fn of_place(
    zone: Tz,
    week: &Week,
    casino: CasinoWindow,
    at: DateTime<Utc>,
) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    // Outside these years, clock changes are guesses and arithmetic may overflow, so the window
    // never opens.
    let Some(today) = local(zone, at)
        .map(|time| time.date())
        .filter(|day| (1970..=9000).contains(&day.year()))
    else {
        return spans;
    };
    for day in (0..=10).filter_map(|ahead| today.checked_add_days(Days::new(ahead))) {
        let Some(midnight) = day.and_hms_opt(0, 0, 0) else {
            continue;
        };
        for hours in week
            .on(day.weekday())
            .into_iter()
            .flat_map(|lawful| casino.narrow(lawful))
        {
            let (from, to) = hours.seconds();
            let start = instant(
                zone,
                midnight + TimeDelta::seconds(from.into()),
                Border::Start,
            );
            let end = instant(zone, midnight + TimeDelta::seconds(to.into()), Border::End);
            let Some((start, end)) = start.zip(end).filter(|(start, end)| start < end) else {
                continue;
            };
            match spans.last_mut() {
                Some(last) if start <= last.end => last.end = last.end.max(end),
                _ => spans.push(Span { start, end }),
            }
        }
    }
    spans
}

/// Returns the instant of a local time; for a time that the clocks skip, the instant of the change.
fn instant(zone: Tz, wall: NaiveDateTime, border: Border) -> Option<DateTime<Utc>> {
    let there = match (zone.from_local_datetime(&wall), border) {
        (MappedLocalTime::Single(time), _) => time,
        (MappedLocalTime::Ambiguous(one, other), Border::Start) => one.max(other),
        (MappedLocalTime::Ambiguous(one, other), Border::End) => one.min(other),
        (MappedLocalTime::None, _) => GapInfo::new(&wall, &zone)?.end?,
    };
    Some(there.to_utc())
}

/// Returns the spans of time that are inside both lists.
pub(super) fn intersect(one: &[Span], other: &[Span]) -> Vec<Span> {
    let (mut left, mut right) = (one.iter().peekable(), other.iter().peekable());
    let mut common = Vec::new();
    while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
        let (start, end) = (a.start.max(b.start), a.end.min(b.end));
        if start < end {
            common.push(Span { start, end });
        }
        if a.end < b.end {
            left.next()
        } else {
            right.next()
        };
    }
    common
}
