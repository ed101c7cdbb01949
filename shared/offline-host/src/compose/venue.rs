//! Answers about one venue, show or treatment: with the facts asked for, or a description.

use std::sync::Arc;

use chrono::{DateTime, Datelike, Utc};
use seven_domain::Language;
use seven_knowledge::{Category, Item, WeeklyHours, formatter, item::Details};
use seven_text::calendar;

use super::{
    super::{
        exceptions,
        fit::{Part, leading_sentences},
        host::Host,
        pack::Field,
        understand::Understood,
        when::{Asked, day_words, time_words},
    },
    rows, values,
};
use crate::{compose::times, sentences};

/// The facets that ask for a time.
pub(crate) const TIMED: [&str; 5] = ["open", "opens", "closes", "hours", "starts"];

/// Answers about the rows that share a name.
pub(crate) fn answer(host: &Host<'_>, u: &Understood<'_>, rows: &[Arc<Item>]) -> Part {
    let Some(main) = rows.first() else {
        return host.unanswered();
    };
    let name = host.name(main);
    let mut said: Vec<String> = Vec::new();
    let mut used: Vec<Arc<Item>> = Vec::new();
    let mut missing = false;
    let mut tell = |found: Option<(Arc<Item>, String)>| match found {
        Some((item, sentence)) => {
            used.push(item);
            if !said.contains(&sentence) {
                said.push(sentence);
            }
        }
        None => missing = true,
    };
    let timed = TIMED.iter().any(|f| u.wants(f)) || (u.when.is_said() && u.facets.is_empty());
    // "What time is bingo?" asks for the sessions, if the description gives their times.
    let sessions = matches!(main.details, Details::Gaming(_))
        && u.wants("hours")
        && !["open", "opens", "closes"].iter().any(|f| u.wants(f))
        && main.description.split_whitespace().any(|w| {
            w.starts_with(|c: char| c.is_ascii_digit()) && (w.contains("am") || w.contains("pm"))
        });
    if sessions && !u.when.is_said() {
        return info(host, main);
    }
    let first = |fact: &dyn Fn(&Item) -> Option<String>| {
        rows.iter()
            .find_map(|r| fact(r).map(|s| (Arc::clone(r), s)))
    };
    if timed && (!u.intends("booking") || u.wants("reservations")) {
        let told = first(&|item| time_fact(host, u, item));
        let of_row = |facet: &&str| {
            rows.iter()
                .find_map(|row| sentences::of_row(host, u, row, facet))
        };
        let prose = || {
            ["opens", "closes", "hours", "starts"]
                .iter()
                .filter(|f| u.wants(f))
                .find_map(of_row)
        };
        tell(told.or_else(prose));
    }
    for facet in [
        "price",
        "where",
        "dress",
        "kids",
        "dietary",
        "reservations",
        "age",
        "phone",
        "duration",
        "couples",
    ] {
        let asked = u.wants(facet)
            || (facet == "dietary" && u.kinds.iter().any(|k| k.field == Field::Dietary));
        let asked = asked || (facet == "kids" && u.kinds.iter().any(|k| k.field == Field::Kids));
        if asked && !(facet == "age" && u.wants("kids")) {
            let told = first(&|item| {
                fact(host, u, facet, item).map(|fact| sentences::with_its_word(host, u, item, fact))
            });
            tell(told.or_else(|| {
                rows.iter()
                    .find_map(|row| sentences::of_row(host, u, row, facet))
            }));
        }
    }
    if u.intends("booking") && !u.wants("reservations") {
        let value = first(&|item| dining(item).and_then(|d| d.reservations.clone()));
        let body = match value {
            Some((item, value)) => {
                used.push(item);
                host.say(
                    "book_policy",
                    &[
                        ("name", &name),
                        ("value", &host.pack.value(&value, host.language)),
                    ],
                )
            }
            None => host.say("book_venue", &[("name", &name)]),
        };
        return host.part("booking", body, &used);
    }
    if said.is_empty() && !missing {
        return info(host, main);
    }
    if said.is_empty() && (u.wants("kids") || u.wants("age")) && dining(main).is_none() {
        // A place without a field for its age rule has the rule in its description.
        return info(host, main);
    }
    if said.is_empty() {
        let body = host.say("missing", &[("name", &name)]);
        return host.passed_on("unanswered", body, &main.id);
    }
    if missing {
        said.push(host.say("missing_rest", &[]));
    }
    let body = said.join(" ");
    let is_price_range = u.wants("price") && dining(main).is_some();
    let intent = if timed { "venue_hours" } else { "venue_info" };
    Part {
        grounded: !missing,
        is_price_range,
        ..host.part(intent, body, &used)
    }
}

fn dining(item: &Item) -> Option<&seven_knowledge::item::Dining> {
    match &item.details {
        Details::Dining(d) => Some(d),
        _ => None,
    }
}

/// Returns a fact other than a time, in a sentence that contains the row's name.
pub(crate) fn fact(
    host: &Host<'_>,
    u: &Understood<'_>,
    facet: &str,
    item: &Item,
) -> Option<String> {
    let name = host.name(item);
    let value = |text: &str| host.pack.value(text, host.language);
    let tell = |key: &str, text: &str| Some(host.say(key, &[("name", &name), ("value", text)]));
    match (facet, &item.details) {
        ("price", Details::Entertainment(_)) => {
            price(host, item).and_then(|text| tell(values::price(&text, "ticket_price"), &text))
        }
        ("price", Details::Dining(_)) => price(host, item)
            .and_then(|text| tell(values::price_range(&text), &text))
            .map(|range| sentences::priced(host, u, item, range)),
        ("price", _) => {
            price(host, item).and_then(|text| tell(values::price(&text, "price"), &text))
        }
        ("where", _) => item.location().and_then(|text| tell("where", &value(text))),
        ("dress", Details::Dining(d)) => d
            .dress_code
            .as_ref()
            .and_then(|text| tell(values::dress(text), &value(text).to_lowercase())),
        ("reservations", Details::Dining(d)) => d
            .reservations
            .as_ref()
            .and_then(|text| tell(values::reservations(text), &value(text))),
        ("reservations", Details::Spa(d)) => d
            .booking_required
            .and_then(|yes| tell(if yes { "book_needed" } else { "book_free" }, "")),
        ("kids", Details::Dining(d)) => d
            .kids_menu
            .and_then(|yes| tell(if yes { "kids_yes" } else { "kids_no" }, "")),
        ("couples", Details::Spa(d)) => d
            .couples_option
            .and_then(|yes| tell(if yes { "couples_yes" } else { "couples_no" }, "")),
        ("kids" | "age", Details::Entertainment(d)) => d
            .age_restriction
            .as_ref()
            .map(|text| values::age(text))
            .and_then(|(key, text)| tell(key, &value(text))),
        ("dietary", Details::Dining(d)) => {
            let wanted: Vec<&String> = u
                .kinds
                .iter()
                .filter(|k| k.field == Field::Dietary)
                .flat_map(|k| &k.values)
                .collect();
            let fits = |option: &&String| {
                wanted.is_empty() || wanted.iter().any(|w| rows::has_word(option, w))
            };
            let options: Vec<String> = d
                .dietary_options
                .iter()
                .filter(fits)
                .map(|o| value(o))
                .collect();
            if !options.is_empty() {
                // An option for a diet is no promise to guests with celiac disease or an allergy.
                let ill = ["celi", "allerg", "alerg"];
                let starts = |word: &String| ill.iter().any(|start| word.starts_with(start));
                let key = if wanted.is_empty() || u.said.words.iter().any(starts) {
                    "dietary"
                } else {
                    "dietary_yes"
                };
                return tell(key, &options.join(", "));
            }
            let others: Vec<String> = d.dietary_options.iter().map(|o| value(o)).collect();
            let wish = if u.kind_places.is_empty() {
                String::new()
            } else {
                u.words_at(&u.kind_places)
            };
            let slots = [
                ("name", name.as_str()),
                ("wish", &wish),
                ("value", &others.join(", ")),
            ];
            (!others.is_empty() && !wish.is_empty()).then(|| host.say("dietary_other", &slots))
        }
        ("duration", Details::Spa(d)) => tell("duration", &d.duration_minutes.to_string()),
        ("duration", Details::Entertainment(d)) => d
            .duration_minutes
            .and_then(|m| tell("duration", &m.to_string())),
        ("phone", details) => details
            .extra()
            .and_then(|e| e.get("phone"))
            .map(formatter::plain)
            .and_then(|phone| tell("phone_of", &phone)),
        _ => None,
    }
}

/// Gives the item's own phone number.
pub(crate) fn with_phone(host: &Host<'_>, item: &Arc<Item>) -> Part {
    let phone = item
        .details
        .extra()
        .and_then(|extra| extra.get("phone"))
        .map(formatter::plain)
        .unwrap_or_default();
    let body = host.say("phone_of", &[("name", &host.name(item)), ("value", &phone)]);
    host.part("venue_info", body, std::slice::from_ref(item))
}

/// Returns the item's price as the content states it.
pub(crate) fn price(host: &Host<'_>, item: &Item) -> Option<String> {
    match &item.details {
        Details::Dining(d) => Some(d.price_range.clone()),
        Details::Spa(d) => Some(host.say(
            "spa_price",
            &[
                ("value", &formatter::dollars(d.price)),
                ("minutes", &d.duration_minutes.to_string()),
            ],
        )),
        Details::Entertainment(d) => match (d.ticket_price_min, d.ticket_price_max) {
            (Some(min), max) if min == 0.0 && max.unwrap_or(0.0) == 0.0 => {
                Some(host.say("free", &[]))
            }
            (min, max) => formatter::tickets(min, max),
        },
        Details::Gaming(d) => d
            .minimum_bet
            .as_ref()
            .map(|bet| host.say("minimum", &[("value", &formatter::money(bet))])),
        Details::Promotion(d) => Some(formatter::dollars(d.value)),
        Details::Hours(_) | Details::Free(_) => {
            let extra = item.details.extra()?;
            extra
                .get("price")
                .or_else(|| extra.get("cost"))
                .or_else(|| extra.get("fee"))
                .map(|p| host.pack.value(&formatter::money(p), host.language))
        }
        Details::Regulation(_) => None,
    }
}

/// Says when the item is open or when it begins.
fn time_fact(host: &Host<'_>, u: &Understood<'_>, item: &Item) -> Option<String> {
    let name = host.name(item);
    if let Details::Entertainment(_) = &item.details {
        let end = || times::end_of(host, item).filter(|_| u.wants("closes"));
        return end().or_else(|| times::time_of(host, item));
    }
    let (now, zone) = (host.request.now, host.request.zone);
    let date = match u.when.asked(now, zone) {
        Asked::At(_, _, date) | Asked::On(date) => date,
        Asked::Now => host.local().date(),
    };
    if let Some(told) = exceptions::on(host, item, date) {
        return Some(sentences::named_sentence(host, item, &told));
    }
    let hours = item.hours()?;
    let shown = hours.show(host.language);
    let with = |key: &str, value: &str| {
        Some(host.say(key, &[("name", &name), ("value", value), ("hours", &shown)]))
    };
    let closed = if u.wants("open") && u.is_question {
        "no_closed_then"
    } else {
        "closed_then"
    };
    if u.when.is_said() {
        // A question such as "When does it close tonight?" asks about the whole day, not about one
        // moment of it.
        let asked = match u.when.asked(now, zone) {
            Asked::At(_, _, date) if u.wants("closes") && !hours.is_open(now, zone) => {
                Asked::On(date)
            }
            Asked::At(..) if u.wants("closes") => Asked::Now,
            asked => asked,
        };
        match asked {
            Asked::At(at, ..) => {
                return if hours.is_open(at, zone) {
                    with("open_then", &times::told_when(host, asked))
                } else {
                    with(closed, &times::when_words(host, asked))
                };
            }
            Asked::On(date) => {
                let spans = hours.openings_on(date);
                let day = day_words(date, host.local().date(), host.language);
                if spans.is_empty() {
                    return with(closed, &day);
                }
                let times =
                    WeeklyHours::new(std::array::from_fn(|_| hours.spans_on(date).to_vec()));
                let times = times.show(host.language);
                let times = times
                    .strip_prefix("Daily ")
                    .or_else(|| times.strip_prefix("Diario "))
                    .unwrap_or(&times)
                    .to_owned();
                let asks_if = u.wants("open") && !u.wants("hours") && !u.wants("opens");
                let key = if asks_if {
                    "yes_open_that_day"
                } else {
                    "open_that_day"
                };
                let slots = [("name", name.as_str()), ("value", &times), ("day", &day)];
                return Some(host.say(key, &slots));
            }
            Asked::Now => {}
        }
    }
    if hours.is_always() {
        return with("always", "");
    }
    match (
        hours.until(now, zone, host.language),
        u.wants("closes"),
        u.wants("open") && !u.wants("opens") && !u.wants("hours"),
    ) {
        (Some(until), true, _) => with("open_until", &until),
        (Some(until), _, true) => with("yes_open", &until),
        (Some(until), ..) => with("hours_open", &until),
        (None, true, _) => with("closed_hours", ""),
        (None, ..) => match next_words(host, hours, now) {
            Some(next) => with(
                if u.wants("hours") {
                    "hours_closed"
                } else {
                    "closed_next"
                },
                &next,
            ),
            None => with("closed_hours", ""),
        },
    }
}

/// Writes the next opening: "today at 5pm", "mañana a las 5pm".
pub(crate) fn next_words(
    host: &Host<'_>,
    hours: &WeeklyHours,
    after: DateTime<Utc>,
) -> Option<String> {
    let next = hours.next_opening(after, host.request.zone)?;
    let (date, today) = (next.wall.date(), host.local().date());
    let day = match (date - today).num_days() {
        // The next opening is a week away, so the place opens only on this weekday.
        7.. => host.say(
            "word_next_day",
            &[("day", calendar::weekday_name(date.weekday(), host.language))],
        ),
        _ => day_words(date, today, host.language),
    };
    Some(host.say(
        "day_at",
        &[
            ("day", &day),
            ("time", &time_words(next.minute(), host.language)),
        ],
    ))
}

/// Writes "Open now until 10pm." or "Opens today at 5pm."
fn state(host: &Host<'_>, hours: &WeeklyHours) -> Option<String> {
    let (now, zone) = (host.request.now, host.request.zone);
    let slot = |key: &str, value: &str| Some(host.say(key, &[("value", value)]));
    match hours.until(now, zone, host.language) {
        Some(until) => slot("state_open", &until),
        None => next_words(host, hours, now).and_then(|next| slot("state_opens", &next)),
    }
}

/// Describes the item: its description, then as many facts as one text has room for.
pub(crate) fn info(host: &Host<'_>, item: &Arc<Item>) -> Part {
    let name = host.name(item);
    let description = host.description(item);
    let rule = matches!(item.category, Category::Regulations | Category::GeneralInfo);
    let told = if rule {
        description
    } else {
        format!("{name}: {description}")
    };
    let mut body = leading_sentences(&told, |t| host.room.one_of_its_own(t));
    if body.is_empty() {
        body = leading_sentences(&told, |t| host.room.two(t));
    }
    if body.is_empty() {
        body = name;
    }
    for extra in extras(host, item) {
        let with = format!("{body} {extra}");
        if host.room.one(&with) {
            body = with;
        }
    }
    let (intent, ask) = match item.category {
        Category::Dining => ("venue_info", None),
        Category::Entertainment => ("events", Some("ask_event")),
        Category::Spa => ("spa", None),
        Category::Gaming => ("gaming", None),
        Category::Promotions => ("promotions", None),
        Category::Regulations => ("regulations", None),
        Category::Hours => ("venue_hours", None),
        Category::GeneralInfo => ("general", None),
        Category::Other(ref other) => (other.as_str(), None),
    };
    let ask = ask.map(|key| host.say(key, &[]));
    Part {
        ask,
        is_whole: true,
        ..host.part(intent, body, std::slice::from_ref(item))
    }
}

/// Tells who may use an offer and how; `None` if the row is no offer or says neither.
pub(crate) fn redeeming(host: &Host<'_>, item: &Arc<Item>) -> Option<Part> {
    let Details::Promotion(d) = &item.details else {
        return None;
    };
    let method = d.redemption_method.as_ref();
    let method =
        method.map(|how| host.say("redeem", &[("value", &host.pack.value(how, host.language))]));
    let who = d
        .eligibility
        .as_ref()
        .filter(|_| host.language == Language::En);
    let who = who.map(|who| host.say("eligible", &[("value", who)]));
    let told: Vec<String> = [method, who].into_iter().flatten().collect();
    let body = format!("{}: {}", host.name(item), told.join(" "));
    (!told.is_empty() && host.room.two(&body))
        .then(|| host.part("promotions", body, std::slice::from_ref(item)))
}

fn extras(host: &Host<'_>, item: &Item) -> Vec<String> {
    let sentence =
        |text: Option<String>| text.map(|t| format!("{}.", capital(t.trim_end_matches('.'))));
    let place = || sentence(item.location().map(|l| host.pack.value(l, host.language)));
    let mut extras: Vec<Option<String>> = match &item.details {
        Details::Dining(d) => vec![place(), state(host, &d.hours)],
        Details::Entertainment(d) => {
            let tickets = price(host, item).map(|p| host.say("tickets", &[("value", &p)]));
            vec![
                sentence(times::when_of(host, item)),
                place(),
                tickets,
                sentence(
                    d.age_restriction
                        .as_ref()
                        .map(|age| host.pack.value(age, host.language)),
                ),
            ]
        }
        Details::Spa(_) => vec![sentence(price(host, item))],
        Details::Gaming(d) => vec![
            sentence(price(host, item)),
            place(),
            d.hours.as_ref().and_then(|h| state(host, h)),
        ],
        Details::Promotion(d) => {
            let until = formatter_date(d.valid_until, host.language);
            let worth = Some(d.value)
                .filter(|value| *value > 0.0)
                .map(formatter::dollars);
            vec![
                worth.map(|value| host.say("worth", &[("value", &value)])),
                Some(host.say("valid_until", &[("value", &until)])),
                d.eligibility
                    .as_ref()
                    .filter(|_| host.language == Language::En)
                    .map(|e| host.say("eligible", &[("value", e)])),
                d.redemption_method
                    .as_ref()
                    .map(|r| host.say("redeem", &[("value", &host.pack.value(r, host.language))])),
            ]
        }
        Details::Hours(d) => vec![
            d.hours
                .as_ref()
                .map(|h| host.say("hours_are", &[("value", &h.show(host.language))])),
            sentence(price(host, item)),
            place(),
            sentence(
                d.seasonal_notes
                    .clone()
                    .filter(|_| host.language == Language::En),
            ),
        ],
        Details::Regulation(_) => vec![],
        Details::Free(_) => vec![sentence(price(host, item)), place()],
    };
    extras.push(sentence(
        item.tip.clone().filter(|_| host.language == Language::En),
    ));
    // A fact that the description already gives is not repeated. Prices are compared by their
    // numbers, because the words may differ.
    let known = host.description(item).to_lowercase();
    let figures = |text: &str| -> Vec<String> {
        text.split(|c: char| !c.is_ascii_digit())
            .filter(|f| !f.is_empty())
            .map(str::to_owned)
            .collect()
    };
    let known_figures = figures(&known);
    let repeats = |extra: &String| {
        let own = figures(extra);
        let same_figures =
            extra.contains('$') && !own.is_empty() && own.iter().all(|f| known_figures.contains(f));
        same_figures || known.contains(extra.trim_end_matches('.').to_lowercase().as_str())
    };
    extras
        .into_iter()
        .flatten()
        .filter(|extra| !repeats(extra))
        .collect()
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |c| {
        c.to_uppercase().collect::<String>() + chars.as_str()
    })
}

fn formatter_date(day: chrono::NaiveDate, language: Language) -> String {
    match language {
        Language::En => day.format("%b %-d").to_string(),
        Language::Es => format!("{} de {}", day.day(), calendar::spanish_month(day.month())),
    }
}
