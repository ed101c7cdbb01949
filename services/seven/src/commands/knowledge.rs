//! `seven knowledge`: makes vectors of content, and measures retrieval with labelled questions.
//! Measuring needs no running fleet.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    process::ExitCode,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, anyhow, ensure};
use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use clap::{Args, Subcommand};
use serde_json::json;
use seven_cache::Cache;
use seven_domain::Clock;
use seven_knowledge::{
    Chunk, Index, Item, Purpose, Query, Reference, TOP_K, Thresholds,
    calibration::calibrate,
    evaluate::{Figures, Miss, Question, Report, evaluate, parse_questions},
    parse_content,
};
use seven_llm::embedding::Embedding;

use super::{
    args::{Casino, Json},
    context::{Context, Operate},
    given,
    progress::during,
};
use crate::{
    ingest::{Ingested, Paid, planned_ingest},
    out, wiring,
};

#[derive(Debug, Subcommand)]
pub enum Knowledge {
    /// Ask labelled questions; print recall@5, MRR, precision, the zero-result rate and every
    /// failed question.
    ///
    /// FILE holds JSON lines: {"id","text","language":"en"|"es","relevant":[item
    /// ids],"typo"?,"held_out"?}. A question without relevant rows is one that the content cannot
    /// answer; "silence" is the share of such questions that find nothing, as they should. Uses the
    /// embedding of [knowledge] in the settings (default: offline) and the demo casino's content
    /// unless a file is given. Failed held-out questions are counted but not shown, so that nobody
    /// tunes retrieval to them.
    Eval(Eval),
    /// For each category, show the similarity of relevant and irrelevant rows, and the threshold in
    /// use.
    Calibrate(Calibrate),
    /// Make and store the missing vectors of a casino's content; remove those of deleted rows.
    ///
    /// Unchanged rows are not embedded again. The offline embedding stores nothing.
    Reindex(Reindex),
}

#[derive(Debug, Args)]
pub struct Eval {
    #[command(flatten)]
    labelled: Labelled,
    /// Exit with 1 when recall@5 over all questions is below this.
    #[arg(long, value_name = "0..1", value_parser = given::share)]
    least_recall: Option<f64>,
    #[command(flatten)]
    json: Json,
}

#[derive(Debug, Args)]
pub struct Calibrate {
    #[command(flatten)]
    labelled: Labelled,
    #[command(flatten)]
    json: Json,
}

#[derive(Debug, Args)]
pub struct Reindex {
    #[command(flatten)]
    of: Casino,
    /// Continue even if more than half of the stored vectors would be removed.
    #[arg(long)]
    remove: bool,
    /// Also remove the vectors of all other embeddings; use it only when every worker runs with the
    /// present embedding.
    #[arg(long)]
    prune: bool,
    /// Print what would be written, and write nothing: how many vectors would be made, kept and
    /// removed.
    #[arg(long, conflicts_with = "prune")]
    dry_run: bool,
}

/// Labelled questions, and the content they are about.
#[derive(Debug, Args)]
pub struct Labelled {
    /// File of questions; those of the demo casino are in
    /// shared/knowledge/tests/retrieval/demo.jsonl.
    file: PathBuf,
    /// Content to search (JSON or JSON Lines, as for `content load`).
    #[arg(long, value_name = "FILE")]
    casino_content: Option<PathBuf>,
    /// Time zone for relative dates and opening hours of the content.
    #[arg(long, default_value = "America/New_York", value_parser = given::zone)]
    zone: Tz,
}

impl Operate for Knowledge {
    async fn run(self, ctx: &Context) -> Result<ExitCode> {
        match self {
            Self::Eval(command) => eval(ctx, &command).await?,
            Self::Calibrate(command) => calibrated(ctx, &command).await?,
            Self::Reindex(command) => reindex(ctx, &command).await?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

async fn reindex(
    ctx: &Context,
    Reindex {
        of: Casino { casino },
        remove,
        prune,
        dry_run,
    }: &Reindex,
) -> Result<()> {
    let fleet = ctx.fleet().await?;
    let paid = Paid::new(&ctx.settings()?, &fleet.cache)?;
    super::known(&fleet.store, casino).await?;
    let embedding = &paid.embedding;
    if *dry_run {
        let Ingested {
            embedded,
            kept,
            removed,
            questions,
        } = planned_ingest(fleet, casino, embedding, *remove).await?;
        out!(
            "{casino}: would embed {embedded}, keep {kept}, remove {removed}, embed {questions} of its own questions, for {}; nothing was done.",
            embedding.space()
        );
        return Ok(());
    }
    let ingested = during("Making vectors", paid.ingest(fleet, casino, *remove)).await?;
    let mut removed = ingested.removed;
    if *prune {
        let mut tx = fleet.store.bind(casino).await?;
        removed += tx
            .remove_other_vectors(&embedding.space().to_string())
            .await?;
        tx.commit().await?;
    }
    let note = if embedding.is_stored() {
        ""
    } else {
        " The offline embedding is made in memory and stores nothing."
    };
    let (embedded, kept, questions) = (ingested.embedded, ingested.kept, ingested.questions);
    out!(
        "{casino}: {embedded} embedded, {kept} kept, {removed} removed, {questions} of its own questions embedded, for {}; {}.{note}",
        embedding.space(),
        paid.spent()
    );
    let mut tx = fleet.store.bind(casino).await?;
    let stored = tx.vector_hashes(&embedding.space().to_string()).await?;
    tx.commit().await?;
    ensure!(
        !embedding.is_stored() || stored.len() == embedded + kept,
        "{} vectors are stored for {} rows; was content changed meanwhile? run it again",
        stored.len(),
        embedded + kept
    );
    Ok(())
}

/// The content, questions and embedding that a measurement needs.
struct Bench {
    embedding: Embedding,
    index: Index,
    questions: Vec<Question>,
    now: DateTime<Utc>,
}

impl Bench {
    async fn set_up(ctx: &Context, labelled: &Labelled) -> Result<Self> {
        let file = &labelled.file;
        let text = super::read(file)?;
        let questions =
            parse_questions(&text).with_context(|| format!("reading {}", file.display()))?;
        ensure!(
            !questions.is_empty(),
            "{} holds no question",
            file.display()
        );
        let now = Clock::default().now();
        let settings = ctx.settings()?;
        let redis = seven_cache::Settings {
            url: settings.redis.url.clone(),
            prefix: settings.redis.prefix.clone(),
            senders: settings.sending.senders,
        };
        let embedding = wiring::embedding(&settings, &Cache::new(&redis, Clock::default())?)?;
        let reference = Reference {
            now,
            zone: labelled.zone,
        };
        let items = items(labelled.casino_content.as_deref(), reference)?;
        let index = index(items, labelled.zone, &embedding).await?;
        check(&questions, &index, file)?;
        Ok(Self {
            embedding,
            index,
            questions,
            now,
        })
    }

    /// Returns each question's query with its vector, by question id, and the time that it took to
    /// make them.
    async fn queries(&self) -> HashMap<&str, (Query<'_>, Duration)> {
        let mut queries = HashMap::new();
        for question in &self.questions {
            let begun = Instant::now();
            let query = self.embedding.query(&question.text, self.now).await;
            queries.insert(question.id.as_str(), (query, begun.elapsed()));
        }
        queries
    }
}

async fn eval(
    ctx: &Context,
    Eval {
        labelled,
        least_recall,
        json,
    }: &Eval,
) -> Result<()> {
    let bench = Bench::set_up(ctx, labelled).await?;
    let queries = during("Embedding the questions", bench.queries()).await;
    let mut times = Vec::with_capacity(bench.questions.len());
    let report = evaluate(&bench.questions, TOP_K, |question| {
        let Some((query, embedded)) = queries.get(question.id.as_str()) else {
            return Vec::new();
        };
        let begun = Instant::now();
        let found = bench.index.retrieve(query);
        times.push(*embedded + begun.elapsed());
        found.into_iter().map(|row| row.item.id.clone()).collect()
    });
    times.sort_unstable();
    if json.json {
        let mut whole = serde_json::to_value(&report)?;
        whole["embedding"] = json!(bench.embedding.space().to_string());
        whole["items"] = json!(bench.index.len());
        whole["latency_us"] =
            json!({ "p50": at(&times, 50).as_micros(), "p99": at(&times, 99).as_micros() });
        out!("{whole}");
    } else {
        print(ctx, &report, &bench.index, &times);
    }
    let least = least_recall.unwrap_or(0.0);
    ensure!(
        report.all.recall >= least,
        "recall@{} is {:.3}, less than {least}",
        report.k,
        report.all.recall
    );
    Ok(())
}

async fn calibrated(ctx: &Context, Calibrate { labelled, json }: &Calibrate) -> Result<()> {
    let bench = Bench::set_up(ctx, labelled).await?;
    let mut queries = bench.queries().await;
    let thresholds = Thresholds::of(bench.embedding.space());
    let asked = bench
        .questions
        .iter()
        .filter_map(|q| Some((q, queries.remove(q.id.as_str())?.0)));
    let figures = calibrate(&bench.index, &thresholds, asked);
    if json.json {
        out!(
            "{}",
            json!({ "embedding": bench.embedding.space().to_string(), "categories": figures })
        );
        return Ok(());
    }
    let mut table = ctx.table([
        "category",
        "right rows",
        "p05",
        "p25",
        "p50",
        "strangers p50",
        "p95",
        "in use",
        "keeps",
        "passes",
        "suggested",
    ]);
    table = table.wide(["p05", "p25", "keeps", "passes"]);
    for (category, f) in &figures {
        let cosines = [
            f.right_p05,
            f.right_p25,
            f.right_p50,
            f.stranger_p50,
            f.stranger_p95,
            f.in_use,
        ];
        let cosines = cosines.map(|cosine| format!("{cosine:.2}"));
        let shares = [f.kept, f.passed].map(|share| format!("{share:.2}"));
        let row = [category.to_string(), f.right.to_string()]
            .into_iter()
            .chain(cosines)
            .chain(shares);
        table.add_row(row.chain([format!("{:.2}", f.suggested)]));
    }
    out!("{table}");
    out!(
        "{}; held-out questions take no part.",
        bench.embedding.space()
    );
    Ok(())
}

fn items(content: Option<&Path>, reference: Reference) -> Result<Vec<Item>> {
    let (name, text) = match content {
        Some(file) => {
            let text = super::read(file)?;
            (file.display().to_string(), text)
        }
        None => (
            "demo/content.json".to_owned(),
            seven_packs::demo::CONTENT.to_owned(),
        ),
    };
    parse_content(&name, &text, reference).map_err(|problems| {
        anyhow!(
            "{}",
            problems
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join("\n")
        )
    })
}

/// Builds the index. The vectors are made here and not read from a database, because the measured
/// content need not be stored in any fleet.
async fn index(items: Vec<Item>, zone: Tz, embedding: &Embedding) -> Result<Index> {
    if let Embedding::Offline(offline) = embedding {
        return Ok(Index::build(items).in_zone(zone).embedded(offline));
    }
    let chunks: Vec<Chunk> = items
        .iter()
        .filter_map(|item| Chunk::of(item, zone))
        .collect();
    let texts: Vec<&str> = chunks.iter().map(|chunk| chunk.text.as_str()).collect();
    let vectors = embedding
        .embedder()
        .embed(&texts, Purpose::Document)
        .await?;
    let vectors = chunks
        .iter()
        .map(|chunk| chunk.item_id.clone())
        .zip(vectors)
        .collect();
    Ok(Index::build(items)
        .in_zone(zone)
        .with_vectors(embedding.space().clone(), &vectors))
}

/// Refuses a label that names no row, because it would count as a miss in every run.
fn check(questions: &[Question], index: &Index, file: &Path) -> Result<()> {
    let unknown = questions.iter().find_map(|q| {
        q.relevant
            .iter()
            .find(|id| index.get(id).is_none())
            .map(|id| (q, id))
    });
    match unknown {
        Some((question, id)) => Err(anyhow!(
            "{}: question {} names `{id}`, which the content lacks",
            file.display(),
            question.id
        )),
        None => Ok(()),
    }
}

fn print(ctx: &Context, report: &Report, index: &Index, times: &[Duration]) {
    let recall = format!("recall@{}", report.k);
    let mut table = ctx.table([
        "questions",
        "number",
        &recall,
        "MRR",
        "precision",
        "zero results",
        "silence",
    ]);
    let mut add = |name: &str, f: &Figures| {
        let rates = [f.recall, f.mrr, f.precision, f.zero_results, f.silence]
            .map(|rate| format!("{rate:.3}"));
        table.add_row(
            [
                vec![name.to_owned(), f.questions.to_string()],
                rates.to_vec(),
            ]
            .concat(),
        );
    };
    add("all", &report.all);
    report
        .parts
        .iter()
        .for_each(|(name, figures)| add(name, figures));
    out!("{table}");
    out!(
        "{} items, p50 {:?}, p99 {:?} a question.",
        index.len(),
        at(times, 50),
        at(times, 99)
    );
    report
        .misses
        .iter()
        .filter(|miss| !miss.question.held_out)
        .for_each(miss);
}

fn miss(Miss { question, found }: &Miss) {
    let list = |ids: &[String]| {
        if ids.is_empty() {
            "nothing".to_owned()
        } else {
            ids.join(" ")
        }
    };
    out!("{}  {}", question.id, question.text);
    out!(
        "      wants {}; found {}",
        list(&question.relevant),
        list(found)
    );
}

fn at(sorted: &[Duration], percent: usize) -> Duration {
    sorted
        .get(sorted.len() * percent / 100)
        .copied()
        .unwrap_or_default()
}
