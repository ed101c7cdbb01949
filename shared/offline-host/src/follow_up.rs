//! Answers texts that continue the conversation: "and is there a dress code?", "what about
//! tomorrow?", "¿y el spa?"

use seven_knowledge::Category;

use super::{
    compose::{chat, venue},
    fit::Part,
    host::Host,
    reading,
    understand::Understood,
};
use crate::{
    about,
    exchanges::{Earlier, last_places},
};

pub(crate) fn answer(host: &Host<'_>, u: &Understood<'_>, said_now: &[&str]) -> Option<Part> {
    if u.is_bare_fact() && (u.points_back || u.said.words.len() <= 9) && !u.intends("booking") {
        let part = match last_places(host)? {
            Earlier::One(rows) => venue::answer(host, u, &rows),
            Earlier::Several(names) if u.points_back => chat::which(host, &names),
            Earlier::Several(_) => return None,
        };
        // "Is there a dress code?" may ask about the casino if the venue's row does not answer it.
        return (part.grounded || u.points_back).then_some(part);
    }
    // If the text only asks to book, as in "Great, book it", it means the place named last.
    let books =
        u.intends("booking") && u.topics.is_empty() && u.is_all_said() && u.venues().is_empty();
    if books && let Some(Earlier::One(rows)) = last_places(host) {
        return Some(venue::answer(host, u, &rows));
    }
    if let Some(part) = repeated(host, u, said_now) {
        return Some(part);
    }
    // "How much are tickets?" after "any shows tonight?" asks about tonight's shows.
    let of_shows = |u: &Understood<'_>| u.about(&Category::Entertainment);
    if of_shows(u)
        && u.asks_fact()
        && !u.when.is_said()
        && u.leftover.is_empty()
        && u.wishes.is_empty()
    {
        let before = texts(host, said_now)
            .map(|text| host.read(text))
            .find(|u| of_shows(u) && u.when.is_said())?;
        let again = Understood {
            when: before.when,
            ..u.clone()
        };
        return about::about_topic(host, &again);
    }
    if is_only_time(u) {
        // Finds the newest earlier text that says more than a time.
        let earlier = texts(host, said_now).find(|text| !is_only_time(&host.read(text)))?;
        let before = Understood {
            when: u.when,
            is_question: true,
            ..host.read(earlier)
        };
        if before.is_bare_fact()
            && let Some(Earlier::One(rows)) = last_places(host)
        {
            return Some(venue::answer(host, &before, &rows));
        }
        return about::about_venue(host, &before).or_else(|| about::about_topic(host, &before));
    }
    None
}

/// Answers "And Kumo?", which repeats the last question for another place.
pub(crate) fn of_other(host: &Host<'_>, u: &Understood<'_>, said_now: &[&str]) -> Option<Part> {
    const MOST_WORDS: usize = 5;
    let named = !u.venues().is_empty() && u.said.words.len() <= MOST_WORDS;
    named.then(|| repeated(host, u, said_now)).flatten()
}

/// Answers "And the spa?", which repeats the last question for another place or subject.
fn repeated(host: &Host<'_>, u: &Understood<'_>, said_now: &[&str]) -> Option<Part> {
    let other = !u.topics.is_empty() || !u.venues().is_empty();
    if !other || !u.continues() || !u.facets.is_empty() || u.when.is_said() {
        return None;
    }
    let before = newest(host, said_now)
        .map(|text| host.read(text))
        .filter(Understood::asks_fact)?;
    let again = Understood {
        facets: before.facets,
        when: before.when,
        is_question: true,
        ..u.clone()
    };
    about::about_venue(host, &again)
        .or_else(|| about::about_topic(host, &again))
        .filter(|part| part.grounded)
}

/// Answers from the only row that the last reply named, even if a word of the question fits other
/// rows too: "How much is a game?" after a reply about bowling.
pub(crate) fn of_last(host: &Host<'_>, u: &Understood<'_>, _said_now: &[&str]) -> Option<Part> {
    let open = u.is_question && u.venues().is_empty() && u.said.words.len() <= 7;
    match last_places(host).filter(|_| open)? {
        Earlier::One(rows) => rows.first().and_then(|row| reading::word_of(host, u, row)),
        Earlier::Several(_) => None,
    }
}

fn is_only_time(u: &Understood<'_>) -> bool {
    let nothing_else =
        u.topics.is_empty() && u.kinds.is_empty() && u.facets.is_empty() && u.venues().is_empty();
    u.when.is_said() && nothing_else && u.is_all_said() && u.intents.is_empty()
}

/// Returns the guest's texts, the newest first.
fn texts<'a>(host: &Host<'a>, said_now: &[&'a str]) -> impl Iterator<Item = &'a str> {
    let request = host.request;
    let now: Vec<&'a str> = said_now.iter().rev().copied().collect();
    now.into_iter()
        .chain(request.history.iter().rev().map(|e| e.guest.as_str()))
}

fn newest<'a>(host: &Host<'a>, said_now: &[&'a str]) -> Option<&'a str> {
    texts(host, said_now).next()
}
