//! Turns the casino's content into the catalogue against which the offers in a reply are checked.

use chrono_tz::Tz;
use serde_json::Value;
use seven_compliance::offers::{Catalogue, Promotion, Row};

use crate::{Item, formatter, item::Details};

/// Returns the catalogue of a casino's whole content, as it is stored. Items that cannot be read
/// are left out, so they justify no offer.
pub fn catalogue_of(content: &[Value], zone: Tz) -> Catalogue {
    let items: Vec<Item> = content
        .iter()
        .filter_map(|item| Item::from_json(item).ok())
        .collect();
    let promotions = items
        .iter()
        .filter(|item| matches!(item.details, Details::Promotion(_)));
    catalogue(promotions, items.iter(), zone)
}

/// Returns the catalogue of these promotions and content rows.
pub fn catalogue<'a, 'b>(
    promotions: impl Iterator<Item = &'a Item>,
    rows: impl Iterator<Item = &'b Item>,
    zone: Tz,
) -> Catalogue {
    Catalogue {
        promotions: promotions.map(|item| promotion(item, zone)).collect(),
        rows: rows
            .map(|item| Row {
                text: wording(item, zone).join(" "),
                prices: Vec::new(),
            })
            .collect(),
    }
}

fn promotion(item: &Item, zone: Tz) -> Promotion {
    let wording = wording(item, zone);
    let Details::Promotion(details) = &item.details else {
        return Promotion {
            id: item.id.clone(),
            wording,
            ..Promotion::default()
        };
    };
    Promotion {
        id: item.id.clone(),
        wording,
        value: Some(details.value),
        valid_from: Some(details.valid_from.to_string()),
        valid_until: Some(details.valid_until.to_string()),
    }
}

/// Returns the item's wording in both languages.
fn wording(item: &Item, zone: Tz) -> Vec<String> {
    let own = formatter::text(item, zone);
    [Some(own), item.name_es.clone(), item.description_es.clone()]
        .into_iter()
        .flatten()
        .collect()
}
