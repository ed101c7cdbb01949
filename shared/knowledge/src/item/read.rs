//! Reads JSON into a checked [`Item`], with the specification's lists of allowed values.

use serde_json::{Map, Value};

use super::{Details, Dining, Entertainment, Gaming, HoursInfo, Item, Promotion, Regulation, Spa};
use crate::{
    Category, Problem, Reference, WeeklyHours,
    dates::{self, DAY_FIX, MOMENT_FIX},
    fields::Fields,
    hours::{Day, SpecialDay},
};

const CUISINES: [&str; 12] = [
    "American",
    "Italian",
    "Asian",
    "Japanese",
    "Chinese",
    "Mexican",
    "Mediterranean",
    "Steakhouse",
    "Seafood",
    "Buffet",
    "Cafe",
    "Bar",
];
const PRICES: [&str; 4] = ["$", "$$", "$$$", "$$$$"];
const DRESS: [&str; 4] = ["Casual", "Smart casual", "Business casual", "Formal"];
const RESERVATIONS: [&str; 3] = ["Walk-in only", "Recommended", "Required"];
const DINING: [&str; 5] = ["casual", "fine_dining", "buffet", "cafe", "bar"];
const EVENTS: [&str; 9] = [
    "Concert",
    "Comedy",
    "DJ",
    "Show",
    "Fight",
    "Sports viewing",
    "Tournament",
    "Special event",
    "Pool party",
];
const AGES: [&str; 3] = ["All ages", "18+", "21+"];
const TREATMENTS: [&str; 9] = [
    "Massage",
    "Facial",
    "Body treatment",
    "Manicure",
    "Pedicure",
    "Package",
    "Couples",
    "Sauna",
    "Steam room",
];
const PROMOTIONS: [&str; 8] = [
    "Free play",
    "Match play",
    "Dining credit",
    "Hotel discount",
    "Event tickets",
    "Spa credit",
    "Birthday",
    "Loyalty tier upgrade",
];
const REDEMPTIONS: [&str; 5] = ["Automatic", "Promo code", "At cage", "At host", "Online"];
const RULES: [&str; 7] = [
    "Age restriction",
    "Self-exclusion",
    "Responsible gaming",
    "Photography policy",
    "Smoking policy",
    "Dress code",
    "ID requirements",
];
const SUBJECTS: [&str; 4] = ["guests", "employees", "vendors", "all"];
const SPECIAL: [&str; 3] = ["date", "hours", "name"];
const SPECIAL_FIX: &str =
    "a list such as [{\"date\": \"12-25\", \"hours\": \"closed\", \"name\": \"Christmas Day\"}]";
const HOURS_FIX: &str =
    "write such as `Sun-Thu 11am-10pm, Fri-Sat 11am-12am`, `Daily 7am-2am` or `24 hours`";

pub(super) fn item(value: &Value, reference: Option<Reference>) -> Result<Item, Vec<Problem>> {
    let mut problems = Vec::new();
    let Some(map) = value.as_object() else {
        let problem = "the item is no JSON object".into();
        return Err(vec![Problem {
            field: "item".into(),
            problem,
            fix: "write {\"id\": ..., \"name\": ...}".into(),
        }]);
    };
    let empty = Map::new();
    let mut f = Fields::new(map, "", &mut problems);
    let id = f.text("id", 100);
    let id = f.require(
        "id",
        id,
        "give it an id such as dining_001, once and for ever",
    );
    let category = f.text("category", 40);
    let category = f
        .require("category", category, "name its category, such as dining")
        .map(Category::from);
    let name = f.text("name", 200);
    let name = f.require("name", name, "write the name guests know");
    let description = f.text("description", 1_000);
    let description = f.require(
        "description",
        description,
        "describe it in one to three English sentences; `description_es` has the Spanish ones",
    );
    let (name_es, description_es) = (f.text("name_es", 200), f.text("description_es", 1_000));
    let subcategory = match category {
        Some(Category::Dining) => f.one_of("subcategory", &DINING),
        _ => f.text("subcategory", 60),
    };
    let active = f.flag("active").unwrap_or(true);
    let (keywords, tip, notes) = (
        f.list("keywords").unwrap_or_default(),
        f.text("tip", 300),
        f.text("notes", 10_000),
    );
    // Content sheets have these two columns. They are read only so that `refuse_unknown` does not
    // refuse them; the item does not keep them.
    for kept_elsewhere in ["last_modified", "modified_by"] {
        let _ = f.value(kept_elsewhere);
    }
    let details = match f.value("details") {
        None => &empty,
        Some(Value::Object(map)) => map,
        Some(other) => f
            .wrong(
                "details",
                other,
                "an object, such as {\"hours\": \"24 hours\"}",
            )
            .unwrap_or(&empty),
    };
    f.refuse_unknown("move it into details if it belongs to the category; else ");
    let details = category
        .as_ref()
        .and_then(|c| read_details(c, details, reference, &mut problems));
    match (id, category, name, description, details) {
        (Some(id), Some(category), Some(name), Some(description), Some(details))
            if problems.is_empty() =>
        {
            Ok(Item {
                id,
                category,
                name,
                name_es,
                subcategory,
                description,
                description_es,
                details,
                active,
                keywords,
                tip,
                notes,
            })
        }
        _ => Err(problems),
    }
}

fn read_details(
    category: &Category,
    map: &Map<String, Value>,
    reference: Option<Reference>,
    problems: &mut Vec<Problem>,
) -> Option<Details> {
    let mut f = Fields::new(map, "details.", problems);
    match category {
        Category::Dining => dining(f, reference),
        Category::Entertainment => entertainment(f, reference),
        Category::Spa => spa(f, reference),
        Category::Promotions => promotion(f, reference),
        Category::Regulations => regulation(f, reference),
        Category::Gaming => {
            let special_hours = special(&mut f, reference);
            Some(Details::Gaming(Gaming {
                game_type: f.text("game_type", 100),
                location: f.text("location", 200),
                minimum_bet: f.value("minimum_bet").cloned(),
                hours: hours(&mut f, "hours").map(|hours| hours.with_special(&special_hours)),
                special_hours,
                extra: f.rest(),
            }))
        }
        Category::Hours => hours_info(f, reference),
        // A place in a category without fixed fields (pool, parking) may have hours. A text that
        // cannot be read as hours stays a text.
        Category::GeneralInfo | Category::Other(_) => {
            match map.get("hours").map(WeeklyHours::from_json) {
                Some(Ok(hours)) => {
                    let _ = f.value("hours");
                    let special_hours = special(&mut f, reference);
                    Some(Details::Hours(HoursInfo {
                        hours: Some(hours.with_special(&special_hours)),
                        special_hours,
                        seasonal_notes: f.text("seasonal_notes", 300),
                        extra: f.rest(),
                    }))
                }
                _ => Some(Details::Free(f.rest())),
            }
        }
    }
}

fn hours(f: &mut Fields<'_, '_>, key: &'static str) -> Option<WeeklyHours> {
    let value = f.value(key)?;
    WeeklyHours::from_json(value)
        .map_err(|error| f.complain(key, error.to_string(), HOURS_FIX))
        .ok()
}

/// Reads `special_hours`, the hours of single days such as holidays:
/// `[{"date": "12-25", "hours": "closed", "name": "Christmas Day"}]`.
fn special(f: &mut Fields<'_, '_>, reference: Option<Reference>) -> Vec<SpecialDay> {
    let Some(value) = f.value("special_hours") else {
        return Vec::new();
    };
    let Some(days) = value.as_array() else {
        let _: Option<()> = f.wrong("special_hours", value, SPECIAL_FIX);
        return Vec::new();
    };
    let mut read = Vec::with_capacity(days.len());
    for day in days {
        match special_day(day, reference) {
            Ok(day) => read.push(day),
            Err(problem) => f.complain("special_hours", problem, format!("write {SPECIAL_FIX}")),
        }
    }
    read
}

fn special_day(value: &Value, reference: Option<Reference>) -> Result<SpecialDay, String> {
    let text = |key: &str| {
        value
            .get(key)
            .and_then(Value::as_str)
            .map(str::trim)
            .filter(|text| !text.is_empty())
    };
    if let Some(other) = value
        .as_object()
        .and_then(|map| map.keys().find(|key| !SPECIAL.contains(&key.as_str())))
    {
        return Err(format!("has the unknown field `{other}`"));
    }
    let (Some(date), Some(hours)) = (text("date"), text("hours")) else {
        return Err("has a day without `date` or `hours`".to_owned());
    };
    let name = text("name").map(str::to_owned);
    let day = Day::yearly(date).or_else(|| dates::day(date, reference).map(Day::Once));
    let day = day.ok_or_else(|| format!("has `{date}`, which is no day"))?;
    SpecialDay::new(day, name, hours).map_err(|error| error.to_string())
}

fn date(
    f: &mut Fields<'_, '_>,
    key: &'static str,
    reference: Option<Reference>,
) -> Option<chrono::NaiveDate> {
    let text = f.text(key, 60)?;
    let day = dates::day(&text, reference);
    if day.is_none() {
        f.complain(key, format!("is `{text}`"), DAY_FIX);
    }
    day
}

fn dining(mut f: Fields<'_, '_>, reference: Option<Reference>) -> Option<Details> {
    // Accepts `cuisine` as another name of `cuisine_type`, because existing records use it.
    let cuisine = if f.value("cuisine").is_some() {
        f.one_of("cuisine", &CUISINES)
    } else {
        f.one_of("cuisine_type", &CUISINES)
    };
    let cuisine = if f.value("cuisine").is_some() {
        cuisine
    } else {
        f.require(
            "cuisine_type",
            cuisine,
            &format!("use one of: {}", CUISINES.join(", ")),
        )
    };
    let price = f.one_of("price_range", &PRICES);
    let price = f.require("price_range", price, "use one of: $, $$, $$$, $$$$");
    let open = hours(&mut f, "hours");
    let open = f.require("hours", open, HOURS_FIX);
    let (location, dress_code) = (f.text("location", 200), f.one_of("dress_code", &DRESS));
    let (reservations, kids_menu) = (f.one_of("reservations", &RESERVATIONS), f.flag("kids_menu"));
    let dietary_options = f.list("dietary_options").unwrap_or_default();
    let special_hours = special(&mut f, reference);
    f.refuse_unknown("");
    let (cuisine_type, price_range, hours) = (cuisine?, price?, open?.with_special(&special_hours));
    Some(Details::Dining(Dining {
        cuisine_type,
        price_range,
        hours,
        location,
        dress_code,
        reservations,
        kids_menu,
        dietary_options,
        special_hours,
    }))
}

fn entertainment(mut f: Fields<'_, '_>, reference: Option<Reference>) -> Option<Details> {
    let event_type = f.one_of("event_type", &EVENTS);
    let event_type = f.require(
        "event_type",
        event_type,
        &format!("use one of: {}", EVENTS.join(", ")),
    );
    let venue = f.text("venue", 200);
    let venue = f.require("venue", venue, "name the room or stage");
    let starts_at = f.text("starts_at", 60).and_then(|text| {
        let at = dates::moment(&text, reference);
        if at.is_none() {
            f.complain("starts_at", format!("is `{text}`"), MOMENT_FIX);
        }
        at
    });
    let (schedule, hours) = (f.text("schedule", 200), hours(&mut f, "hours"));
    let (ticket_price_min, ticket_price_max) =
        (f.amount("ticket_price_min"), f.amount("ticket_price_max"));
    if ticket_price_min
        .zip(ticket_price_max)
        .is_some_and(|(min, max)| max < min)
    {
        f.complain(
            "ticket_price_max",
            "is below ticket_price_min",
            "swap the two",
        );
    }
    let (age_restriction, duration_minutes) = (
        f.one_of("age_restriction", &AGES),
        f.whole("duration_minutes", 15, 480),
    );
    let special_hours = special(&mut f, reference);
    let hours = hours.map(|hours| hours.with_special(&special_hours));
    f.refuse_unknown("");
    let (event_type, venue) = (event_type?, venue?);
    Some(Details::Entertainment(Entertainment {
        event_type,
        venue,
        starts_at,
        schedule,
        ticket_price_min,
        ticket_price_max,
        age_restriction,
        duration_minutes,
        hours,
        special_hours,
    }))
}

fn spa(mut f: Fields<'_, '_>, reference: Option<Reference>) -> Option<Details> {
    let treatment = f.one_of("treatment_type", &TREATMENTS);
    let treatment = f.require(
        "treatment_type",
        treatment,
        &format!("use one of: {}", TREATMENTS.join(", ")),
    );
    let duration = f.whole("duration_minutes", 30, 120);
    if duration.is_some_and(|d| ![30, 60, 90, 120].contains(&d)) {
        f.complain(
            "duration_minutes",
            "is no treatment length",
            "use 30, 60, 90 or 120",
        );
    }
    let duration = f.require("duration_minutes", duration, "use 30, 60, 90 or 120");
    let price = f.amount("price");
    let price = f.require("price", price, "write the price in dollars as a number");
    let (couples_option, booking_required, hours) = (
        f.flag("couples_option"),
        f.flag("booking_required"),
        hours(&mut f, "hours"),
    );
    let special_hours = special(&mut f, reference);
    let hours = hours.map(|hours| hours.with_special(&special_hours));
    f.refuse_unknown("");
    let (treatment_type, duration_minutes, price) = (treatment?, duration?, price?);
    Some(Details::Spa(Spa {
        treatment_type,
        duration_minutes,
        price,
        couples_option,
        booking_required,
        hours,
        special_hours,
    }))
}

fn promotion(mut f: Fields<'_, '_>, reference: Option<Reference>) -> Option<Details> {
    let promo = f.one_of("promo_type", &PROMOTIONS);
    let promo = f.require(
        "promo_type",
        promo,
        &format!("use one of: {}", PROMOTIONS.join(", ")),
    );
    let value = f.amount("value");
    let value = f.require("value", value, "write its worth in dollars as a number");
    let from = date(&mut f, "valid_from", reference);
    let from = f.require("valid_from", from, DAY_FIX);
    let until = date(&mut f, "valid_until", reference);
    let until = f.require("valid_until", until, DAY_FIX);
    if from.zip(until).is_some_and(|(from, until)| until < from) {
        f.complain("valid_until", "is before valid_from", "swap the two");
    }
    let (eligibility, redemption_method) = (
        f.text("eligibility", 300),
        f.one_of("redemption_method", &REDEMPTIONS),
    );
    let max_redemptions = f.whole("max_redemptions", 1, u32::MAX);
    f.refuse_unknown("");
    let (promo_type, value, valid_from, valid_until) = (promo?, value?, from?, until?);
    Some(Details::Promotion(Promotion {
        promo_type,
        value,
        valid_from,
        valid_until,
        eligibility,
        redemption_method,
        max_redemptions,
    }))
}

fn regulation(mut f: Fields<'_, '_>, reference: Option<Reference>) -> Option<Details> {
    let kind = f.one_of("regulation_type", &RULES);
    let kind = f.require(
        "regulation_type",
        kind,
        &format!("use one of: {}", RULES.join(", ")),
    );
    let state = f.text("state", 60);
    if state
        .as_ref()
        .is_some_and(|s| s.len() != 2 || !s.bytes().all(|b| b.is_ascii_uppercase()))
    {
        f.complain(
            "state",
            "is no US state code",
            "write two capital letters, such as CT",
        );
    }
    let state = f.require("state", state, "write two capital letters, such as CT");
    let effective_date = date(&mut f, "effective_date", reference);
    let applies_to = f.list("applies_to").unwrap_or_default();
    if let Some(other) = applies_to
        .iter()
        .find(|who| !SUBJECTS.contains(&who.as_str()))
    {
        f.complain(
            "applies_to",
            format!("names `{other}`"),
            format!("use: {}", SUBJECTS.join(", ")),
        );
    }
    let penalty = f.text("penalty", 300);
    f.refuse_unknown("");
    let (regulation_type, state) = (kind?, state?);
    Some(Details::Regulation(Regulation {
        regulation_type,
        state,
        effective_date,
        applies_to,
        penalty,
    }))
}

/// Reads `weekday_hours` as Mon-Thu and `weekend_hours` as Fri-Sun, unless the text names its own
/// days.
fn hours_info(mut f: Fields<'_, '_>, reference: Option<Reference>) -> Option<Details> {
    let open = hours(&mut f, "hours");
    let mut parts = Vec::new();
    for (key, days) in [("weekday_hours", "Mon-Thu"), ("weekend_hours", "Fri-Sun")] {
        let Some(text) = f.text(key, 200) else {
            continue;
        };
        let named = WeeklyHours::parse(&format!("{days} {text}")).map(|_| format!("{days} {text}"));
        match named.or_else(|_| WeeklyHours::parse(&text).map(|_| text)) {
            Ok(part) => parts.push(part),
            Err(error) => f.complain(key, error.to_string(), HOURS_FIX),
        }
    }
    let joined = (!parts.is_empty())
        .then(|| WeeklyHours::parse(&parts.join("; ")).ok())
        .flatten();
    let open = open.or(joined);
    if open.is_none() && parts.is_empty() {
        f.require("hours", None::<()>, HOURS_FIX);
    }
    let special_hours = special(&mut f, reference);
    let open = open.map(|hours| hours.with_special(&special_hours));
    let info = HoursInfo {
        hours: open,
        special_hours,
        seasonal_notes: f.text("seasonal_notes", 300),
        extra: f.rest(),
    };
    info.hours.is_some().then_some(Details::Hours(info))
}
