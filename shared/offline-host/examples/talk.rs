//! Plays the guests' texts of a folder of dialogues against the offline host alone, without the
//! fleet. Prints the texts and the replies:
//! `cargo run -p seven-offline-host --example talk -- DIR [CONTENT [CASINO]]`.
//! With `AS_JSON` set, prints one JSON object per text: the file, the number of the text, the text,
//! the rows in talk before it, the reply, the rows that the reply was made from, and the sentences
//! whose answers were weighed (`scripts/data/train_choice.py`).

#![expect(clippy::print_stdout, reason = "printing is what it is for")]

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use chrono::{DateTime, NaiveDateTime, TimeDelta, TimeZone, Utc};
use seven_domain::{CasinoConfig, Language};
use seven_guest::{DialogueState, Grant, GrantRef, Profile, Scope, Setting, topic};
use seven_knowledge::{Index, Reference, parse_content};
use seven_llm::{Exchange, Model, Reply, Request};
use seven_offline_host::{Facts, OfflineModel, Weighed};
use seven_packs::{CASINO, demo};

#[derive(serde::Deserialize)]
struct Dialogue {
    name: String,
    at: NaiveDateTime,
    turns: Vec<Turn>,
}

#[derive(serde::Deserialize)]
struct Turn {
    guest: Texts,
}

#[derive(serde::Deserialize)]
#[serde(untagged)]
enum Texts {
    One(String),
    More(Vec<String>),
}

struct House {
    config: CasinoConfig,
    content: String,
    model: OfflineModel,
    weighed: Arc<Mutex<Vec<Weighed>>>,
}

impl House {
    /// Takes the sentences that were weighed since the last call.
    fn weighed(&self) -> Vec<serde_json::Value> {
        let mut weighed = self.weighed.lock().unwrap_or_else(PoisonError::into_inner);
        let json = |one: Weighed| {
            let inputs: serde_json::Map<String, serde_json::Value> = one
                .inputs
                .into_iter()
                .map(|(name, value)| (name, value.into()))
                .collect();
            serde_json::json!({"inputs": inputs, "rows": one.rows, "words": one.words})
        };
        weighed.drain(..).map(json).collect()
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let dir = arguments.next().expect("a folder of dialogues");
    let read = |file: Option<String>, demo: &str| match file {
        Some(file) => std::fs::read_to_string(file).expect("a readable file"),
        None => demo.to_owned(),
    };
    let content = read(arguments.next(), demo::CONTENT);
    let config = read(arguments.next(), demo::CASINO);
    let model = OfflineModel::from_toml(&CASINO.host).expect("the pack's host");
    let weighed: Arc<Mutex<Vec<Weighed>>> = Arc::default();
    let seen = Arc::clone(&weighed);
    let observe = move |one| {
        seen.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(one);
    };
    let house = House {
        weighed,
        config: serde_json::from_str(&config).expect("a casino's document"),
        content,
        model: match std::env::var_os("WORDS_ALONE") {
            Some(_) => model,
            None => model.with_facts(Facts::new().expect("the bundled weights").observed(observe)),
        },
    };
    let mut files: Vec<_> = std::fs::read_dir(&dir)
        .expect("a readable folder")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|end| end == "yaml"))
        .collect();
    files.sort();
    for file in files {
        play(&house, &file);
    }
}

fn play(house: &House, file: &Path) {
    let text = std::fs::read_to_string(file).expect("a readable file");
    let dialogue: Dialogue = serde_yaml_ng::from_str(&text).expect("a dialogue");
    if std::env::var_os("AS_JSON").is_none() {
        println!("\n## {} {}", file.display(), dialogue.name);
    }
    let zone = house.config.operational.timezone;
    let begin = zone
        .from_local_datetime(&dialogue.at)
        .earliest()
        .expect("a time at the casino")
        .to_utc();
    let items = parse_content(
        "content.json",
        &house.content,
        Reference { now: begin, zone },
    );
    let index = Arc::new(Index::build(items.expect("valid content")).in_zone(zone));
    let mut profile = Profile::new(begin);
    let (mut history, mut state, mut stored) = (Vec::new(), DialogueState::default(), None);
    for (n, turn) in (0_u64..).zip(&dialogue.turns) {
        let now = begin + TimeDelta::minutes(2 * i64::try_from(n).unwrap_or(0));
        let texts = match &turn.guest {
            Texts::One(text) => vec![text.clone()],
            Texts::More(texts) => texts.clone(),
        };
        let language = house.model.language(&texts, stored);
        let mut learnt = Vec::new();
        for text in &texts {
            learnt.extend(learn(&mut profile, text, house, language, now));
        }
        let request = Request {
            casino_name: house.config.prompts.casino_name_display.clone(),
            contact_phone: house.config.operational.contact_phone.clone(),
            persona: house.config.branding.persona_name.clone(),
            zone,
            now,
            language: stored,
            lead: None,
            length: seven_domain::ReplyLength::Texts,
            texts: texts.clone(),
            history: history.clone(),
            index: Arc::clone(&index),
            seed: 7 + n,
            deadline: Duration::from_secs(5),
            profile: profile.context(now),
            summary: None,
            ask: next(&profile, &state, now),
            state,
        };
        let talked: Vec<String> = request.state.talked().map(str::to_owned).collect();
        let reply = house.model.answer(&request);
        if std::env::var_os("AS_JSON").is_some() {
            let line = serde_json::json!({
                "file": file.file_stem().map(|name| name.to_string_lossy()),
                "turn": n, "t": texts.join(" "), "named": talked,
                "reply": reply.text, "intent": reply.intent, "r": reply.sources,
                "grounded": reply.grounded, "staff": reply.staff.len(),
                "weighed": house.weighed(),
            });
            println!("{line}");
        } else {
            print_reply(&texts, &reply);
        }
        history.push(Exchange {
            guest: texts.join(" "),
            host: reply.text.clone(),
        });
        profile.engagement.last_profiling_topic =
            reply.asked.or(profile.engagement.last_profiling_topic);
        (state, stored) = (reply.state, Some(reply.language));
    }
}

fn print_reply(texts: &[String], reply: &Reply) {
    println!("G {}", texts.join(" / "));
    let staff: Vec<&str> = reply
        .staff
        .iter()
        .map(|staff| staff.kind.as_str())
        .collect();
    println!(
        "H {}   [{}{}{}; {}]",
        reply.text,
        reply.intent,
        if reply.grounded { "" } else { " ?" },
        staff.join(" "),
        reply.sources.join(" ")
    );
}

fn learn(
    profile: &mut Profile,
    text: &str,
    house: &House,
    language: Language,
    now: DateTime<Utc>,
) -> Vec<String> {
    let setting = Setting {
        now,
        zone: house.config.operational.timezone,
        language,
        asked: profile.engagement.last_profiling_topic,
    };
    let grant = Grant {
        scope: Scope::Personalization,
        detail: String::new(),
        reference: GrantRef(uuid::Uuid::nil()),
        version: 1,
    };
    profile.learn(text, &setting, now, &grant).paths
}

fn next(
    profile: &Profile,
    state: &DialogueState,
    now: DateTime<Utc>,
) -> Option<seven_guest::Topic> {
    let situation = topic::Situation {
        phase: profile.engagement.conversation_phase,
        asked: &state.asked,
        guest_question_open: false,
        paused: false,
        offer_readiness: seven_guest::Confidence::ZERO,
    };
    match topic::next(profile, &situation, now) {
        topic::Next::Ask(topic) => Some(topic),
        _ => None,
    }
}
