//! Compares rows by what the guest asks for: price, children, hours, place.

use std::sync::Arc;

use seven_knowledge::{Item, item::Details};

use crate::{
    compose::figure::figure, compose::venue, fit::Part, host::Host, resolve::compared,
    suggest::reasons, understand::Understood,
};

/// Answers "which is cheaper?" about the rows just named; `None` if there are fewer than two.
pub(crate) fn answer(host: &Host<'_>, u: &Understood<'_>) -> Option<Part> {
    let rows = compared(host, u);
    if rows.len() < 2 {
        return None;
    }
    let words = |known: &[&str]| {
        u.said
            .words
            .iter()
            .any(|word| known.iter().any(|known| word.starts_with(known)))
    };
    let by_price = u.wants("price")
        || u.intends("cheapest")
        || words(&[
            "cheap", "barat", "econom", "price", "precio", "expens", "caro", "sale",
        ]);
    let for_kids = u.wants("kids") || words(&["toddler", "bebe", "nino", "family"]);
    let part = if by_price {
        cheapest(host, &rows)
    } else if for_kids {
        kids(host, &rows)
    } else {
        None
    };
    part.or_else(|| facts(host, &rows))
}

fn cheapest(host: &Host<'_>, rows: &[Arc<Item>]) -> Option<Part> {
    let mut priced: Vec<(f64, &Arc<Item>)> = rows
        .iter()
        .filter_map(|row| Some((figure(host, row)?, row)))
        .collect();
    if priced.len() < 2 {
        return None;
    }
    priced.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (least, most) = (priced.first()?, priced.last()?);
    let with_price = |row: &Item| {
        let price = venue::price(host, row).unwrap_or_default();
        format!("{} ({price})", host.name(row))
    };
    // The cheaper row comes last, so that "book the room" means it.
    let used = [Arc::clone(most.1), Arc::clone(least.1)];
    let key = if least.0 < most.0 {
        "compare_cheaper"
    } else {
        "compare_same"
    };
    let slots = [("name", with_price(least.1)), ("other", with_price(most.1))];
    let slots: Vec<(&str, &str)> = slots.iter().map(|(k, v)| (*k, v.as_str())).collect();
    Some(host.part("compare", host.say(key, &slots), &used))
}

fn kids(host: &Host<'_>, rows: &[Arc<Item>]) -> Option<Part> {
    let menu =
        |row: &&Arc<Item>| matches!(&row.details, Details::Dining(d) if d.kids_menu == Some(true));
    let with: Vec<&Arc<Item>> = rows.iter().filter(menu).collect();
    match with.as_slice() {
        [one] => Some(host.part(
            "compare",
            host.say("compare_kids", &[("name", &host.name(one))]),
            std::slice::from_ref(*one),
        )),
        _ => None,
    }
}

/// Names the first two rows, each with its facts.
fn facts(host: &Host<'_>, rows: &[Arc<Item>]) -> Option<Part> {
    let told = |row: &Arc<Item>| format!("{} ({})", host.name(row), reasons(host, row).join(", "));
    let (one, other) = (rows.first()?, rows.get(1)?);
    let slots = [("name", told(one)), ("other", told(other))];
    let slots: Vec<(&str, &str)> = slots.iter().map(|(k, v)| (*k, v.as_str())).collect();
    let used = [Arc::clone(one), Arc::clone(other)];
    Some(host.part("compare", host.say("compare_facts", &slots), &used))
}
