//! Finds the venues of the conversation that the host's and the guest's texts named, newest first.

use std::sync::Arc;

use seven_knowledge::{Item, Term};

use super::{
    super::{fit::plain_spanish, host::Host, understand::Understood},
    CALLED, asked, points,
};
use crate::exchanges::quoted;

/// Number of past turns that are searched for a subject.
const TURNS: usize = 4;
/// Returns the venues that were discussed one at a time, newest first. If several were just named,
/// the one that the text picks.
pub(crate) fn subjects(host: &Host<'_>, u: &Understood<'_>, hard: &[Term], said_now: &[&str]) -> Vec<Vec<Arc<Item>>> {
    let mut subjects: Vec<Vec<Arc<Item>>> = Vec::new();
    for text in said_now.iter().rev() {
        let named = of_guest(host, text);
        if let [rows] = named.as_slice() {
            subjects.push(rows.clone());
        } else if !named.is_empty() || host.read(text).topics.len() == 1 {
            return subjects;
        }
    }
    for earlier in host.request.history.iter().rev().take(TURNS) {
        let (told, named) = (of_host(host, &earlier.host), of_guest(host, &earlier.guest));
        let names_one = named.len() == 1 && (told.is_empty() || told.iter().any(|rows| rows[0].id == named[0][0].id));
        match told.as_slice() {
            [rows] => subjects.push(rows.clone()),
            _ if names_one => subjects.extend(named),
            [] if named.is_empty() => {}
            _ if !subjects.is_empty() => break,
            several => match picked(host, u, hard, several) {
                Some(rows) => subjects.push(rows),
                None if several.len() >= 3 && points(u) => {}
                None => break,
            },
        }
    }
    subjects
}

/// Returns the venue that the text picks from several: "The second one", "the magic show".
fn picked(host: &Host<'_>, u: &Understood<'_>, hard: &[Term], several: &[Vec<Arc<Item>>]) -> Option<Vec<Arc<Item>>> {
    const ORDER: [[&str; 4]; 3] = [
        ["first", "1st", "primero", "primera"],
        ["second", "2nd", "segundo", "segunda"],
        ["third", "3rd", "tercero", "tercera"],
    ];
    let nth = ORDER.iter().position(|names| u.said.words.iter().any(|word| names.contains(&word.as_str())));
    if let Some(rows) = nth.and_then(|nth| several.get(nth)) {
        return Some(rows.clone());
    }
    let index = &host.request.index;
    let called = |rows: &&Vec<Arc<Item>>| hard.iter().any(|term| index.is_called(&rows[0], term) >= CALLED);
    let mut fit = several.iter().filter(called);
    fit.next().filter(|_| fit.next().is_none()).cloned()
}

/// Returns the places that a text of the guest names.
fn of_guest(host: &Host<'_>, text: &str) -> Vec<Vec<Arc<Item>>> {
    let u = asked(&Understood::read(host.pack, host.request, text));
    let telling: Vec<_> = u.venues().into_iter().filter(|m| m.telling).collect();
    let whole = telling.iter().any(|m| m.whole);
    let mut places: Vec<(usize, Vec<Arc<Item>>)> = Vec::new();
    for mention in telling.into_iter().filter(|m| m.whole || !whole) {
        match places.iter_mut().find(|(from, _)| *from == mention.from) {
            Some((_, rows)) => rows.push(Arc::clone(&mention.item)),
            None => places.push((mention.from, vec![Arc::clone(&mention.item)])),
        }
    }
    places.into_iter().map(|(_, rows)| rows).collect()
}

/// Returns the places that a text of the host names; the host writes names exactly as the content
/// does.
fn of_host(host: &Host<'_>, text: &str) -> Vec<Vec<Arc<Item>>> {
    let index = &host.request.index;
    if let Some(row) = quoted(host, text) {
        return vec![vec![row]];
    }
    let mut places: Vec<(usize, usize, Vec<Arc<Item>>)> = Vec::new();
    for row in index.current(host.request.now) {
        let names = [Some(row.name.clone()), row.name_es.as_deref().map(plain_spanish), row.name_es.clone()];
        let found = names.into_iter().flatten().find_map(|name| written(text, &name).map(|at| (at, at + name.len())));
        let Some((from, to)) = found else { continue };
        match places.iter_mut().find(|place| (place.0, place.1) == (from, to)) {
            Some(place) => place.2.push(Arc::clone(row)),
            None => places.push((from, to, vec![Arc::clone(row)])),
        }
    }
    let inside =
        |a: &(usize, usize, Vec<Arc<Item>>)| places.iter().any(|b| b.0 <= a.0 && a.1 <= b.1 && b.1 - b.0 > a.1 - a.0);
    // A stage named beside its show is not a place of its own.
    let stage = |a: &(usize, usize, Vec<Arc<Item>>)| {
        let holds = |at: &str| written(at, &a.2[0].name).is_some();
        places.iter().any(|b| b.0 != a.0 && b.2.iter().any(|row| row.location().is_some_and(holds)))
            || places.iter().any(|b| b.0 < a.0 && b.2.iter().any(|row| holds(&row.description)))
    };
    let mut kept: Vec<_> = places.iter().filter(|place| !inside(place) && !stage(place)).cloned().collect();
    kept.sort_by_key(|place| place.0);
    kept.into_iter().map(|(_, _, rows)| rows).collect()
}

/// Returns where the text holds the name as separate words.
fn written(text: &str, name: &str) -> Option<usize> {
    let edge = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
    text.match_indices(name)
        .map(|(at, _)| at)
        .find(|at| edge(text[..*at].chars().next_back()) && edge(text[at + name.len()..].chars().next()))
}
