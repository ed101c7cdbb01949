//! Explains in one sentence whether the window is open, where the guest probably is, and which
//! place decides.

use chrono::{DateTime, Utc};

use super::{CasinoWindow, PlaceWindow, Window};
use crate::{
    area_codes::{self, AreaCode, Prefix},
    jurisdiction::{Basis, Whereabouts},
};

/// Returns whether we know no law for this guest: the profile names no place, and the number's
/// country code is not 1.
pub(super) fn no_law_known(whereabouts: &Whereabouts<'_>) -> bool {
    whereabouts.basis == Basis::Unknown && whereabouts.prefix == Prefix::NotNorthAmerican
}

pub(super) fn explain(
    window: &Window,
    whereabouts: &Whereabouts<'_>,
    casino: CasinoWindow,
) -> String {
    let place = place(window, whereabouts);
    if no_law_known(whereabouts) {
        return format!("Closed until the guest's profile has a place: {place}.");
    }
    match (window.open, window.opens_at) {
        (true, _) => {
            let end = window.closes_at.map_or("further notice".to_owned(), utc);
            format!("Open until {end}: {place}; {}.", deciding(window, casino))
        }
        (false, Some(opens_at)) => format!(
            "Closed until {}: {place}; {}.",
            utc(opens_at),
            deciding(window, casino)
        ),
        (false, None) => format!(
            "Closed for 8 days or more: {place}; no moment is inside the window of every place and \
             inside the casino's own hours ({}).",
            own_hours(casino)
        ),
    }
}

fn utc(at: DateTime<Utc>) -> String {
    at.format("%a %Y-%m-%d %H:%M UTC").to_string()
}

fn own_hours(casino: CasinoWindow) -> String {
    if casino.opens == casino.closes {
        return "any time".to_owned();
    }
    format!(
        "{}-{}",
        casino.opens.format("%H:%M"),
        casino.closes.format("%H:%M")
    )
}

/// Describes where the guest is thought to be, and why.
fn place(window: &Window, whereabouts: &Whereabouts<'_>) -> String {
    let strictest = "the strictest window of all states holds in every US zone";
    match (window.basis, whereabouts.prefix) {
        (Basis::Profile, _) => format!("the guest's profile says {}", list(&window.places)),
        (Basis::AreaCode, Prefix::Known(code, _)) => {
            format!("area code {code} means {}", list(&window.places))
        }
        (_, Prefix::Known(code, AreaCode::Abroad(country))) => {
            format!(
                "area code {code} belongs to {country}, which names no US place, so {strictest}"
            )
        }
        (_, Prefix::Known(code, AreaCode::NoPlace(kind))) => {
            format!(
                "{code} is {}, which names no place, so {strictest}",
                kind.describe()
            )
        }
        (_, Prefix::Known(code, AreaCode::Us(_)) | Prefix::UnknownCode(code)) => {
            let date = area_codes::source_date();
            format!("area code {code} is not in the table of {date}, so {strictest}")
        }
        (_, Prefix::NotNorthAmerican) => {
            "the number is not North American and no law is known for it".to_owned()
        }
    }
}

fn list(places: &[PlaceWindow]) -> String {
    let names: Vec<String> = places
        .iter()
        .map(|place| match place.state {
            Some(state) => format!("{state} ({})", place.zone),
            None => place.zone.to_string(),
        })
        .collect();
    let all = if names.len() > 1 {
        ", all of which must be open"
    } else {
        ""
    };
    format!("{}{all}", names.join(" or "))
}

/// Names the place whose clock decides: the first place that is closed or, if all are open, the one
/// that closes first.
fn deciding(window: &Window, casino: CasinoWindow) -> String {
    let until_close = |place: &&PlaceWindow| {
        let now = chrono::Timelike::num_seconds_from_midnight(&place.local_time.time());
        let today = place
            .hours
            .iter()
            .find(|hours| hours.contains(place.local_time.time()));
        today.map_or(u32::MAX, |hours| hours.seconds().1 - now)
    };
    let closed = window.places.iter().find(|place| !place.open);
    let Some(place) = closed.or_else(|| window.places.iter().min_by_key(until_close)) else {
        return "no place is known".to_owned();
    };
    let hours = match place.hours.as_slice() {
        [] => "no texts at all on that day".to_owned(),
        hours => format!(
            "texts {}",
            hours
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join(" and ")
        ),
    };
    let narrowed = if place.lawful.into_iter().eq(place.hours.iter().copied()) {
        String::new()
    } else {
        format!(", narrowed by the casino's hours {}", own_hours(casino))
    };
    let name = place
        .state
        .map_or(String::new(), |state| format!("{state}, "));
    format!(
        "it is {} in {name}{}, which allows {hours} ({}{narrowed})",
        place.local_time.format("%a %H:%M"),
        place.zone,
        place.source
    )
}
