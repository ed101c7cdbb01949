//! Measures how long the guardrails take to decide on one text: `cargo bench -p seven-packs --bench
//! gate`. A text of 160 characters must take less than 10 µs. For longer texts, the time may grow
//! only in proportion to the length.

use divan::{Bencher, black_box};

fn main() {
    seven_packs::casino().guardrails().decide("warm up");
    divan::main();
}

const TEXTS: &[(&str, &str)] = &[
    (
        "english_160",
        "Hi there, we are coming up on Saturday with two friends and would love a table near the window around 7:30, is the steakhouse \
         still open then and is there parking?",
    ),
    (
        "spanish_160",
        "¡Hola! Llegamos el sábado con dos niños 👶🎉 y quisiéramos saber a qué hora abre la alberca, si hay menú infantil y dónde está \
         la recepción 🙏 ¿también hay baño?",
    ),
    ("stop", "STOP"),
    (
        "crisis",
        "i lost the rent again tonight and i dont want to be alive anymore, everyone would be better off without me",
    ),
];

#[divan::bench(sample_size = 64, args = TEXTS.iter().map(|(name, _)| *name))]
fn text(bencher: Bencher<'_, '_>, name: &str) {
    let text = TEXTS
        .iter()
        .find(|(known, _)| *known == name)
        .map_or("", |(_, text)| text);
    let rails = seven_packs::casino().guardrails();
    bencher.bench(|| rails.decide(black_box(text)));
}

/// Measures ordinary words that match few rules; the next benchmark uses words that match many.
#[divan::bench(args = [1, 4, 16, 64])]
fn kibibytes_of_english(bencher: Bencher<'_, '_>, kibibytes: usize) {
    long(bencher, TEXTS[0].1, kibibytes);
}

#[divan::bench(args = [1, 4, 16, 64])]
fn kibibytes_of_trouble(bencher: Bencher<'_, '_>, kibibytes: usize) {
    long(
        bencher,
        "stop all of the texts you want to kill i lost my s u i c i d e money is my wife there k1ll ",
        kibibytes,
    );
}

fn long(bencher: Bencher<'_, '_>, piece: &str, kibibytes: usize) {
    let text = piece
        .chars()
        .cycle()
        .take(kibibytes * 1024)
        .collect::<String>();
    let rails = seven_packs::casino().guardrails();
    bencher
        .counter(divan::counter::BytesCount::of_str(&text))
        .bench(|| rails.decide(black_box(&text)));
}
