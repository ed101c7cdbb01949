//! `./scripts/chaos`: runs the fleet under load, kills processes, breaks connections and makes
//! sends fail. Then a checker proves the promises from the carrier's ledger and the database.

mod browse;
mod check;
mod desk;
mod facts;
mod ground;
mod load;
mod mutants;
mod options;
mod plan;
mod proxy;
mod report;
mod size;
mod staff;
mod stale;
mod strike;
mod visitors;
mod visits;
mod watch;
mod workers;

pub use self::options::Chaos;
use std::{
    path::Path,
    process::ExitCode,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use anyhow::{Context, Result, bail};
use ground::Ground;
use rand::Rng;
use seven::out;
use seven_settings::dev_dir;
use strike::Striker;
use tokio::time::{Instant, sleep_until};
use workers::Workers;

use crate::whole_traces;

/// Runs the chaos test. Exit code 1 means that a promise was broken, or that too little was
/// examined.
pub async fn run(chaos: Chaos) -> Result<ExitCode> {
    let seed = chaos
        .seed
        .unwrap_or_else(|| rand::rng().random_range(1..1_000_000));
    let span = chaos.span();
    if span < Duration::from_secs(30) {
        bail!(
            "{} s are too short to prove anything; at least 30",
            span.as_secs()
        );
    }
    if chaos.mutants {
        return mutants::run(&chaos, seed).await;
    }
    let dir = dev_dir().join(format!("chaos-{}", std::process::id()));
    out!(
        "seed {seed}, {} s of load; replay this schedule with: ./scripts/chaos --seconds {0} \
         --seed {seed}",
        span.as_secs()
    );
    let held = Box::pin(one_run(
        &dir,
        seed,
        span,
        Duration::from_secs(chaos.patience),
    ))
    .await;
    match held {
        Ok(true) => {
            std::fs::remove_dir_all(&dir).with_context(|| format!("removing {}", dir.display()))?;
            Ok(ExitCode::SUCCESS)
        }
        Ok(false) => {
            out!("Logs and ledger are kept in {}", dir.display());
            Ok(ExitCode::FAILURE)
        }
        Err(error) => Err(error.context(format!(
            "the run with seed {seed} (logs: {})",
            dir.display()
        ))),
    }
}

async fn one_run(dir: &Path, seed: u64, span: Duration, patience: Duration) -> Result<bool> {
    std::fs::create_dir_all(dir.join("logs"))
        .with_context(|| format!("creating {}", dir.display()))?;
    seven_telemetry::init(
        seven_telemetry::LogTarget::File(&dir.join("logs/chaos.log")),
        seven_telemetry::FILTER,
    )?;
    let ground = Arc::new(Box::pin(Ground::lay(dir)).await?);
    let workers = Arc::new(Workers::start(&ground)?);
    let striker = Arc::new(Striker::new(ground.clone(), workers.clone()));
    let visits = visits::visits(seed, span);
    let known = visits.clone();
    let phones: Vec<String> = visits.iter().map(|v| v.phone.clone()).collect();
    let began = Instant::now();
    let seen = Arc::new(watch::Seen::default());
    let said = || {
        let others = [visits::NAME, visits::PERSONS_TEXT];
        visits::QUESTIONS.into_iter().chain(others)
    };
    let secrets = Arc::new(check::Secrets::new(&phones, said())?);
    let overhearing = tokio::spawn(watch::overhear(ground.clone(), secrets, seen.clone()));
    let watching = tokio::spawn(watch::watch(ground.clone(), workers.clone(), seen.clone()));
    let (struck, played) = tokio::join!(
        striker.run(began, plan::schedule(seed, span)),
        load::play(
            ground.clone(),
            began,
            visits,
            visitors::visitors(seed, span)
        )
    );
    let mut played = played?;
    let struck = struck?;
    sleep_until(began + span).await;
    out!(
        "load ended after {:.0} s; waiting until all is settled",
        began.elapsed().as_secs_f64()
    );
    let settling = Instant::now();
    let on_web = played.browsed.iter().map(|visit| visit.taken.len()).sum();
    let settled = watch::settle(&ground, on_web, patience)
        .await?
        .then(|| settling.elapsed());
    for visit in &mut played.browsed {
        visit.catch_up(&ground).await;
    }
    watching.abort();
    // Workers collect spans for half a second before they export them.
    tokio::time::sleep(Duration::from_secs(2)).await;
    let shown = workers.series().await;
    watch::lock(&seen.series).extend(shown);
    workers.end().await;
    overhearing.abort();
    let facts = facts::Facts::read(&ground, &struck, &known, played).await?;
    let mut findings = check::all(&facts);
    findings.push(report::chains(&ground).await?);
    let spans = ground.collector.spans();
    let answers = facts
        .accepted
        .iter()
        .filter_map(|sent| sent.text.as_deref());
    // Short answers are not searched for, because their few words may occur anywhere.
    let answers = answers.filter(|text| text.split_whitespace().count() > 4);
    let visitors = facts.browsed.iter().flat_map(|(visit, _)| &visit.secrets);
    let session = ground.desk.secret();
    let visitors = visitors.map(String::as_str).chain([&*session]);
    let secrets = check::Secrets::new(&phones, said().chain(answers).chain(visitors))?;
    let bus = (
        seen.messages.load(Ordering::Relaxed),
        watch::lock(&seen.told).clone(),
    );
    let series = watch::lock(&seen.series).clone();
    let (finding, searched) =
        secrets.judge(&ground.dir.join("logs"), &spans, &series, (bus.0, &bus.1))?;
    findings.push(finding);
    let check::Searched {
        lines,
        spans: searched_spans,
        series,
        messages,
    } = searched;
    out!(
        "searched for phones and words: {lines} log lines, {searched_spans} spans, {series} \
         series, {messages} messages"
    );
    let traces = whole_traces::reaching(&spans);
    out!(
        "{} of {} texts with a receipt have one unbroken trace from their webhook on",
        traces.whole,
        traces.texts
    );
    if !traces.broken.is_empty() {
        out!(
            "  the others lost spans with a killed process: {}",
            traces.lacks()
        );
    }
    let held = report::print(&facts, &struck, &seen, &findings, span, settled);
    if held {
        // If this program runs as root, Postgres keeps its data outside the run's folder.
        ground.servers.postgres.wipe_data().await?;
    }
    Ok(held)
}
