//! The facts of a row, each as one short statement: the sentences of its description and its
//! fields. The finder of facts (D48) compares a guest's text with them.

use seven_domain::Language;
use seven_knowledge::{Index, Item, formatter, item::Details};

/// How a fact is told to the guest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Telling {
    /// By the sentence of this number of the row's sentences.
    Sentence(usize),
    /// By the pack's wording for this field.
    Facet(&'static str),
    /// By what the offer is worth, or how to redeem it.
    Offer,
    /// By a field that the pack has no wording for; the row is described instead.
    Row,
}

/// A fact in English, as the finder reads it.
#[derive(Debug, Clone)]
pub(crate) struct Fact {
    pub(crate) text: String,
    pub(crate) telling: Telling,
}

/// Says what a row is: its name, its category and kind, and its first sentence.
pub(crate) fn gist(index: &Index, row: &Item) -> String {
    let kind = match &row.details {
        Details::Dining(d) => Some(d.cuisine_type.as_str()),
        Details::Entertainment(d) => Some(d.event_type.as_str()),
        Details::Spa(d) => Some(d.treatment_type.as_str()),
        Details::Gaming(d) => d.game_type.as_deref(),
        _ => None,
    };
    let category = row.category.as_str().replace('_', " ");
    let kind = kind.map_or(category.clone(), |kind| format!("{category}, {kind}"));
    let first = index
        .sentences(row, Language::En)
        .next()
        .unwrap_or_default();
    format!("{}, {kind}: {first}", row.name)
}

/// Returns all facts of a row.
pub(crate) fn of(index: &Index, row: &Item) -> Vec<Fact> {
    let sentences = index.sentences(row, Language::En).enumerate();
    let mut facts: Vec<Fact> = sentences
        .map(|(n, text)| Fact {
            text: text.to_owned(),
            telling: Telling::Sentence(n),
        })
        .collect();
    let mut add = |label: &str, value: Option<String>, telling: Telling| {
        let value = value.filter(|value| !value.is_empty());
        facts.extend(value.map(|value| Fact {
            text: format!("{label}: {value}"),
            telling,
        }));
    };
    let facet = Telling::Facet;
    let hours = row.hours().map(ToString::to_string);
    add("Hours", hours, facet("hours"));
    add("Where", row.location().map(str::to_owned), facet("where"));
    match &row.details {
        Details::Dining(d) => {
            add("Price", Some(d.price_range.clone()), facet("price"));
            add("Dress", d.dress_code.clone(), facet("dress"));
            add("Booking", d.reservations.clone(), facet("reservations"));
            let kids = d.kids_menu.map(|yes| if yes { "yes" } else { "no" });
            add("Kids menu", kids.map(str::to_owned), facet("kids"));
            add(
                "Diets",
                Some(d.dietary_options.join(", ")),
                facet("dietary"),
            );
        }
        Details::Entertainment(d) => {
            add("When", d.schedule.clone(), facet("starts"));
            let tickets = formatter::tickets(d.ticket_price_min, d.ticket_price_max);
            add("Tickets", tickets, facet("price"));
            add("Age", d.age_restriction.clone(), facet("age"));
            let lasts = d.duration_minutes.map(|n| format!("{n} minutes"));
            add("Duration", lasts, facet("duration"));
            let starts = d.starts_at.map(|at| at.format("%A, %B %-d").to_string());
            add("Date", starts, facet("starts"));
        }
        Details::Spa(d) => {
            add("Price", Some(formatter::dollars(d.price)), facet("price"));
            let lasts = format!("{} minutes", d.duration_minutes);
            add("Duration", Some(lasts), facet("duration"));
            let yes = |is: Option<bool>| is.map(|yes| if yes { "yes" } else { "no" }.to_owned());
            add("For couples", yes(d.couples_option), facet("couples"));
            add(
                "Booking required",
                yes(d.booking_required),
                facet("reservations"),
            );
        }
        Details::Gaming(d) => {
            let bet = d.minimum_bet.as_ref().map(formatter::money);
            add("Minimum bet", bet, facet("price"));
        }
        Details::Promotion(d) => {
            add("Worth", Some(formatter::dollars(d.value)), Telling::Row);
            let until = d.valid_until.format("%B %-d").to_string();
            add("Valid until", Some(until), Telling::Row);
            add("Who", d.eligibility.clone(), Telling::Offer);
            add("How to redeem", d.redemption_method.clone(), Telling::Offer);
        }
        Details::Hours(d) => add("Season", d.seasonal_notes.clone(), Telling::Row),
        Details::Regulation(_) | Details::Free(_) => {}
    }
    for (key, value) in row.details.extra().into_iter().flatten() {
        let telling = match key.as_str() {
            "price" | "cost" | "fee" => facet("price"),
            "phone" => facet("phone"),
            "sleeps" => facet("sleeps"),
            "location" => continue,
            _ => Telling::Row,
        };
        let label = key.replace('_', " ");
        add(&label, Some(formatter::plain(value)), telling);
    }
    facts
}
