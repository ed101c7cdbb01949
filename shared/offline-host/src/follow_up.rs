//! Texts that go on from what was said before: "and is there a dress code?", "what about tomorrow?", "¿y el spa?"

use std::sync::Arc;

use seven_knowledge::{Category, Item, Mention};

use super::{
    answer::{self, Host},
    compose::{chat, venue},
    fit::Part,
    focus, reading,
    understand::Understood,
};

pub(super) fn answer(host: &Host<'_>, u: &Understood<'_>, said_now: &[&str]) -> Option<Part> {
    if u.is_bare_fact() && (u.points_back || u.said.words.len() <= 9) && !u.intends("booking") {
        let part = match last_places(host, said_now)? {
            Earlier::One(rows) => venue::answer(host, u, &rows),
            Earlier::Several(names) if u.points_back => chat::which(host, &names),
            Earlier::Several(_) => return None,
        };
        // "Is there a dress code?" may still be about the house when the venue does not say.
        return (part.grounded || u.points_back).then_some(part);
    }
    // "Great, book it."
    let books = u.intends("booking") && u.topics.is_empty() && u.is_all_said() && u.venues().is_empty();
    if books && let Some(Earlier::One(rows)) = last_places(host, said_now) {
        return Some(venue::answer(host, u, &rows));
    }
    // "And the spa?": the fact asked before, of another place.
    if u.continues() && u.facets.is_empty() && !u.when.is_said() && (!u.topics.is_empty() || !u.venues().is_empty()) {
        let before = newest(host, said_now).map(|text| host.read(text)).filter(Understood::asks_fact)?;
        let again = Understood { facets: before.facets, when: before.when, is_question: true, ..u.clone() };
        return answer::about_venue(host, &again).or_else(|| answer::about_topic(host, &again)).filter(|p| p.grounded);
    }
    // "How much are tickets?" after "any shows tonight?": of the same night.
    let of_shows = |u: &Understood<'_>| u.about(&Category::Entertainment);
    if of_shows(u) && u.asks_fact() && !u.when.is_said() && u.leftover.is_empty() && u.wishes.is_empty() {
        let before = texts(host, said_now).map(|text| host.read(text)).find(|u| of_shows(u) && u.when.is_said())?;
        let again = Understood { when: before.when, ..u.clone() };
        return answer::about_topic(host, &again);
    }
    if is_only_time(u) {
        // The last text that said more than a time.
        let earlier = texts(host, said_now).find(|text| !is_only_time(&host.read(text)))?;
        let before = Understood { when: u.when, is_question: true, ..host.read(earlier) };
        if before.is_bare_fact()
            && let Some(Earlier::One(rows)) = last_places(host, said_now)
        {
            return Some(venue::answer(host, &before, &rows));
        }
        return answer::about_venue(host, &before).or_else(|| answer::about_topic(host, &before));
    }
    None
}

/// "How much is a game?" after the bowling: what the row talked of last says of it, before anything else that is called so.
pub(super) fn of_last(host: &Host<'_>, u: &Understood<'_>, said_now: &[&str]) -> Option<Part> {
    let open = u.is_question && u.venues().is_empty() && u.said.words.len() <= 7;
    match last_places(host, said_now).filter(|_| open)? {
        Earlier::One(rows) => rows.first().and_then(|row| reading::word_of(host, u, row)),
        Earlier::Several(_) => None,
    }
}

fn is_only_time(u: &Understood<'_>) -> bool {
    let nothing_else = u.topics.is_empty() && u.kinds.is_empty() && u.facets.is_empty() && u.venues().is_empty();
    u.when.is_said() && nothing_else && u.is_all_said() && u.intents.is_empty()
}

/// The guest's texts, newest first.
fn texts<'a>(host: &Host<'a>, said_now: &[&'a str]) -> impl Iterator<Item = &'a str> {
    let request = host.request;
    let now: Vec<&'a str> = said_now.iter().rev().copied().collect();
    now.into_iter().chain(request.history.iter().rev().map(|e| e.guest.as_str()))
}

fn newest<'a>(host: &Host<'a>, said_now: &[&'a str]) -> Option<&'a str> {
    texts(host, said_now).next()
}

/// The places the conversation was last about.
pub(super) fn last_names(host: &Host<'_>, said_now: &[&str]) -> Vec<String> {
    match last_places(host, said_now) {
        Some(Earlier::One(rows)) => rows.iter().map(|row| row.name.clone()).collect(),
        _ => Vec::new(),
    }
}

enum Earlier {
    One(Vec<Arc<Item>>),
    Several(Vec<String>),
}

/// The newest text that names venues: this turn's, then the guest's and the host's of each earlier turn.
fn last_places(host: &Host<'_>, said_now: &[&str]) -> Option<Earlier> {
    let history = host.request.history.iter().rev();
    let history = history.flat_map(|e| [(e.guest.as_str(), false), (e.host.as_str(), true)]);
    said_now.iter().rev().map(|text| (*text, false)).chain(history).find_map(|(text, ours)| {
        if let Some(row) = ours.then(|| focus::quoted(host, text)).flatten() {
            return Some(Earlier::One(vec![row]));
        }
        let understood = host.read(text);
        let venues: Vec<_> = understood.venues().into_iter().filter(|m| m.telling || m.whole).collect();
        // We write names out; a word of one in our own text ("sushi counter") names nothing.
        let whole: Vec<&Mention> = venues.iter().copied().filter(|m| m.whole && m.item.name.contains(' ')).collect();
        let telling: Vec<&Mention> = venues.iter().copied().filter(|m| m.telling).collect();
        let named = match (ours, whole.is_empty(), telling.is_empty()) {
            (_, false, _) => whole,
            (true, true, _) => telling.into_iter().filter(|m| m.whole).collect(),
            (false, true, false) => telling,
            (false, true, true) => venues.into_iter().filter(|m| m.item.name.contains(' ')).collect(),
        };
        let mut places: Vec<(usize, Vec<Arc<Item>>)> = Vec::new();
        for mention in &named {
            // The stage of a show is named beside it.
            let stage = named.iter().any(|m| m.item.location() == Some(&mention.item.name));
            match places.iter_mut().find(|(from, _)| *from == mention.from) {
                _ if stage => {}
                Some((_, rows)) => rows.push(Arc::clone(&mention.item)),
                None => places.push((mention.from, vec![Arc::clone(&mention.item)])),
            }
        }
        places.dedup_by(|a, b| a.1[0].id == b.1[0].id);
        match places.len() {
            0 => None,
            1 => places.pop().map(|(_, rows)| Earlier::One(rows)),
            _ => Some(Earlier::Several(places.iter().map(|(_, rows)| host.name(&rows[0])).collect())),
        }
    })
}
