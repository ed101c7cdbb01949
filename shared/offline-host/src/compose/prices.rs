//! Answers questions about prices.

use std::sync::Arc;

use seven_knowledge::{Category, Item, formatter, item::Details};

use crate::{
    compose::{rows, venue},
    fit::Part,
    host::Host,
    phrases::Tokens,
};

/// Lists names with their prices, such as "Swedish Massage $165 for 60 minutes", as many as fit.
pub(crate) fn prices(host: &Host<'_>, items: &[Arc<Item>], intent: &str) -> Option<Part> {
    let priced: Vec<(&Arc<Item>, String)> = items
        .iter()
        .filter_map(|i| Some((i, venue::price(host, i)?)))
        .collect();
    let entries: Vec<String> = priced
        .iter()
        .map(|(item, price)| format!("{} {price}", host.name(item)))
        .collect();
    let build = |count: usize| host.say("price_list", &[("list", &host.first_of(&entries, count))]);
    // Three prices in two texts are preferred to two prices in one text.
    let count = (1..=priced.len()).rev().find(|n| {
        if *n <= 3 {
            host.room.two(&build(*n))
        } else {
            host.room.one(&build(*n))
        }
    })?;
    let used: Vec<Arc<Item>> = priced
        .iter()
        .take(count)
        .map(|(item, _)| Arc::clone(item))
        .collect();
    Some(Part {
        ask: Some(host.say("ask_topic", &[])),
        ..host.part(intent, build(count), &used)
    })
}

/// Answers with the cheapest rows.
pub(crate) fn cheapest(host: &Host<'_>, items: &[Arc<Item>], category: &Category) -> Option<Part> {
    let figure = |item: &Arc<Item>| {
        let text = venue::price(host, item)?;
        let digits = text
            .split('$')
            .nth(1)?
            .split(|c: char| !c.is_ascii_digit() && c != '.')
            .next()?
            .to_owned();
        digits
            .parse::<f64>()
            .ok()
            .map(|price| (price, Arc::clone(item)))
    };
    let mut priced: Vec<(f64, Arc<Item>)> = items.iter().filter_map(figure).collect();
    priced.sort_by(|a, b| a.0.total_cmp(&b.0));
    let least = priced.first()?.0;
    let least: Vec<Arc<Item>> = priced
        .into_iter()
        .filter(|(price, _)| *price <= least)
        .map(|(_, item)| item)
        .collect();
    prices(host, &least, category.as_str())
}

/// Lists offers with their value. Gambling offers are left out for a guest who mentioned a gambling
/// problem.
pub(crate) fn worths(host: &Host<'_>, items: &[Arc<Item>]) -> Part {
    let request = host.request;
    let earlier = request
        .history
        .iter()
        .map(|e| &e.guest)
        .chain(&request.texts);
    let troubled = host
        .pack
        .intents
        .get("limits")
        .is_some_and(|p| earlier.into_iter().any(|t| p.found(&Tokens::new(t))));
    let plays = |item: &Item| {
        ["play", "slot", "gaming", "table games"]
            .iter()
            .any(|word| rows::tells(item, word))
    };
    let told: Vec<Arc<Item>> = items
        .iter()
        .filter(|item| !troubled || !plays(item))
        .cloned()
        .collect();
    let entry = |item: &Arc<Item>| match &item.details {
        Details::Promotion(d) if d.value > 0.0 => {
            format!("{} {}", host.name(item), formatter::dollars(d.value))
        }
        _ => host.name(item),
    };
    let entries: Vec<String> = told.iter().map(entry).collect();
    let body = |count: usize| host.say("topic_all", &[("list", &host.first_of(&entries, count))]);
    let count = (1..=entries.len())
        .rev()
        .find(|count| host.room.two(&body(*count)))
        .unwrap_or(1);
    let used: Vec<Arc<Item>> = told.iter().take(count).cloned().collect();
    Part {
        ask: Some(host.say("ask_topic", &[])),
        ..host.part("promotions", body(count), &used)
    }
}
