//! Measures turns of the offline host at the demo casino, each with the dialogue state that the
//! turn before it left: `cargo bench -p seven-offline-host --bench turn`. 99 of 100 turns must take
//! less than 5 ms each.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use chrono::{DateTime, TimeZone, Utc};
use chrono_tz::America::New_York;
use divan::{Bencher, black_box};
use seven_guest::DialogueState;
use seven_knowledge::{Index, Offline, Reference, parse_content};
use seven_llm::Request;
use seven_offline_host::OfflineModel;
use seven_packs::{CASINO, demo};

fn main() {
    percentiles();
    divan::main();
}

const ROUNDS: usize = 20;
/// The texts of one dialogue, in the order in which the guest sends them. Together they contain
/// every kind of act.
const TEXTS: &[&str] = &[
    "hi im here w my 2 grandkids 5 and 8 where can we eat thats not fancy",
    "the little one is allergic to peanuts",
    "which one is cheaper",
    "do we need to book or just walk over",
    "ok and after that is there an arcade or something for them",
    "what's on tonight?",
    "no seafood please, something else",
    "can you get us a table at 730",
    "no wait its saturday not friday my bad",
    "the air conditioning in our room doesnt work",
    "how much is parking and is it free at night",
    "¿dónde podemos cenar mañana, somos seis y mi mamá es vegetariana?",
    "¿hay que reservar?",
    "¿me regalan el cuarto?",
    "do you have a helipad",
    "thanks so much, see you soon",
];

fn now() -> DateTime<Utc> {
    Utc.with_ymd_and_hms(2026, 11, 20, 23, 30, 0)
        .single()
        .expect("a time that exists")
}

fn index() -> Arc<Index> {
    let reference = Reference {
        now: now(),
        zone: New_York,
    };
    let items = parse_content("content.json", demo::CONTENT, reference).expect("valid content");
    Arc::new(
        Index::build(items)
            .in_zone(New_York)
            .embedded(&Offline::new()),
    )
}

fn request(index: &Arc<Index>, text: &str, state: DialogueState) -> Request {
    Request {
        casino_name: "Silver Birch Resort".to_owned(),
        contact_phone: "1-860-555-0199".to_owned(),
        persona: "Seven".to_owned(),
        zone: New_York,
        now: now(),
        language: None,
        lead: None,
        length: seven_domain::ReplyLength::Texts,
        texts: vec![text.to_owned()],
        history: Vec::new(),
        index: Arc::clone(index),
        seed: 7,
        deadline: Duration::from_secs(5),
        profile: seven_guest::profile::Context::default(),
        summary: None,
        ask: None,
        state,
    }
}

fn model() -> OfflineModel {
    OfflineModel::from_toml(&CASINO.host).expect("the pack's host")
}

#[expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]
fn percentiles() {
    let (model, index) = (model(), index());
    let mut took = Vec::new();
    for _ in 0..ROUNDS {
        let mut state = DialogueState::default();
        for text in TEXTS {
            let request = request(&index, text, state);
            let begun = Instant::now();
            state = black_box(model.answer(&request)).state;
            took.push(begun.elapsed());
        }
    }
    took.sort_unstable();
    let at = |share: usize| took[(took.len() - 1) * share / 100];
    println!(
        "a turn: p50 {:?}, p95 {:?}, p99 {:?}",
        at(50),
        at(95),
        at(99)
    );
}

#[divan::bench(args = TEXTS)]
fn turn(bencher: Bencher<'_, '_>, text: &str) {
    let (model, index) = (model(), index());
    let request = request(&index, text, DialogueState::default());
    bencher.bench(|| model.answer(black_box(&request)));
}
