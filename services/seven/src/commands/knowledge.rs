//! `seven knowledge eval`: how well retrieval finds the rows that answer labelled questions (RAG-45). Offline: needs no fleet.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, anyhow, ensure};
use chrono_tz::Tz;
use clap::Subcommand;
use serde_json::json;
use seven_domain::Clock;
use seven_knowledge::{
    Index, Offline, Query, Reference, TOP_K,
    evaluate::{Figures, Miss, Question, Report, evaluate, parse_questions},
    parse_content,
};

use super::table;
use crate::out;

#[derive(Debug, Subcommand)]
pub enum Knowledge {
    /// Ask labelled questions and print recall@5, MRR and the zero-result rate, with every question that failed.
    ///
    /// FILE holds JSON lines: {"id","text","language":"en"|"es","relevant":[item ids],"typo"?,"held_out"?}. A question without
    /// relevant rows is one the content cannot answer: "silence" is the share of those that rightly find nothing.
    /// Uses the offline embedding and no network; the demo casino's content unless another file is named.
    Eval {
        /// Questions; the demo casino's are in shared/knowledge/tests/retrieval/demo.jsonl.
        file: PathBuf,
        /// Content to search (JSON or JSON Lines, as for `content load`).
        #[arg(long, value_name = "FILE")]
        casino_content: Option<PathBuf>,
        /// Zone that relative dates and opening hours of the content count in.
        #[arg(long, default_value = "America/New_York")]
        zone: Tz,
        /// Exit with 1 when recall@5 over all questions is below this.
        #[arg(long, value_name = "0..1")]
        least_recall: Option<f64>,
        /// The whole report as one JSON document.
        #[arg(long)]
        json: bool,
    },
}

pub fn run(Knowledge::Eval { file, casino_content, zone, least_recall, json }: &Knowledge) -> Result<()> {
    let text = std::fs::read_to_string(file).with_context(|| format!("reading {}", file.display()))?;
    let questions = parse_questions(&text).with_context(|| format!("reading {}", file.display()))?;
    ensure!(!questions.is_empty(), "{} holds no question", file.display());
    let now = Clock::default().now();
    let offline = Offline::new();
    let index = index(casino_content.as_deref(), Reference { now, zone: *zone }, &offline)?;
    check(&questions, &index, file)?;
    let mut times = Vec::with_capacity(questions.len());
    let report = evaluate(&questions, TOP_K, |question| {
        let begun = Instant::now();
        let found = index.retrieve(&Query::offline(&question.text, now, &offline));
        times.push(begun.elapsed());
        found.into_iter().map(|row| row.item.id.clone()).collect()
    });
    times.sort_unstable();
    if *json {
        let mut whole = serde_json::to_value(&report)?;
        whole["embedding"] = json!(offline.as_space().to_string());
        whole["items"] = json!(index.len());
        whole["latency_us"] = json!({ "p50": at(&times, 50).as_micros(), "p99": at(&times, 99).as_micros() });
        out!("{whole}");
    } else {
        print(&report, &index, &times);
    }
    let least = least_recall.unwrap_or(0.0);
    ensure!(report.all.recall >= least, "recall@{} is {:.3}, less than {least}", report.k, report.all.recall);
    Ok(())
}

fn index(content: Option<&Path>, reference: Reference, offline: &Offline) -> Result<Index> {
    let (name, text) = match content {
        Some(file) => {
            let text = std::fs::read_to_string(file).with_context(|| format!("reading {}", file.display()))?;
            (file.display().to_string(), text)
        }
        None => ("demo/content.json".to_owned(), seven_packs::demo::CONTENT.to_owned()),
    };
    let items = parse_content(&name, &text, reference)
        .map_err(|problems| anyhow!("{}", problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")))?;
    Ok(Index::build(items).in_zone(reference.zone).embedded(offline))
}

/// A label that names no row would count as a miss for ever.
fn check(questions: &[Question], index: &Index, file: &Path) -> Result<()> {
    let unknown = questions.iter().find_map(|q| q.relevant.iter().find(|id| index.get(id).is_none()).map(|id| (q, id)));
    match unknown {
        Some((question, id)) => {
            Err(anyhow!("{}: question {} names `{id}`, which the content lacks", file.display(), question.id))
        }
        None => Ok(()),
    }
}

fn print(report: &Report, index: &Index, times: &[Duration]) {
    let recall = format!("recall@{}", report.k);
    let mut table = table(["questions", "number", &recall, "MRR", "zero results", "silence"]);
    let mut add = |name: &str, f: &Figures| {
        let rates = [f.recall, f.mrr, f.zero_results, f.silence].map(|rate| format!("{rate:.3}"));
        table.add_row([vec![name.to_owned(), f.questions.to_string()], rates.to_vec()].concat());
    };
    add("all", &report.all);
    report.parts.iter().for_each(|(name, figures)| add(name, figures));
    out!("{table}");
    out!("{} items, p50 {:?}, p99 {:?} a question.", index.len(), at(times, 50), at(times, 99));
    report.misses.iter().for_each(miss);
}

fn miss(Miss { question, found }: &Miss) {
    let list = |ids: &[String]| if ids.is_empty() { "nothing".to_owned() } else { ids.join(" ") };
    out!("{}  {}", question.id, question.text);
    out!("      wants {}; found {}", list(&question.relevant), list(found));
}

fn at(sorted: &[Duration], percent: usize) -> Duration {
    sorted.get(sorted.len() * percent / 100).copied().unwrap_or_default()
}
