use chrono::{NaiveDateTime, TimeZone};
use seven_knowledge::{Index, Reference, parse_content};
#[test]
fn probe() {
    let zone = chrono_tz::America::Chicago;
    let wall = NaiveDateTime::parse_from_str("2026-11-20 18:30", "%Y-%m-%d %H:%M").unwrap();
    let now = zone.from_local_datetime(&wall).earliest().unwrap().to_utc();
    let items = parse_content("x", include_str!("unseen/harbor_lantern.json"), Reference { now, zone }).unwrap();
    let index = Index::build(items).in_zone(zone);
    for line in include_str!("unseen/harbor_lantern.txt").lines().filter(|l| !l.starts_with('#')) {
        let f: Vec<&str> = line.split('|').collect();
        let text = f[1].split(">>").last().unwrap();
        let terms = index.terms(text);
        let words = seven_knowledge::text::words(text);
        let t: Vec<String> = terms
            .iter()
            .map(|t| format!("{}{}", words[t.from..t.to.min(words.len())].join("_"), if t.known { "" } else { "?" }))
            .collect();
        println!("## {text} => {}   [{}]", f[2], t.join(" "));
        for p in index.passages(&terms, seven_domain::Language::En, now, |_, _| true).iter().take(4) {
            println!(
                "     {:.2} own {:.2} rest {:.2} {}: {}",
                p.score,
                p.own,
                p.rest,
                p.item.name,
                p.text.chars().take(110).collect::<String>()
            );
        }
    }
}
