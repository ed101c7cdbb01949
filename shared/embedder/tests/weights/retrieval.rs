//! Searches the demo casino's content for the labelled questions, with the local embedding. Enough
//! of the expected rows must be found.

use std::collections::HashMap;

use chrono::{DateTime, TimeZone, Utc};
use chrono_tz::America::New_York;
use seven_embedder::Local;
use seven_knowledge::{
    Chunk, Embedder, Index, Item, Offline, Purpose, Query, Reference, TOP_K, Vector,
    evaluate::{Figures, Question, Report, evaluate, parse_questions},
    parse_content,
};

use crate::{embedder, one};

/// The sets of questions, each with its name. The number is the minimum share of the expected rows
/// that the search must find.
const SETS: [(&str, &str, f64); 2] = [
    (
        "demo",
        include_str!("../../../knowledge/tests/retrieval/demo.jsonl"),
        0.86,
    ),
    (
        "fresh",
        include_str!("../../../knowledge/tests/retrieval/fresh.jsonl"),
        0.75,
    ),
];

fn now() -> DateTime<Utc> {
    Utc.with_ymd_and_hms(2026, 3, 6, 17, 0, 0).unwrap()
}

fn items() -> Vec<Item> {
    let text = include_str!("../../../packs/demo/content.json");
    let reference = Reference {
        now: now(),
        zone: New_York,
    };
    parse_content("content.json", text, reference).unwrap()
}

async fn index(local: &Local) -> Index {
    let items = items();
    let chunks: Vec<Chunk> = items
        .iter()
        .filter_map(|item| Chunk::of(item, New_York))
        .collect();
    let texts: Vec<&str> = chunks.iter().map(|chunk| chunk.text.as_str()).collect();
    let vectors = local.embed(&texts, Purpose::Document).await.unwrap();
    let vectors: HashMap<String, Vector> = chunks
        .iter()
        .map(|chunk| chunk.item_id.clone())
        .zip(vectors)
        .collect();
    Index::build(items)
        .in_zone(New_York)
        .with_vectors(local.space().clone(), &vectors)
}

/// Asks the questions with their local vectors, and reports which of the expected rows are found.
async fn ask(local: &Local, index: &Index, questions: &[Question]) -> Report {
    let mut vectors = HashMap::new();
    for question in questions {
        let vector = one(local, &question.text, Purpose::Query).await;
        vectors.insert(question.id.as_str(), vector);
    }
    evaluate(questions, TOP_K, |question| {
        let vector = vectors[question.id.as_str()].clone();
        ids(
            index,
            &Query::new(&question.text, now()).vector(local.space(), vector),
        )
    })
}

fn ids(index: &Index, query: &Query<'_>) -> Vec<String> {
    let found = index.retrieve(query);
    found.into_iter().map(|row| row.item.id.clone()).collect()
}

fn line(set: &str, embedding: &str, part: &str, f: &Figures) -> String {
    format!(
        "{set:<6} {embedding:<8} {part:<10} {:>4} questions  recall@5 {:.3}  MRR {:.3}  \
         zero {:.3}  silence {:.3}",
        f.questions, f.recall, f.mrr, f.zero_results, f.silence
    )
}

fn lines(set: &str, embedding: &str, report: &Report) -> String {
    let parts = report.parts.iter().map(|(part, f)| (*part, f));
    let all = std::iter::once(("all", &report.all)).chain(parts);
    let lines: Vec<String> = all.map(|(part, f)| line(set, embedding, part, f)).collect();
    lines.join("\n")
}

#[tokio::test] // RAG-45
async fn the_labelled_questions_find_their_rows() {
    let Some(local) = embedder() else { return };
    let index = index(&local).await;
    let offline = Offline::new();
    let by_offline = Index::build(items()).in_zone(New_York).embedded(&offline);
    for (set, text, least) in SETS {
        let questions = parse_questions(text).unwrap();
        let report = ask(&local, &index, &questions).await;
        println!("{}", lines(set, "local", &report));
        let words = evaluate(&questions, TOP_K, |q| {
            ids(&index, &Query::new(&q.text, now()))
        });
        println!("{}", lines(set, "words", &words));
        let offline = evaluate(&questions, TOP_K, |q| {
            ids(&by_offline, &Query::offline(&q.text, now(), &offline))
        });
        println!("{}", lines(set, "offline", &offline));
        let all = &report.all;
        assert!(all.recall >= least, "{}", line(set, "local", "all", all));
        assert!(all.recall > words.all.recall + 0.4, "{}", words.all.recall);
    }
}
