//! Searches the content for the casino's own test questions and stores the results. Editors see
//! which questions are no longer answered after an edit (RAG-45). The search works like the one for
//! guests' questions. It uses the offline embedding or stored vectors, so it needs no model.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use serde_json::{Value, json};
use seven_domain::{CasinoId, Language};
use seven_knowledge::{
    Index, Item, Offline, Query, Retrieval, Space, Vector,
    evaluate::{Question, Report, evaluate},
};
use seven_llm::embedding::{Stored, stored_index};
use seven_runtime::Fleet;
use seven_store::{
    Tx,
    content::{Run, SetQuestion},
};

use crate::Error;

/// The stored vectors of a casino's content, and those of its own test questions by question id.
struct Vectors {
    space: Space,
    content: Vec<Stored>,
    questions: HashMap<String, Vector>,
}

/// Searches the published content for each of the casino's test questions, and stores the result.
///
/// # Errors
/// Fails when the database fails or the casino's pack is not loaded.
pub async fn run_set(fleet: &Fleet, casino: &CasinoId, by: &str) -> Result<Run, Error> {
    let mut tx = fleet.store.bind(casino).await?;
    let row = tx.casino_row().await?.ok_or(Error::NoCasino)?;
    let set = tx.set_questions().await?;
    let rows = tx.content().await?;
    let vectors = vectors(&mut tx).await?;
    tx.commit().await?;
    let space = vectors.as_ref().map(|vectors| vectors.space.to_string());
    let (zone, now) = (row.config.operational.timezone, fleet.clock.property_now());
    let retrieval = fleet.packs.of(&row.config)?.agents.retrieval.clone();
    let questions: Vec<Question> = set.iter().map(asked).collect();
    // Indexing thousands of rows takes a while. The search therefore runs on a blocking thread and
    // holds no database connection.
    let report = tokio::task::spawn_blocking(move || {
        search(&questions, &rows, vectors, &retrieval, zone, now)
    });
    let report = report
        .await
        .map_err(|error| Error::Blocked(format!("the search ended: {error}")))?;
    let misses = report
        .misses
        .iter()
        .map(|miss| json!({ "question_id": miss.question.id, "found": miss.found }));
    let run = Run {
        run_id: fleet.ids.uuid(),
        ran_by: by.to_owned(),
        ran_at: fleet.clock.now(),
        questions: i32::try_from(set.len()).unwrap_or(i32::MAX),
        recall: report.all.recall,
        mrr: report.all.mrr,
        precise: Some(report.all.precision),
        misses: misses.collect(),
        space,
    };
    let mut tx = fleet.store.bind(casino).await?;
    tx.note_run(&run).await?;
    tx.commit().await?;
    Ok(run)
}

/// Reads the stored vectors of the embedding that guests' questions use; `None` for the offline
/// embedding.
async fn vectors(tx: &mut Tx) -> Result<Option<Vectors>, Error> {
    let Some(name) = tx.content_space().await? else {
        return Ok(None);
    };
    let Ok(space) = name.parse() else {
        return Err(Error::Blocked(format!(
            "the content's embedding space {name} cannot be read; was it written by a newer version?"
        )));
    };
    let content = tx.vectors(&name).await?.into_iter().map(|row| Stored {
        item_id: row.item_id,
        content_hash: row.content_hash,
        values: row.vector,
    });
    let questions = tx.question_vectors(&name).await?.into_iter();
    Ok(Some(Vectors {
        space,
        content: content.collect(),
        questions: questions
            .map(|(id, values)| (id.to_string(), Vector::normalised(values)))
            .collect(),
    }))
}

fn search(
    questions: &[Question],
    rows: &[Value],
    vectors: Option<Vectors>,
    retrieval: &Retrieval,
    zone: Tz,
    now: DateTime<Utc>,
) -> Report {
    let items = rows.iter().filter_map(|row| Item::from_json(row).ok());
    let items: Vec<Item> = items.collect();
    let found = |index: &Index, query: Query<'_>| {
        let found = index.retrieve(&query.as_set(retrieval));
        found.into_iter().map(|row| row.item.id.clone()).collect()
    };
    match vectors {
        None => {
            let embedder = Offline::default();
            let index = Index::build(items).in_zone(zone).embedded(&embedder);
            evaluate(questions, retrieval.rows, |question| {
                found(&index, Query::offline(&question.text, now, &embedder))
            })
        }
        Some(Vectors {
            space,
            content,
            questions: asked,
        }) => {
            let index = stored_index(items, zone, &space, content);
            evaluate(questions, retrieval.rows, |question| {
                let query = Query::new(&question.text, now);
                // If the question has no vector yet, the search uses only the question's words, as
                // for guests.
                let query = match asked.get(&question.id) {
                    Some(vector) => query.vector(&space, vector.clone()),
                    None => query,
                };
                found(&index, query)
            })
        }
    }
}

/// Converts a question for the evaluation. Its language does not matter: only figures that are not
/// used here depend on it.
fn asked(question: &SetQuestion) -> Question {
    Question {
        id: question.question_id.to_string(),
        text: question.question.clone(),
        language: Language::En,
        relevant: question.expected.clone(),
        typo: false,
        held_out: false,
    }
}
