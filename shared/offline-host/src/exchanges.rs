//! Finds the places that the last exchanges named.

use std::sync::Arc;

use seven_knowledge::{Item, Mention};

use crate::{fit::plain_spanish, host::Host};

/// Returns the names of the places that the conversation was about last.
pub(crate) fn last_names(host: &Host<'_>, said_now: &[&str]) -> Vec<String> {
    match last_places(host, said_now) {
        Some(Earlier::One(rows)) => rows.iter().map(|row| row.name.clone()).collect(),
        _ => Vec::new(),
    }
}

/// Returns the places of the newest text that names any: this turn's, then the guest's and the
/// host's of each earlier turn.
pub(crate) fn last_places(host: &Host<'_>, said_now: &[&str]) -> Option<Earlier> {
    let history = host.request.history.iter().rev();
    let history = history.flat_map(|e| [(e.guest.as_str(), false), (e.host.as_str(), true)]);
    said_now.iter().rev().map(|text| (*text, false)).chain(history).find_map(|(text, ours)| {
        if let Some(row) = ours.then(|| quoted(host, text)).flatten() {
            return Some(Earlier::One(vec![row]));
        }
        let understood = host.read(text);
        let venues: Vec<_> = understood.venues().into_iter().filter(|m| m.telling || m.whole).collect();
        // The host writes names in full, so one word of a name in its own text ("sushi counter")
        // names nothing.
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
            // A stage named beside its show is not a place of its own.
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

/// Returns the row whose sentences make up the text. Places named inside those sentences are not
/// its subject.
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

/// Minimum length, in characters, at which a sentence identifies its row.
pub(crate) const QUOTED: usize = 16;
