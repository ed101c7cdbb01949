//! Asks the search every question of the casino's own set and stores what it found, so that an
//! editor sees which answers an edit cost (RAG-45).

use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use serde_json::{Value, json};
use seven_domain::{CasinoId, Language};
use seven_knowledge::{
    Index, Item, Offline, Query, Retrieval,
    evaluate::{Question, Report, evaluate},
};
use seven_runtime::Fleet;
use seven_store::content::{Run, SetQuestion};

use crate::Error;

/// Asks every question of the set about what guests get now, and stores the result.
///
/// # Errors
/// Fails when the database does.
pub async fn run_set(fleet: &Fleet, casino: &CasinoId, by: &str) -> Result<Run, Error> {
    let mut tx = fleet.store.bind(casino).await?;
    let row = tx.casino_row().await?.ok_or(Error::NoCasino)?;
    let set = tx.set_questions().await?;
    let rows = tx.content().await?;
    tx.commit().await?;
    let (zone, now) = (row.config.operational.timezone, fleet.clock.property_now());
    let retrieval = fleet.packs.of(&row.config)?.agents.retrieval.clone();
    let questions: Vec<Question> = set.iter().map(asked).collect();
    // Thousands of rows are indexed for this; no connection and no other task waits meanwhile.
    let report =
        tokio::task::spawn_blocking(move || search(&questions, &rows, &retrieval, zone, now));
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
    };
    let mut tx = fleet.store.bind(casino).await?;
    tx.note_run(&run).await?;
    tx.commit().await?;
    Ok(run)
}

fn search(
    questions: &[Question],
    rows: &[Value],
    retrieval: &Retrieval,
    zone: Tz,
    now: DateTime<Utc>,
) -> Report {
    let items = rows.iter().filter_map(|row| Item::from_json(row).ok());
    let embedder = Offline::default();
    let index = Index::build(items.collect::<Vec<_>>())
        .in_zone(zone)
        .embedded(&embedder);
    evaluate(questions, retrieval.rows, |question| {
        let query = Query::offline(&question.text, now, &embedder).as_set(retrieval);
        let found = index.retrieve(&query);
        found.into_iter().map(|row| row.item.id.clone()).collect()
    })
}

/// The language only groups the figures of a report, of which none are shown here.
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
