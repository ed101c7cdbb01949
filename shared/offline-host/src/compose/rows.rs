//! Searches the texts of a row for words.

use std::collections::HashSet;

use seven_knowledge::{Item, formatter, item::Details};

use seven_text::{stem, words};

/// Returns whether the text contains all words of `wanted`, with any ending.
pub(crate) fn has_word(text: &str, wanted: &str) -> bool {
    let stems: Vec<String> = words(text).iter().map(|w| stem(w)).collect();
    words(wanted).iter().all(|w| stems.contains(&stem(w)))
}

/// Returns the texts of a row in which a guest's word may occur.
pub(crate) fn fields(item: &Item) -> Vec<String> {
    let own = [
        Some(&item.name),
        item.name_es.as_ref(),
        Some(&item.description),
        item.description_es.as_ref(),
    ];
    let own = own.into_iter().flatten().chain(&item.keywords).cloned();
    let more = match &item.details {
        Details::Dining(d) => [vec![d.cuisine_type.clone()], d.dietary_options.clone()].concat(),
        Details::Entertainment(d) => {
            let free = d.ticket_price_min == Some(0.0) && d.ticket_price_max.unwrap_or(0.0) == 0.0;
            let free = free.then(|| "free gratis".to_owned());
            [Some(d.event_type.clone()), d.age_restriction.clone(), free]
                .into_iter()
                .flatten()
                .collect()
        }
        Details::Spa(d) => vec![d.treatment_type.clone()],
        Details::Gaming(d) => d.game_type.iter().cloned().collect(),
        Details::Promotion(d) => [Some(&d.promo_type), d.eligibility.as_ref()]
            .into_iter()
            .flatten()
            .cloned()
            .collect(),
        Details::Hours(_) | Details::Free(_) => item
            .details
            .extra()
            .into_iter()
            .flat_map(|e| e.values())
            .map(formatter::plain)
            .collect(),
        Details::Regulation(_) => Vec::new(),
    };
    own.chain(more)
        .chain(item.subcategory.iter().map(|s| s.replace('_', " ")))
        .collect()
}

/// Returns whether any text of the row contains one of the words. Each text is split into words
/// only once.
pub(crate) fn tells_any(item: &Item, wanted: &[String]) -> bool {
    if wanted.is_empty() {
        return false;
    }
    let stems: HashSet<String> = wanted.iter().map(|word| stem(word)).collect();
    let fields = fields(item);
    fields
        .iter()
        .flat_map(|text| words(text))
        .any(|word| stems.contains(&stem(&word)))
}

/// Returns whether one text of the row contains all words of `wanted`.
pub(crate) fn tells(item: &Item, wanted: &str) -> bool {
    fields(item).iter().any(|text| has_word(text, wanted))
}
