//! Writes an item as natural text, for retrieval and for checking the facts in a reply. Notes and
//! ids never appear in it.

use chrono::{DateTime, Timelike, Utc};
use chrono_tz::Tz;
use serde_json::Value;
use seven_domain::Language;
use seven_text::calendar;
use sha2::{Digest, Sha256};

use crate::{Item, hours::clock, item::Details};

/// Returns the item's text. Each present field gives a sentence or phrase; they are joined by
/// spaces.
pub fn text(item: &Item, zone: Tz) -> String {
    let mut parts: Vec<String> = Vec::new();
    let name = if item.name.trim().is_empty() {
        "Unknown"
    } else {
        &item.name
    };
    let mut say = |fragment: Option<String>| parts.extend(fragment.filter(|f| !f.is_empty()));
    let description = || Some(item.description.clone());
    let labelled = |label: &str, value: Option<&str>| value.map(|v| format!("{label}: {v}."));
    match &item.details {
        Details::Dining(d) => {
            say(Some(format!("{name}: {} cuisine.", d.cuisine_type)));
            say(labelled("Price range", Some(&d.price_range)));
            say(d.location.as_ref().map(|l| format!("Located in {l}.")));
            say(Some(format!("Hours: {}.", d.hours)));
            say(description());
            say(labelled("Dress code", d.dress_code.as_deref()));
            say(labelled("Reservations", d.reservations.as_deref()));
            say((d.kids_menu == Some(true)).then(|| "A kids menu is available.".into()));
            say((!d.dietary_options.is_empty())
                .then(|| format!("Dietary options: {}.", d.dietary_options.join(", "))));
        }
        Details::Entertainment(d) => {
            say(Some(format!("{name}:")));
            say(Some(format!("{}.", d.event_type)));
            say(description());
            say(labelled("Venue", Some(&d.venue)));
            say(d
                .starts_at
                .map(|at| format!("Starts {}.", moment(at, zone, Language::En))));
            say(labelled("Schedule", d.schedule.as_deref()));
            say(d.hours.as_ref().map(|h| format!("Hours: {h}.")));
            say(tickets(d.ticket_price_min, d.ticket_price_max).map(|t| format!("Tickets: {t}.")));
            say(labelled("Age restriction", d.age_restriction.as_deref()));
            say(d.duration_minutes.map(|m| format!("Duration: {m} min.")));
        }
        Details::Spa(d) => {
            say(Some(format!("{name}:")));
            say(Some(format!("{} treatment.", d.treatment_type)));
            say(Some(format!("Duration: {} min.", d.duration_minutes)));
            say(Some(format!("Price: {}.", dollars(d.price))));
            say(description());
            say((d.couples_option == Some(true)).then(|| "A couples option is available.".into()));
            say((d.booking_required == Some(true)).then(|| "Booking is required.".into()));
            say(d.hours.as_ref().map(|h| format!("Hours: {h}.")));
        }
        Details::Gaming(d) => {
            say(Some(format!("{name}:")));
            say(d.game_type.as_ref().map(|t| format!("{t}.")));
            say(d.location.as_ref().map(|l| format!("Located in {l}.")));
            say(d
                .minimum_bet
                .as_ref()
                .map(|bet| format!("Minimum bet: {}.", money(bet))));
            say(d.hours.as_ref().map(|h| format!("Hours: {h}.")));
            say(description());
            d.extra
                .iter()
                .for_each(|(key, value)| say(pair(key, value)));
        }
        Details::Promotion(d) => {
            say(Some(format!("{name}:")));
            say(description());
            say(Some(format!(
                "{}. Value: {}.",
                d.promo_type,
                dollars(d.value)
            )));
            say(Some(format!(
                "Valid: {} to {}.",
                d.valid_from.format("%b %-d, %Y"),
                d.valid_until.format("%b %-d, %Y")
            )));
            say(labelled("Eligibility", d.eligibility.as_deref()));
            say(labelled("How to redeem", d.redemption_method.as_deref()));
        }
        Details::Hours(d) => {
            say(Some(format!("{name} hours:")));
            say(d.hours.as_ref().map(|h| format!("{h}.")));
            say(description());
            say(labelled("Note", d.seasonal_notes.as_deref()));
            d.extra
                .iter()
                .for_each(|(key, value)| say(pair(key, value)));
        }
        Details::Regulation(d) => {
            say(Some(format!("{name}: {}.", d.regulation_type)));
            say(description());
            say(Some(format!("State: {}.", d.state)));
            say(d.effective_date.map(|day| format!("Effective: {day}.")));
            say((!d.applies_to.is_empty())
                .then(|| format!("Applies to: {}.", d.applies_to.join(", "))));
            say(labelled("Penalty", d.penalty.as_deref()));
        }
        Details::Free(extra) => {
            say(Some(format!("{name}:")));
            say(description());
            extra.iter().for_each(|(key, value)| say(pair(key, value)));
        }
    }
    let special = item
        .hours()
        .map(crate::WeeklyHours::special)
        .unwrap_or_default();
    let special: Vec<String> = special
        .iter()
        .map(crate::hours::SpecialDay::describe)
        .collect();
    say((!special.is_empty()).then(|| format!("Special hours: {}.", special.join("; "))));
    say(labelled("Tip", item.tip.as_deref()));
    parts.join(" ")
}

/// Returns the hash of a text together with its source, such as a casino or an embedder's space.
pub fn document_id(text: &str, source: &str) -> String {
    let mut hash = Sha256::new();
    hash.update(text.as_bytes());
    hash.update(source.as_bytes());
    hex::encode(hash.finalize())
}

/// Writes an amount: "$145", "$49.50".
pub fn dollars(amount: f64) -> String {
    if amount.fract().abs() < 0.005 {
        format!("${amount:.0}")
    } else {
        format!("${amount:.2}")
    }
}

/// Writes a price that is a number or words: 25 -> "$25"; "from $15" stays.
pub fn money(value: &Value) -> String {
    value.as_f64().map_or_else(|| plain(value), dollars)
}

/// Writes ticket prices: "$25", "$25-$60".
pub fn tickets(min: Option<f64>, max: Option<f64>) -> Option<String> {
    match (min, max) {
        (Some(min), Some(max)) if max > min => Some(format!("{}-{}", dollars(min), dollars(max))),
        (Some(price), _) | (None, Some(price)) => Some(dollars(price)),
        (None, None) => None,
    }
}

/// Writes a moment in the casino's local time: "Friday Mar 6 at 8pm", "viernes 6 a las 8pm".
pub fn moment(at: DateTime<Utc>, zone: Tz, language: Language) -> String {
    use chrono::Datelike;
    let local = at.with_timezone(&zone);
    let minute = u16::try_from(local.hour() * 60 + local.minute()).expect("a day has 1440 minutes");
    let (day, time) = (
        calendar::weekday_name(local.weekday(), language),
        clock(minute),
    );
    match language {
        Language::En => format!("{day} {} {} at {time}", local.format("%b"), local.day()),
        Language::Es => format!(
            "{day} {} a {} {time}",
            local.day(),
            crate::hours::article(minute)
        ),
    }
}

/// Writes a field as a sentence: `"free_shuttle": true` -> "Free shuttle: yes."
fn pair(key: &str, value: &Value) -> Option<String> {
    let mut label = key.replace('_', " ");
    if let Some(first) = label.get_mut(0..1) {
        first.make_ascii_uppercase();
    }
    let value = plain(value);
    (!value.is_empty()).then(|| format!("{label}: {value}."))
}

/// Writes a JSON value in words, never as JSON.
pub fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Bool(true) => "yes".into(),
        Value::Bool(false) => "no".into(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.trim().trim_end_matches('.').to_owned(),
        Value::Array(values) => values
            .iter()
            .map(plain)
            .filter(|v| !v.is_empty())
            .collect::<Vec<_>>()
            .join(", "),
        Value::Object(map) => map
            .iter()
            .map(|(k, v)| format!("{} {}", k.replace('_', " "), plain(v)))
            .collect::<Vec<_>>()
            .join(", "),
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeZone;
    use chrono_tz::America::New_York;
    use serde_json::json;

    use super::*;
    use crate::Reference;

    fn item(value: &Value) -> Item {
        let now = Utc.with_ymd_and_hms(2026, 3, 6, 17, 0, 0).unwrap();
        Item::read(
            value,
            Reference {
                now,
                zone: New_York,
            },
        )
        .unwrap()
    }

    #[test] // RAG-15, CMS-15: the specification's example, with our names
    fn dining_reads_as_the_spec_says() {
        let burgers = item(
            &json!({"id": "dining_001", "category": "dining", "name": "Birch Burgers",
                "description": "Burgers and shakes.", "notes": "VIP only, do not mention",
            "details": {"cuisine": "American", "price_range": "$$",
                "location": "East Hall, Level 1", "hours": "Sun-Thu 11am-10pm, Fri-Sat 11am-12am",
                "dress_code": "Casual", "reservations": "Walk-in only", "kids_menu": true,
                "dietary_options": ["gluten-free bun", "veggie burger"]}}),
        );
        assert_eq!(
            text(&burgers, New_York),
            "Birch Burgers: American cuisine. Price range: $$. Located in East Hall, Level 1. \
             Hours: Sun-Thu 11am-10pm, Fri-Sat 11am-12am. Burgers and shakes. Dress code: Casual. \
             Reservations: Walk-in only. A kids menu is available. Dietary options: gluten-free \
             bun, veggie burger."
        );
        let id = document_id(&text(&burgers, New_York), "silver_birch");
        assert_eq!(
            (id.len(), id == document_id("other", "silver_birch")),
            (64, false)
        );
    }

    #[test] // RAG-16, T18
    fn unknown_categories_read_as_pairs_without_notes() {
        let golf = item(
            &json!({"id": "g", "category": "golf", "name": "Pine Course",
                "description": "Nine holes.", "notes": "secret",
            "details": {"green_fee": 45, "club_rental": true, "levels": ["easy", "hard"]}}),
        );
        assert_eq!(
            text(&golf, New_York),
            "Pine Course: Nine holes. Club rental: yes. Green fee: 45. Levels: easy, hard."
        );
        let show = item(
            &json!({"id": "s", "category": "shows", "name": "Trio", "description": "Jazz.",
            "details": {
                "event_type": "Concert",
                "venue": "Hall",
                "starts_at": "today 20:00",
                "ticket_price_min": 25,
                "ticket_price_max": 49.5,
            }}),
        );
        assert_eq!(
            text(&show, New_York),
            "Trio: Concert. Jazz. Venue: Hall. Starts Friday Mar 6 at 8pm. Tickets: $25-$49.50."
        );
    }
}
