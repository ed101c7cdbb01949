//! Measures the pure functions that every text passes: `cargo bench -p seven-it --bench pure`. The
//! benches `gate` (seven-packs) and `search` (seven-knowledge) measure more cases.
#![expect(clippy::unwrap_used, reason = "a bench fails loudly")]

use chrono::{DateTime, TimeZone, Utc};
use chrono_tz::America::New_York;
use divan::{Bencher, black_box};
use seven_carrier_sim::Signer;
use seven_compliance::chain::{self, Action, Change};
use seven_knowledge::{Index, Offline, Query, Reference, parse_content};
use seven_providers::telnyx::signature::Verifier;

fn main() {
    // `cargo test --all-targets` also runs benches; only `cargo bench` may measure.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    seven_packs::casino().guardrails().decide("warm up");
    divan::main();
}

const TEXT: &str = "Hi there, we are coming up on Saturday with two friends and would love a table near the window around 7:30, is \
                    the steakhouse still open then and is there parking?";
const ACCENTED: &str = "¡Hola! Llegamos el sábado con dos niños 👶🎉 y quisiéramos saber a qué hora abre la alberca, si hay menú infantil";
const NOW: i64 = 1_700_000_000;

fn now() -> DateTime<Utc> {
    Utc.timestamp_opt(NOW, 0).unwrap()
}

/// Measures all rules that the gate applies to a text.
#[divan::bench(sample_size = 64, args = [TEXT, ACCENTED, "STOP"])]
fn gate(bencher: Bencher<'_, '_>, text: &str) {
    let rails = seven_packs::casino().guardrails();
    bencher.bench(|| rails.decide(black_box(text)));
}

/// Measures encoding, units and segments of one text.
#[divan::bench(sample_size = 256, args = [TEXT, ACCENTED])]
fn segments(bencher: Bencher<'_, '_>, text: &str) {
    bencher.bench(|| seven_sms::measure(black_box(text)));
}

/// Measures the splitting of a long answer into at most two texts.
#[divan::bench(sample_size = 64)]
fn shape(bencher: Bencher<'_, '_>) {
    let answer = [TEXT, TEXT, TEXT].join(" ");
    bencher.bench(|| seven_sms::shape(black_box(&answer), 2));
}

/// Measures the signature check of a Telnyx webhook of usual size.
#[divan::bench(sample_size = 16)]
fn signature(bencher: Bencher<'_, '_>) {
    let signer = Signer::from_seed(b"carrier-sim signs for tests only");
    let verifier = Verifier::new(&[signer.public_key_b64()]).unwrap();
    let body = vec![b'x'; 1_200];
    let (timestamp, signature) = (NOW.to_string(), signer.sign(&NOW.to_string(), &body));
    bencher.bench(|| {
        verifier
            .verify(Some(&timestamp), Some(&signature), black_box(&body), NOW)
            .unwrap();
    });
}

/// Measures the search for a question in the demo casino's content, including the question's
/// embedding.
#[divan::bench(sample_size = 16)]
fn retrieval(bencher: Bencher<'_, '_>) {
    let reference = Reference {
        now: now(),
        zone: New_York,
    };
    let items = parse_content("content.json", seven_packs::demo::CONTENT, reference).unwrap();
    let offline = Offline::new();
    let index = Index::build(items).in_zone(New_York).embedded(&offline);
    bencher.bench(|| {
        index.retrieve(&Query::offline(
            black_box("is there a steakhouse open late?"),
            now(),
            &offline,
        ))
    });
}

/// Measures one consent event: its canonical JSON and its link in the chain.
#[divan::bench(sample_size = 64)]
fn chain_append(bencher: Bencher<'_, '_>) {
    let change = Change {
        action: Action::Revoked,
        casino_id: "silver_birch".to_owned(),
        guest_phone_hash: format!("hmac:1:{}", chain::hash("a guest")),
        method: "sms_stop_keyword".to_owned(),
        previous_state: serde_json::json!({ "tier": "marketing" }),
        new_state: serde_json::json!({ "tier": "none" }),
        at: now(),
        metadata: None,
    };
    let previous = chain::hash("the event before");
    bencher.bench(|| black_box(&change).link(7, &previous));
}
