//! Checks the demo casino's first replies, which follow the disclosure. The production code splits
//! the disclosure and the reply into texts, and no part of them may be lost.
#![expect(
    clippy::unwrap_used,
    reason = "clippy exempts test functions, not the helpers they share"
)]

use std::{
    collections::BTreeSet,
    sync::{Arc, LazyLock},
    time::Duration,
};

use chrono::{DateTime, Datelike, NaiveDateTime, TimeDelta, TimeZone, Timelike, Utc};
use chrono_tz::Tz;
use serde_json::Value;
use seven_domain::{CasinoConfig, Language};
use seven_knowledge::{Index, Reference, parse_content};
use seven_llm::{Reply, Request};
use seven_offline_host::OfflineModel;
use seven_packs::{CASINO as PACK, TextKey, casino, demo};
use seven_sms::shape;

static MODEL: LazyLock<OfflineModel> =
    LazyLock::new(|| OfflineModel::from_toml(&PACK.host).unwrap());
static CASINO: LazyLock<CasinoConfig> =
    LazyLock::new(|| serde_json::from_str(demo::CASINO).unwrap());
static INDEX: LazyLock<Arc<Index>> = LazyLock::new(|| {
    let zone = CASINO.operational.timezone;
    let items = parse_content(
        "content.json",
        demo::CONTENT,
        Reference {
            now: at("2026-03-01 12:00"),
            zone,
        },
    );
    Arc::new(Index::build(items.unwrap_or_else(|problems| panic!("{}", problems[0]))).in_zone(zone))
});

const MINUTES: usize = 7 * 1440;

fn zone() -> Tz {
    CASINO.operational.timezone
}

fn at(local: &str) -> DateTime<Utc> {
    let wall = NaiveDateTime::parse_from_str(local, "%Y-%m-%d %H:%M").unwrap();
    zone()
        .from_local_datetime(&wall)
        .earliest()
        .unwrap()
        .to_utc()
}

fn disclosure(language: Language) -> String {
    casino().say(TextKey::Disclosure, language, &CASINO)
}

fn ask(text: &str, now: DateTime<Utc>, seed: u64, lead: Option<String>) -> Reply {
    MODEL.answer(&Request {
        casino_name: CASINO.prompts.casino_name_display.clone(),
        contact_phone: CASINO.operational.contact_phone.clone(),
        persona: CASINO.branding.persona_name.clone(),
        zone: zone(),
        now,
        language: None,
        lead,
        length: seven_domain::ReplyLength::Texts,
        texts: vec![text.to_owned()],
        history: Vec::new(),
        index: Arc::clone(&INDEX),
        seed,
        deadline: Duration::from_secs(5),
        profile: seven_guest::profile::Context::default(),
        summary: None,
        ask: None,
        state: seven_guest::DialogueState::default(),
    })
}

/// Asks the model with the longest disclosure of all languages, as the swarm does. Then puts the
/// disclosure in the reply's language before the reply, as the envelope does.
fn first_texts(text: &str, now: DateTime<Utc>, seed: u64) -> (Reply, Vec<String>) {
    let longest = Language::ALL
        .map(disclosure)
        .into_iter()
        .max_by_key(|lead| lead.chars().count());
    let reply = ask(text, now, seed, longest);
    let whole = format!("{} {}", disclosure(reply.language), reply.text);
    let shaped = shape(&whole, 2);
    assert!(!shaped.truncated, "{text} at {now}: {whole}");
    assert_eq!(
        shaped.texts.join(" "),
        seven_sms::transliterate(&whole),
        "{text}"
    );
    (reply, shaped.texts)
}

/// The restaurants' names, and for each minute of the week from Monday 00:00 whether they are open.
/// Reads the content without the code under test.
static DOORS: LazyLock<Vec<(String, Vec<bool>)>> = LazyLock::new(|| {
    let content: Value = serde_json::from_str(demo::CONTENT).unwrap();
    let dining = content["items"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|i| i["category"] == "dining");
    dining
        .map(|i| {
            (
                i["name"].as_str().unwrap().to_owned(),
                week(i["details"]["hours"].as_str().unwrap()),
            )
        })
        .collect()
});

fn week(sign: &str) -> Vec<bool> {
    if sign == "24 hours" {
        return vec![true; MINUTES];
    }
    let mut table = vec![false; MINUTES];
    for part in sign.split(", ") {
        let (days, times) = part.split_once(' ').unwrap();
        let (first, last) = match days.split_once('-') {
            _ if days == "Daily" => (0, 6),
            Some((first, last)) => (day(first), day(last)),
            None => (day(days), day(days)),
        };
        let (opens, closes) = times
            .split_once('-')
            .map(|(a, b)| (minute(a), minute(b)))
            .unwrap();
        let length = (closes + 1440 - opens - 1) % 1440 + 1;
        for day in (0..7)
            .map(|n| (first + n) % 7)
            .take((last + 7 - first) % 7 + 1)
        {
            (0..length).for_each(|m| table[(day * 1440 + opens + m) % MINUTES] = true);
        }
    }
    table
}

fn day(name: &str) -> usize {
    ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
        .iter()
        .position(|d| *d == name)
        .unwrap()
}

fn minute(clock: &str) -> usize {
    let (digits, half) = clock.split_at(clock.len() - 2);
    let (hour, minute) = digits.split_once(':').unwrap_or((digits, "0"));
    hour.parse::<usize>().unwrap() % 12 * 60
        + minute.parse::<usize>().unwrap()
        + if half == "pm" { 720 } else { 0 }
}

fn open_at(now: DateTime<Utc>) -> BTreeSet<&'static str> {
    let wall = now.with_timezone(&zone());
    let minute = wall.weekday().num_days_from_monday() * 1440 + wall.hour() * 60 + wall.minute();
    DOORS
        .iter()
        .filter(|(_, table)| table[minute as usize])
        .map(|(name, _)| name.as_str())
        .collect()
}

/// Returns the names that a reply lists as "A, B and C"; the list must contain nothing else.
fn listed<'a>(reply: &'a Reply, and: &str) -> BTreeSet<&'a str> {
    let list = reply
        .text
        .split_once(": ")
        .unwrap()
        .1
        .split_once('.')
        .unwrap()
        .0;
    let (most, last) = list.rsplit_once(and).unwrap_or(("", list));
    most.split(", ")
        .chain([last])
        .filter(|name| !name.is_empty())
        .collect()
}

fn check(now: DateTime<Utc>) {
    let wall = now.with_timezone(&zone());
    let evening = wall.hour() >= 17 || wall.hour() < 5;
    let tonight = if evening {
        now
    } else {
        at(&wall.format("%Y-%m-%d 19:00").to_string())
    };
    for (question, asked_for, language) in [
        ("What restaurants are open tonight?", tonight, Language::En),
        ("What restaurants are open right now?", now, Language::En),
        ("¿Qué restaurantes están abiertos ahora?", now, Language::Es),
        (
            "Hola! que restaurantes estan abiertos esta noche",
            tonight,
            Language::Es,
        ),
    ] {
        let (reply, texts) = first_texts(question, now, now.timestamp().unsigned_abs());
        let and = if language == Language::En {
            " and "
        } else {
            " y "
        };
        assert_eq!(reply.language, language, "{question}");
        assert_eq!(
            listed(&reply, and),
            open_at(asked_for),
            "{question} at {wall}: {}",
            reply.text
        );
        let sent = texts.join(" ");
        assert!(DOORS.iter().all(|(name, _)| {
            sent.contains(name.as_str()) == reply.text.contains(name.as_str())
        }));
    }
}

#[test] // CMS-19, D11, SEC-49: exactly the open venues, at any time
fn every_open_restaurant_is_named_at_every_hour_of_the_week() {
    assert!(
        DOORS.len() >= 13
            && DOORS
                .iter()
                .any(|(_, table)| table.iter().all(|open| *open))
    );
    for half_hours in 0..7 * 48 {
        check(at("2026-03-09 00:00") + TimeDelta::minutes(half_hours * 30));
    }
}

#[test] // C-10
fn and_on_the_nights_the_clocks_change() {
    for evening in ["2026-03-07 18:00", "2026-10-31 18:00"] {
        for quarters in 0..4 * 18 {
            check(at(evening) + TimeDelta::minutes(quarters * 15));
        }
    }
}

#[test] // DEP-43: all restaurants, and all shows of the fullest day
fn the_list_of_all_restaurants_is_whole() {
    let all: BTreeSet<&str> = DOORS.iter().map(|(name, _)| name.as_str()).collect();
    for (question, and) in [
        ("What restaurants do you have?", " and "),
        ("¿Qué restaurantes tienen?", " y "),
        ("which restaurants are open on Saturday?", " and "),
        ("¿Qué restaurantes abren el sábado?", " y "),
    ] {
        for seed in 0..4 {
            let (reply, _) = first_texts(question, at("2026-03-10 13:00"), seed);
            assert_eq!(listed(&reply, and), all, "{question}: {}", reply.text);
        }
    }
}

#[test] // SEC-49, SEC-50: the host introduces itself once
fn greetings_behind_the_disclosure_do_not_introduce_again() {
    let now = at("2026-03-06 18:30");
    for text in [
        "hi",
        "Hello!",
        "hola",
        "Buenas tardes",
        "are you a bot?",
        "¿Eres un robot?",
        "who is this",
        "talk to a person",
    ] {
        for seed in 0..8 {
            let (reply, texts) = first_texts(text, now, seed);
            let sent = texts.join(" ");
            for once in [
                CASINO.branding.persona_name.as_str(),
                "Silver Birch",
                "AI host",
                "STOP",
            ] {
                assert!(sent.matches(once).count() <= 1, "{text}: {sent}");
            }
            assert!(
                sent.matches("IA").count() <= 1 && sent.matches('?').count() <= 1,
                "{text}: {sent}"
            );
            assert_eq!(texts.len(), 1, "{text}: {sent}");
            assert!(!reply.text.is_empty());
            // Without the disclosure, the host introduces itself.
            let alone = ask(text, now, seed, None);
            assert!(
                reply.intent != "greeting" || alone.text.contains("Seven"),
                "{}",
                alone.text
            );
        }
    }
}

#[test] // CONV-47: no first reply loses a sentence
fn no_first_reply_is_cut() {
    let names = INDEX
        .current(at("2026-03-06 18:30"))
        .map(|item| format!("tell me about {}", item.name));
    let spanish = INDEX
        .current(at("2026-03-06 18:30"))
        .map(|item| format!("¿Qué es {}?", item.name(Language::Es)));
    let questions = [
        "What restaurants do you have?",
        "¿Qué restaurantes tienen?",
        "what shows this weekend",
        "que espectaculos hay esta semana",
        "how much is a room",
        "what spa treatments do you have",
        "¿Cuánto cuesta un masaje?",
        "what games do you have",
        "kid friendly restaurants",
        "opciones veganas",
        "what promotions do you have",
        "What restaurants are open tonight? And what shows are on? Is parking free?",
        "any korean food?",
    ];
    let all: Vec<String> = names
        .chain(spanish)
        .chain(questions.map(str::to_owned))
        .collect();
    assert!(all.len() > 100);
    for (n, text) in all.iter().enumerate() {
        for local in ["2026-03-06 18:30", "2026-03-09 03:30"] {
            let (reply, _) = first_texts(text, at(local), n as u64);
            assert!(!reply.text.is_empty(), "{text}");
        }
    }
}

#[test] // C-35: restaurants keep their name in Spanish replies
fn restaurants_keep_their_names_in_spanish() {
    for (name, _) in DOORS.iter() {
        let (reply, _) = first_texts(&format!("is {name} open?"), at("2026-03-06 18:30"), 7);
        assert!(
            reply.intent == "venue_hours" && reply.text.contains(name.as_str()),
            "{name}: {}",
            reply.text
        );
        for text in [
            format!("¿A qué hora abre {name}?"),
            format!("háblame de {name}"),
            format!("¿Dónde está {name}?"),
        ] {
            let (reply, _) = first_texts(&text, at("2026-03-06 18:30"), 7);
            assert_eq!(reply.language, Language::Es, "{text}: {}", reply.text);
            assert!(reply.text.contains(name.as_str()), "{text}: {}", reply.text);
        }
    }
    let content: Value = serde_json::from_str(demo::CONTENT).unwrap();
    for item in content["items"].as_array().unwrap() {
        assert!(
            item["category"] != "dining" || item["name_es"].is_null(),
            "{}: guests look for the sign",
            item["name"]
        );
    }
}
