//! Asks the search every question of the casino's own set and stores what it found, so that an
//! editor sees which answers an edit cost (RAG-45).

use serde_json::json;
use seven_domain::Language;
use seven_knowledge::{
    Index, Item, Offline, Query, TOP_K,
    evaluate::{Question, evaluate},
};
use seven_store::content::{Run, SetQuestion};

use crate::{Error, Work};

/// Asks every question of the set about what guests get now, and stores the result.
///
/// # Errors
/// Fails when the database does.
pub async fn run_set(work: &mut Work<'_>, by: &str) -> Result<Run, Error> {
    let set = work.tx.set_questions().await?;
    let published = work.tx.published_items(None).await?;
    let items = published.iter().filter(|item| item.active);
    let items: Vec<Item> = items
        .filter_map(|item| Item::from_json(&item.item).ok())
        .collect();
    let embedder = Offline::default();
    let index = Index::build(items)
        .in_zone(work.row.config.operational.timezone)
        .embedded(&embedder);
    let now = work.fleet.clock.property_now();
    let questions: Vec<Question> = set.iter().map(asked).collect();
    let report = evaluate(&questions, TOP_K, |question| {
        let found = index.retrieve(&Query::offline(&question.text, now, &embedder));
        found.into_iter().map(|row| row.item.id.clone()).collect()
    });
    let misses = report
        .misses
        .iter()
        .map(|miss| json!({ "question_id": miss.question.id, "found": miss.found }));
    let run = Run {
        run_id: work.fleet.ids.uuid(),
        ran_by: by.to_owned(),
        ran_at: work.fleet.clock.now(),
        questions: i32::try_from(set.len()).unwrap_or(i32::MAX),
        recall: report.all.recall,
        mrr: report.all.mrr,
        misses: misses.collect(),
    };
    work.tx.note_run(&run).await?;
    Ok(run)
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
