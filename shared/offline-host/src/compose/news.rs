//! Repeats in a few words what the guest has just told about the visit, so that the guest sees that
//! the host understood it.

use seven_guest::dialogue::OpenRequest;

use crate::{fit::Part, host::Host, plan};

/// How the profile marks an allergy among the diets: `allergy: peanuts`.
const ALLERGY: &str = "allergy";

/// Says what the open texts changed, as in "Noted: on Saturday at 5pm, 6 people, vegan."; `None` if
/// nothing changed. A day or a time counts only while something is being planned, because guests
/// also name days on which nothing is to happen. An allergen is not repeated, because the guest may
/// mean more than the word that the profile stores; the guest is asked to tell the staff.
pub(crate) fn news(host: &Host<'_>) -> Option<String> {
    let (before, now) = (&host.request.state, host.state);
    let today = host.local().date();
    let plans = now.category.is_some();
    let moved = plans && (now.date, now.minute) != (before.date, before.minute);
    let grown = now.party != before.party;
    let changed = OpenRequest {
        // Today without a time is no plan.
        date: now
            .date
            .filter(|date| moved && (*date != today || now.minute.is_some())),
        minute: now.minute.filter(|_| moved),
        party: now.party.filter(|_| grown),
        ..OpenRequest::default()
    };
    let fresh = now.diets.iter().filter(|diet| !before.diets.contains(diet));
    let (allergies, diets): (Vec<_>, Vec<_>) = fresh.partition(|diet| diet.starts_with(ALLERGY));
    let mut told: Vec<String> = plan::words(host, &changed).into_iter().collect();
    told.extend(
        diets
            .iter()
            .map(|diet| host.pack.value(diet, host.language)),
    );
    let noted = (!told.is_empty()).then(|| host.say("noted_news", &[("news", &told.join(", "))]));
    let warned = (!allergies.is_empty()).then(|| host.say("allergy_note", &[]));
    let both: Vec<String> = noted.into_iter().chain(warned).collect();
    (!both.is_empty()).then(|| both.join(" "))
}

/// Puts the news before suggestions, which it changed. A booking repeats the whole plan by itself.
pub(crate) fn before(host: &Host<'_>, part: Part) -> Part {
    let fits = |body: &String| part.intent != "booking" && host.room.one(body);
    let body = news(host).map(|news| format!("{news} {}", part.body));
    match body.filter(fits) {
        Some(body) => Part { body, ..part },
        None => part,
    }
}
