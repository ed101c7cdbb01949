//! Reads and writes the day and the time for which the guest plans.

use chrono::{NaiveDate, NaiveTime, TimeDelta, Timelike};
use seven_guest::dialogue::OpenRequest;

use crate::{
    host::Host,
    understand::Understood,
    when::{Asked, Day, Time, day_words, time_words},
};

/// Minutes from midnight to noon.
const FIRST_NOON: u16 = 720;

/// Returns the day and the minute of the day that the text names for a plan. A month is no day, and
/// the day on which the guest leaves is no plan.
pub(crate) fn moment(host: &Host<'_>, u: &Understood<'_>) -> (Option<NaiveDate>, Option<u16>) {
    let leaving = host.pack.times.get("leaving");
    let leaves = leaving.is_some_and(|phrases| phrases.found(&u.said));
    if !u.when.is_said() || leaves || matches!(u.when.day, Some(Day::Month(_))) {
        return (None, None);
    }
    match u.when.asked(host.request.now, host.request.zone) {
        Asked::Now => (Some(host.local().date()), None),
        Asked::On(date) => (Some(date), None),
        Asked::At(at, time, date) => {
            let wall = at.with_timezone(&host.request.zone);
            let minute = match u.when.time {
                // An hour without am or pm, such as "at 8", means the evening: breakfast is hardly
                // ever booked.
                Some(Time::Half(half)) if half < FIRST_NOON => Some(half + FIRST_NOON),
                _ => u16::try_from(wall.hour() * 60 + wall.minute()).ok(),
            };
            let date = if u.when.day.is_some() {
                Some(date)
            } else {
                host.state.date.is_none().then_some(date)
            };
            (date, minute.filter(|_| time.is_exact()))
        }
    }
}

/// Writes day, time and party of a request, as in "on Saturday at 5pm, 6 people"; `None` if nothing
/// is known.
pub(crate) fn words(host: &Host<'_>, request: &OpenRequest) -> Option<String> {
    let today = host.local().date();
    let mut parts = Vec::new();
    let day = request
        .date
        .filter(|date| *date >= today - TimeDelta::days(1))
        .map(|date| day_words(date, today, host.language));
    let time = request
        .minute
        .filter(|minute| {
            NaiveTime::from_num_seconds_from_midnight_opt(u32::from(*minute) * 60, 0).is_some()
        })
        .map(|minute| time_words(minute, host.language));
    match (day, time) {
        (Some(day), Some(time)) => {
            parts.push(host.say("day_at", &[("day", &day), ("time", &time)]));
        }
        (Some(one), None) | (None, Some(one)) => parts.push(one),
        (None, None) => {}
    }
    if let Some(party) = request.party {
        parts.push(host.say("for_party", &[("count", &party.to_string())]));
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}
