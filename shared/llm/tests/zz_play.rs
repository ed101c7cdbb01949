#![allow(clippy::all, clippy::unwrap_used, clippy::print_stdout)]
use chrono::{NaiveDateTime, TimeZone};
use seven_domain::CasinoConfig;
use seven_knowledge::{Index, Reference, parse_content};
use seven_llm::{Exchange, OfflineModel, Request};
use seven_packs::{HOST_PACK, demo};
use std::sync::Arc;

#[test]
fn play() {
    let model = OfflineModel::from_toml(HOST_PACK).unwrap();
    let casino: CasinoConfig = serde_json::from_str(demo::CASINO).unwrap();
    let zone = casino.operational.timezone;
    let content =
        std::env::var("PLAY_CONTENT").map(|p| std::fs::read_to_string(p).unwrap()).unwrap_or(demo::CONTENT.to_owned());
    let script = std::fs::read_to_string(std::env::var("PLAY").unwrap()).unwrap();
    let at = |s: &str| {
        zone.from_local_datetime(&NaiveDateTime::parse_from_str(s, "%Y-%m-%d %H:%M").unwrap())
            .earliest()
            .unwrap()
            .to_utc()
    };
    let mut now = at("2026-11-21 18:00");
    let build = |now| {
        Arc::new(
            Index::build(parse_content("c", &content, Reference { now, zone }).unwrap_or_else(|p| panic!("{}", p[0])))
                .in_zone(zone),
        )
    };
    let mut index = build(now);
    let mut history: Vec<Exchange> = vec![];
    let mut seed = 7u64;
    for line in script.lines() {
        if line.trim().is_empty() {
            history.clear();
            println!();
            continue;
        }
        if let Some(t) = line.strip_prefix('@') {
            now = at(t.trim());
            index = build(now);
            history.clear();
            println!("=== {t}");
            continue;
        }
        if line.starts_with('#') {
            println!("{line}");
            continue;
        }
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let texts: Vec<String> = line.split(" || ").map(str::to_owned).collect();
        let r = model.answer(&Request {
            casino_name: casino.prompts.casino_name_display.clone(),
            contact_phone: casino.operational.contact_phone.clone(),
            persona: casino.branding.persona_name.clone(),
            zone,
            now,
            language: None,
            lead: None,
            texts,
            history: history.clone(),
            index: Arc::clone(&index),
            seed,
            deadline: std::time::Duration::from_secs(5),
            system_prompt: String::new(),
            tools: vec![],
            output_schema: None,
        });
        let shaped = seven_sms::shape(&r.text, 2);
        println!(
            "G: {line}\n   [{} {} {}{}] {}",
            r.intent,
            r.language.as_str(),
            r.sources.len(),
            if r.grounded { "" } else { " UNGR" },
            shaped.texts.join("\n      ## ")
        );
        history.push(Exchange { guest: line.to_owned(), host: r.text });
    }
}
