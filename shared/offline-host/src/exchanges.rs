//! The places that the last exchanges named.

use std::sync::Arc;

use seven_knowledge::{Item, Mention};

use crate::{fit::plain_spanish, host::Host};

/// The places the conversation was last about.
pub(crate) fn last_names(host: &Host<'_>, said_now: &[&str]) -> Vec<String> {
    match last_places(host, said_now) {
        Some(Earlier::One(rows)) => rows.iter().map(|row| row.name.clone()).collect(),
        _ => Vec::new(),
    }
}

/// The newest text that names venues: this turn's, then the guest's and the host's of each earlier turn.
pub(crate) fn last_places(host: &Host<'_>, said_now: &[&str]) -> Option<Earlier> {
    let history = host.request.history.iter().rev();
    let history = history.flat_map(|e| [(e.guest.as_str(), false), (e.host.as_str(), true)]);
    said_now.iter().rev().map(|text| (*text, false)).chain(history).find_map(|(text, ours)| {
        if let Some(row) = ours.then(|| quoted(host, text)).flatten() {
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

/// The one row a sentence of which the text is made of: what it names inside is not what it is about.
pub(crate) fn quoted(host: &Host<'_>, text: &str) -> Option<Arc<Item>> {
    let index = &host.request.index;
    let quotes = |row: &&Arc<Item>| {
        let mut sentences = index.sentences(row, host.language);
        sentences.any(|sentence| {
            sentence.len() >= QUOTED && (text.contains(sentence) || text.contains(&plain_spanish(sentence)))
        })
    };
    let mut rows = index.current(host.request.now).filter(quotes);
    rows.next().filter(|_| rows.next().is_none()).cloned()
}

pub(crate) enum Earlier {
    One(Vec<Arc<Item>>),
    Several(Vec<String>),
}

/// Letters from which on a sentence is a row's own.
pub(crate) const QUOTED: usize = 16;
