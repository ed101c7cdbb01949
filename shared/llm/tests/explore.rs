use chrono::{TimeZone, Utc};
use chrono_tz::America::New_York;
use seven_knowledge::*;
use seven_llm::*;
use std::{sync::Arc, time::Duration};
#[test]
fn explore() {
    let at = std::env::var("AT").unwrap_or("2026-03-06 18:00".into());
    let naive = chrono::NaiveDateTime::parse_from_str(&at, "%Y-%m-%d %H:%M").unwrap();
    let now = New_York.from_local_datetime(&naive).earliest().unwrap().to_utc();
    let _ = Utc;
    let items =
        parse_content("c", include_str!("../../packs/demo/content.json"), Reference { now, zone: New_York }).unwrap();
    let index = Arc::new(Index::build(items).in_zone(New_York));
    let model = OfflineModel::from_toml(include_str!("../../packs/casino/host.toml")).unwrap();
    let file = std::env::var("Q").unwrap();
    let mut history: Vec<Exchange> = vec![];
    for line in std::fs::read_to_string(file).unwrap().lines() {
        if line == "--" {
            history.clear();
            println!("--");
            continue;
        }
        let keep = line.starts_with('+');
        let line = line.trim_start_matches('+');
        if !keep {
            history.clear();
        }
        let r = model.answer(&Request {
            casino_name: "Silver Birch Resort".into(),
            contact_phone: "1-860-555-0199".into(),
            persona: "Seven".into(),
            zone: New_York,
            now,
            language: None,
            texts: line.split('|').map(String::from).collect(),
            history: history.clone(),
            index: index.clone(),
            seed: 1,
            deadline: Duration::from_secs(1),
            system_prompt: String::new(),
            tools: vec![],
            output_schema: None,
        });
        println!(
            "Q {line}\n  [{} {} {} {}] {}",
            r.intent,
            r.language.as_str(),
            if r.grounded { "ok" } else { "UNGROUNDED" },
            r.text.len(),
            r.text
        );
        history.push(Exchange { guest: line.into(), host: r.text });
    }
}
