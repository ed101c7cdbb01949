//! The labelled questions about the demo casino, answered with the local embedding: the figures
//! that it must reach.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use chrono::{DateTime, TimeZone, Utc};
use chrono_tz::America::New_York;
use seven_embedder::Local;
use seven_knowledge::{
    Chunk, Embedder, Index, Item, Offline, Purpose, Query, Reference, TOP_K, Vector,
    evaluate::{Figures, Question, Report, evaluate, parse_questions},
    parse_content,
};

use crate::{embedder, one};

const SETS: [(&str, &str); 2] = [
    (
        "demo",
        include_str!("../../../knowledge/tests/retrieval/demo.jsonl"),
    ),
    (
        "fresh",
        include_str!("../../../knowledge/tests/retrieval/fresh.jsonl"),
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

/// Asks the questions of a set; also returns the times that their vectors took, the shortest first.
async fn ask(local: &Local, index: &Index, questions: &[Question]) -> (Report, Vec<Duration>) {
    let mut vectors = HashMap::new();
    let mut times = Vec::new();
    for question in questions {
        let begun = Instant::now();
        let vector = one(local, &question.text, Purpose::Query).await;
        times.push(begun.elapsed());
        vectors.insert(question.id.as_str(), vector);
    }
    times.sort_unstable();
    let report = evaluate(questions, TOP_K, |question| {
        let vector = vectors[question.id.as_str()].clone();
        ids(
            index,
            &Query::new(&question.text, now()).vector(local.space(), vector),
        )
    });
    (report, times)
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

fn print(set: &str, embedding: &str, report: &Report) {
    println!("{}", line(set, embedding, "all", &report.all));
    for (part, figures) in &report.parts {
        println!("{}", line(set, embedding, part, figures));
    }
}

#[tokio::test]
async fn experiment() {
    let Some(local) = embedder() else { return };
    let index = index(&local).await;
    for (set, text) in SETS {
        let questions = parse_questions(text).unwrap();
        let mut vectors = HashMap::new();
        for q in &questions {
            vectors.insert(q.id.clone(), one(&local, &q.text, Purpose::Query).await);
        }
        let tuned: Vec<Question> = questions
            .iter()
            .filter(|q| !q.held_out || set == "fresh")
            .cloned()
            .collect();
        let only = evaluate(&tuned, TOP_K, |q| {
            let query = Query::new(&q.text, now()).vector(local.space(), vectors[&q.id].clone());
            let mut all = index.retrieve_all(&query);
            all.sort_by(|a, b| b.1.total_cmp(&a.1));
            all.into_iter()
                .take(TOP_K)
                .map(|(item, _)| item.id.clone())
                .collect()
        });
        println!("{}", line(set, "local", "vectors", &only.all));
        let words = evaluate(&tuned, TOP_K, |q| ids(&index, &Query::new(&q.text, now())));
        println!("{}", line(set, "local", "words", &words.all));
        for share in [0.6, 0.9, 0.94, 0.96, 0.97, 0.98, 0.99, 1.0] {
            for default in [0.65, 0.80, 0.82, 0.84, 0.85, 0.86, 0.88] {
                let t = seven_knowledge::Thresholds {
                    share,
                    default,
                    categories: Default::default(),
                    lexical: 0.5,
                };
                let r = evaluate(&tuned, TOP_K, |q| {
                    let query = Query::new(&q.text, now())
                        .vector(local.space(), vectors[&q.id].clone())
                        .thresholds(&t);
                    ids(&index, &query)
                });
                println!(
                    "share {share} default {default} {}",
                    line(set, "local", "", &r.all)
                );
            }
        }
    }
}

#[tokio::test] // RAG-45, RAG-44
async fn the_labelled_questions_find_their_rows() {
    let Some(local) = embedder() else { return };
    let index = index(&local).await;
    let offline = Offline::new();
    let words = Index::build(items()).in_zone(New_York).embedded(&offline);
    for (set, text) in SETS {
        let questions = parse_questions(text).unwrap();
        let (report, times) = ask(&local, &index, &questions).await;
        print(set, "local", &report);
        let by_offline = evaluate(&questions, TOP_K, |q| {
            ids(&words, &Query::offline(&q.text, now(), &offline))
        });
        print(set, "offline", &by_offline);
        let at = |percent: usize| times[times.len() * percent / 100];
        println!(
            "{set}: {} vectors, p50 {:?}, p95 {:?}",
            times.len(),
            at(50),
            at(95)
        );
    }
}
