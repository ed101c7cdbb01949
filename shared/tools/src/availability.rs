//! check_availability. No booking system is connected, so the tool returns only what the content
//! says. It tells the model that a person has to confirm a booking.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use seven_knowledge::{Item, formatter, item::Details};

use crate::{
    Toolbox,
    fault::{Answer, Fault, arguments},
    when,
};

/// Largest party size that the tool accepts.
const MOST_PEOPLE: u32 = 500;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// The name or id of a restaurant, show, treatment or room.
    venue: String,
    /// How many people.
    #[serde(default)]
    party_size: Option<u32>,
    /// A day, such as 2026-12-25, today, tomorrow or friday.
    #[serde(default)]
    date: Option<String>,
    /// A time of that day, such as 19:00 or 7pm.
    #[serde(default)]
    time: Option<String>,
}

impl Toolbox<'_> {
    pub(crate) fn check_availability(&mut self, given: &Value) -> Answer {
        let Arguments {
            venue,
            party_size,
            date,
            time,
        } = arguments(given)?;
        if party_size.is_some_and(|size| !(1..=MOST_PEOPLE).contains(&size)) {
            let fix = format!("give 1 to {MOST_PEOPLE} people, or leave it out");
            return Err(Fault::new(
                "bad_arguments",
                "party_size is no size of a party",
                fix,
            ));
        }
        let item = self.place(&venue, |_| true)?;
        let (date, time) = self.asked(date.as_deref(), time.as_deref())?;
        let reservations = reservations(&item);
        let capacity = capacity(&item);
        let confirm = format!(
            "Nothing is booked or held: a person at {} confirms.",
            self.phone()
        );
        let mut result = json!({
            "id": item.id,
            "name": item.name(self.given.language),
            "available": "not_known",
            "reservations": reservations,
            "confirm": confirm,
        });
        if let Some(hours) = item.hours() {
            result["hours"] = json!(hours.show(self.given.language));
            let day = date.unwrap_or_else(|| self.today());
            match time {
                Some(time) => {
                    let at = when::instant(day.and_time(time), self.zone());
                    result["open_then"] = json!(hours.is_open(at, self.zone()));
                }
                None if date.is_some() => {
                    result["open_then"] = json!(!hours.openings_on(day).is_empty());
                }
                None => {}
            }
            if result["open_then"] == json!(false) {
                let sentence = format!("{} is closed then.", item.name);
                result["sentence"] = json!(sentence);
                self.found(sentence);
            }
        }
        if !capacity.is_empty() {
            result["capacity"] = Value::Object(capacity);
        }
        self.show(&item, None);
        self.found(confirm);
        Ok(result)
    }
}

/// Returns what the row says about reservations, if anything.
fn reservations(item: &Item) -> Option<&str> {
    match &item.details {
        Details::Dining(dining) => dining.reservations.as_deref(),
        Details::Spa(spa) => spa
            .booking_required
            .map(|needed| if needed { "Required" } else { "Not required" }),
        _ => item
            .details
            .extra()?
            .get("reservations")
            .and_then(Value::as_str),
    }
}

/// Returns the row's fields about capacity, such as seats or group size, with their values as text.
fn capacity(item: &Item) -> Map<String, Value> {
    let about = |key: &str| {
        ["capacity", "seats", "party", "group", "guests", "people"]
            .iter()
            .any(|word| key.contains(word))
    };
    let extra = item.details.extra().into_iter().flatten();
    extra
        .filter(|(key, _)| about(&key.to_lowercase()))
        .map(|(key, value)| (key.clone(), json!(formatter::plain(value))))
        .collect()
}
