//! Answers wishes that only a person can fulfil: bookings, changes, favours, complaints. The reply
//! says that nothing is settled yet, and passes the wish on with the fields that are known.

use std::sync::Arc;

use seven_guest::dialogue::OpenRequest;
use seven_knowledge::{Category, Item, item::Details};
use seven_llm::{StaffKind, StaffRequest};

use crate::{
    acts::Act,
    compose::{chat, lookup, several, values},
    fit::Part,
    host::Host,
    plan, resolve, suggest,
    understand::Understood,
};

/// Answers a wish to book: if the place takes no bookings, says so; otherwise passes the wish on.
pub(crate) fn book(host: &Host<'_>, u: &Understood<'_>) -> Part {
    let row = wanted_row(host, u);
    if let Some(row) = &row
        && is_walk_in(row)
    {
        let slots = [("name", host.name(row))];
        let body = host.say("walk_in", &[("name", slots[0].1.as_str())]);
        return host.part("booking", body, std::slice::from_ref(row));
    }
    // An unknown word may name a place that the content does not have, as in "A table at Nobu".
    let elsewhere = u
        .leftover
        .iter()
        .any(|word| word.chars().all(char::is_alphabetic));
    if row.is_none() && elsewhere && u.topics.is_empty() && host.state.listed.is_empty() {
        return host.unanswered();
    }
    if row.is_none()
        && let Some(part) = choice(host, u)
    {
        return part;
    }
    let request = fields(host, u, row.as_ref(), false);
    let body = match &row {
        Some(row) => host.say("book_passed", &[("what", &what(host, row, &request))]),
        None => {
            let label = request
                .category
                .as_deref()
                .map(|category| host.pack.label(&category.into(), host.language));
            match plan::words(host, &request) {
                Some(plan) => host.say("book_passed", &[("what", &plan)]),
                None => host.say(
                    "book_which",
                    &[("label", label.as_deref().unwrap_or_default())],
                ),
            }
        }
    };
    let rule = row.as_ref().and_then(|row| rule(host, row));
    let whole = rule.map(|rule| format!("{rule} {body}"));
    let body = whole.filter(|whole| host.room.two(whole)).unwrap_or(body);
    let subject = subject(row.as_ref(), &request);
    let rows: Vec<Arc<Item>> = row.into_iter().collect();
    Part {
        staff: Some(StaffRequest {
            kind: StaffKind::Booking,
            subject,
            request: Some(request),
        }),
        ..host.part("booking", body, &rows)
    }
}

/// Lets the guest choose what to book: from the rows just named, else from two suggestions.
fn choice(host: &Host<'_>, u: &Understood<'_>) -> Option<Part> {
    let mut listed = resolve::listed(host);
    listed.retain(is_bookable);
    let asks_anew = !u.topics.is_empty() || !u.kinds.is_empty();
    if (2..=3).contains(&listed.len()) && !asks_anew {
        let names: Vec<String> = listed.iter().map(|row| host.name(row)).collect();
        return Some(chat::which(host, &names));
    }
    let part = suggest::answer(host, Act::Recommend, u).filter(|part| !part.sources.is_empty())?;
    let body = format!("{} {}", part.body, host.say("book_pick", &[]));
    host.room.two(&body).then_some(Part { body, ..part })
}

/// Passes the open request on once the guest has chosen a row for it.
pub(crate) fn chosen(host: &Host<'_>, u: &Understood<'_>) -> Option<Part> {
    let open = host.state.request.as_ref()?;
    let of_it = |row: &Arc<Item>| {
        let category = open.category.as_deref();
        open.row.is_none() && category.is_none_or(|category| row.category.as_str() == category)
    };
    let row = wanted_row(host, u).filter(of_it);
    row.map(|_| book(host, u))
}

/// Answers a wish to change or cancel a booking, which the host cannot see.
pub(crate) fn change(host: &Host<'_>, u: &Understood<'_>) -> Part {
    let row = wanted_row(host, u);
    let request = fields(host, u, row.as_ref(), true);
    let subject = subject(row.as_ref(), &request);
    let passed = host.say("change_passed", &[]);
    let cancels = u.said.words.iter().any(|word| word.starts_with("cancel"));
    let rule = cancels.then(|| lookup::cancellation(host)).flatten();
    let (body, sources) = rule
        .map(|rule| (format!("{} {passed}", rule.body), rule.sources))
        .filter(|(body, _)| host.room.two(body))
        .unwrap_or((passed, Vec::new()));
    Part {
        sources,
        staff: Some(StaffRequest {
            kind: StaffKind::Change,
            subject,
            request: Some(request),
        }),
        ..host.part("booking", body, &[])
    }
}

/// Answers a correction of an open booking ("make it 8:30") with the whole request as it now
/// stands.
pub(crate) fn corrected(host: &Host<'_>, u: &Understood<'_>) -> Option<Part> {
    let open = host.state.request.as_ref()?;
    let plans = u.when.is_said() || host.state.party != open.party;
    let elsewhere = !u.topics.is_empty() || u.venues().iter().any(|mention| mention.whole);
    (plans && !elsewhere).then(|| book(host, u))
}

/// Answers a wish for something free or cheaper.
pub(crate) fn comp(host: &Host<'_>, u: &Understood<'_>) -> Part {
    let passed = passed(host, StaffKind::Comp, "comp", host.say("comp_passed", &[]));
    // If an offer that everybody may use fits, the reply begins with it.
    let Some(offer) = lookup::offer(host, u) else {
        return passed;
    };
    let body = format!("{} {}", offer.body, host.say("comp_besides", &[]));
    if host.room.two(&body) {
        Part {
            body,
            sources: offer.sources,
            ..passed
        }
    } else {
        offer
    }
}

/// Apologises for what the guest complains about, and passes the complaint on.
pub(crate) fn complaint(host: &Host<'_>, u: &Understood<'_>) -> Part {
    let mut grievances = host.pack.grievances.iter();
    let about = grievances.find(|grievance| grievance.said.found(&u.said));
    let body = match (host.state.complaining, about) {
        (true, Some(about)) => host.say(
            "complaint_more_about",
            &[("what", about.name(host.language))],
        ),
        (false, Some(about)) => host.say("complaint_about", &[("what", about.name(host.language))]),
        (true, None) => host.say("complaint_more", &[]),
        (false, None) => host.say("complaint", &[]),
    };
    Part {
        is_grave: true,
        ..passed(host, StaffKind::Complaint, "complaint", body)
    }
}

fn passed(host: &Host<'_>, kind: StaffKind, intent: &str, body: String) -> Part {
    Part {
        staff: Some(StaffRequest {
            kind,
            subject: String::new(),
            request: None,
        }),
        ..host.part(intent, body, &[])
    }
}

/// Returns the row that the guest wants to book: the row that the text names, the only row of the
/// kind asked for, or the row that the last reply named.
pub(crate) fn wanted_row(host: &Host<'_>, u: &Understood<'_>) -> Option<Arc<Item>> {
    let named = u.venues().into_iter().find(|mention| mention.telling);
    if let Some(mention) = named {
        return Some(Arc::clone(&mention.item));
    }
    let index = &host.request.index;
    // "A table" means a table in a restaurant.
    let table = ["table", "mesa"]
        .iter()
        .any(|word| u.said.words.iter().any(|said| said == word));
    let of_topic = |row: &Arc<Item>| {
        (u.topics.is_empty() || u.topics.contains(&row.category))
            && (!table || row.category == Category::Dining)
    };
    let meant = |row: &Arc<Item>| is_bookable(row) && of_topic(row);
    let mut listed = resolve::listed(host);
    // If the guest cannot book any row of the last reply, takes the newest earlier row that can be
    // booked. After a reply about parking, "OK, put us down for 2" does not book the garage.
    if !listed.iter().any(meant) {
        let earlier = host.state.recent.iter().rev();
        let mut earlier = earlier.filter_map(|id| index.get(id).cloned());
        listed = earlier.find(meant).into_iter().collect();
    }
    if let Some(row) = resolve::nth(u, &listed) {
        return Some(row);
    }
    if !u.kinds.is_empty() {
        return several::only_of_kind(host, u);
    }
    // The text may name a different row from the one named last, as in "Book us a shuttle".
    let elsewhere = u.leftover.iter().any(|word| suggest::is_listed(host, word));
    match listed.as_slice() {
        [one] if of_topic(one) && !elsewhere => Some(Arc::clone(one)),
        _ => host
            .state
            .request
            .as_ref()
            .and_then(|open| index.get(open.row.as_deref()?).cloned())
            .filter(of_topic),
    }
}

/// Returns whether guests can book the thing that the row describes.
fn is_bookable(row: &Arc<Item>) -> bool {
    const SERVICES: [&str; 4] = ["parking", "wifi", "gym", "shop"];
    let services = [
        "gaming",
        "general_info",
        "hours",
        "loyalty",
        "promotions",
        "regulations",
    ];
    let kind = row.subcategory.as_deref().unwrap_or_default();
    !services.contains(&row.category.as_str()) && !SERVICES.contains(&kind)
}

/// Writes whether a restaurant wants reservations.
fn rule(host: &Host<'_>, row: &Item) -> Option<String> {
    let Details::Dining(d) = &row.details else {
        return None;
    };
    let value = d.reservations.as_deref()?;
    let told = host.pack.value(value, host.language);
    let slots = [("name", host.name(row)), ("value", told)];
    let slots = slots.each_ref().map(|(slot, text)| (*slot, text.as_str()));
    Some(host.say(values::reservations(value), &slots))
}

fn is_walk_in(row: &Item) -> bool {
    matches!(&row.details, Details::Dining(d)
        if d.reservations.as_deref().is_some_and(|rule| rule.to_lowercase().starts_with("walk")))
}

fn subject(row: Option<&Arc<Item>>, request: &OpenRequest) -> String {
    row.map(|row| row.id.clone())
        .or_else(|| request.category.clone())
        .unwrap_or_default()
}

/// Fills each field of the request from the text, or else from the open request or the state of the
/// dialogue.
fn fields(
    host: &Host<'_>,
    u: &Understood<'_>,
    row: Option<&Arc<Item>>,
    changes: bool,
) -> OpenRequest {
    let open = host.state.request.clone().unwrap_or_default();
    let (date, minute) = plan::moment(host, u);
    let category = row
        .map(|row| row.category.as_str().to_owned())
        .or_else(|| u.topics.first().map(|topic| topic.as_str().to_owned()))
        .or(open.category)
        .or_else(|| host.state.category.clone());
    OpenRequest {
        row: row.map(|row| row.id.clone()).or(open.row),
        category,
        date: date.or(open.date).or(host.state.date),
        minute: minute.or(open.minute).or(host.state.minute),
        party: host.state.party.or(open.party),
        changes,
    }
}

/// Writes "Cinder Grove, Sat Nov 28 at 7:30pm, 4 people".
fn what(host: &Host<'_>, row: &Item, request: &OpenRequest) -> String {
    let name = host.name(row);
    match plan::words(host, request) {
        Some(plan) => format!("{name}, {plan}"),
        None => name,
    }
}

/// Returns the request that the reply leaves open, for the next text to complete or correct.
pub(crate) fn left_open(
    host: &Host<'_>,
    u: &Understood<'_>,
    act: Act,
    part: &Part,
) -> Option<OpenRequest> {
    let passed = part.staff.as_ref().and_then(|staff| staff.request.clone());
    let choosing = act == Act::Book && ["recommend", "clarify"].contains(&part.intent.as_str());
    passed.or_else(|| choosing.then(|| fields(host, u, None, false)))
}
