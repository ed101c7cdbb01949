//! Checks under load that every text has one unbroken trace.

use std::{collections::BTreeSet, path::Path, time::Duration};

use anyhow::{Context, Result, ensure};
use serde::Serialize;
use seven::out;
use seven_carrier_sim::{DeliveryState, Text};
use seven_domain::TraceContext;
use seven_testkit::collector::Collector;
use tokio::time::{Instant, sleep, sleep_until};

use super::{
    ground::{Ground, Lay, casino_number},
    load::{Guests, Pace, play},
    options::Bench,
    outages::{self, Outages},
    pipeline::{Running, fleet_processes},
};
use crate::whole_traces::{self, Wholeness};

/// Quiet window and typing delay, as a fraction of their length in production. At this length some
/// texts are answered together.
const PAUSES: f64 = 0.05;
/// The line of the settings file that each run replaces to set the pauses.
const NO_PAUSES: &str = "time.pauses = 0.0";
/// Every tenth guest sends a second text right after the first. The webhook of the second text is
/// delivered twice.
const EVERY: usize = 10;
/// Number of texts that are unanswered at any time while the fleet's throughput is measured.
const UNDER_WAY: usize = 64;
const READY_TIMEOUT: Duration = Duration::from_secs(120);

#[derive(Debug, Serialize)]
pub(super) struct Traces {
    pub(super) rate: f64,
    pub(super) spans: usize,
    pub(super) wholeness: Wholeness,
    pub(super) outages: Outages,
}

pub(super) async fn measure(dir: &Path, bench: &Bench) -> Result<Traces> {
    let lay = Lay {
        casinos: bench.casinos,
        as_in_production: false,
        receipts: true,
    };
    let mut ground = Ground::lay(&dir.join("traces"), lay).await?;
    let plain = std::fs::read_to_string(&ground.config).context("reading the settings")?;
    let collector = Collector::start().await?;
    let rate;
    let settings = Settings {
        endpoint: &collector.url(),
        pauses: PAUSES,
    };
    (ground, rate) = Box::pin(under(ground, &plain, settings, async |running| {
        traced(running, bench).await
    }))
    .await?;
    let spans = settled_spans(&collector).await;
    let texts: BTreeSet<String> = ground
        .sim()
        .ledger()
        .snapshot()
        .inbound
        .iter()
        .map(trace_of)
        .collect();
    let wholeness = whole_traces::of_texts(&spans, texts.iter().map(String::as_str));
    // Prints this result at once, because the following measurement takes minutes and may fail.
    print_wholeness(&wholeness, rate, spans.len());
    if let Some(broken) = wholeness.broken.first() {
        for span in spans.iter().filter(|span| span.trace_id == *broken) {
            out!(
                "  {} {} under {:?} {}",
                span.trace_id,
                span.span_id,
                span.parent,
                span.name
            );
        }
    }
    let settings = Settings {
        endpoint: &collector.url(),
        pauses: 0.0,
    };
    let outages;
    (ground, outages) = Box::pin(under(ground, &plain, settings, async |running| {
        outages::measure(running, bench, rate, &collector).await
    }))
    .await?;
    Running {
        ground,
        processes: Vec::new(),
    }
    .end()
    .await?;
    Ok(Traces {
        rate,
        spans: spans.len(),
        wholeness,
        outages,
    })
}

#[derive(Debug, Clone, Copy)]
struct Settings<'a> {
    endpoint: &'a str,
    pauses: f64,
}

/// Runs `work` on a fleet of new processes that export every trace.
async fn under<T>(
    ground: Ground,
    plain: &str,
    settings: Settings<'_>,
    work: impl AsyncFnOnce(&Running) -> Result<T>,
) -> Result<(Ground, T)> {
    let Settings { endpoint, pauses } = settings;
    ensure!(
        plain.contains(NO_PAUSES),
        "the settings say nothing of pauses"
    );
    let text = plain.replace(NO_PAUSES, &format!("time.pauses = {pauses:?}"));
    let text =
        format!("{text}\ntelemetry.otlp_endpoint = \"{endpoint}\"\ntelemetry.sample = 1.0\n");
    std::fs::write(&ground.config, text).context("writing the settings")?;
    let processes = fleet_processes(&ground)?;
    let mut running = Running { ground, processes };
    ready(&running).await?;
    running.first_answer().await?;
    let done = work(&running).await?;
    for (_, process) in &mut running.processes {
        process.kill().await;
    }
    Ok((running.ground, done))
}

/// Waits until every worker reports that it is ready.
async fn ready(running: &Running) -> Result<()> {
    let until = Instant::now() + READY_TIMEOUT;
    for (name, process) in &running.processes {
        while !process
            .metrics()
            .await
            .is_ok_and(|metrics| metrics.contains("\nseven_ready 1\n"))
        {
            ensure!(
                Instant::now() < until,
                "{name} was not ready within {} s",
                READY_TIMEOUT.as_secs()
            );
            sleep(Duration::from_millis(200)).await;
        }
    }
    Ok(())
}

/// Lets guests write one or two texts each, and waits until every answer has its last receipt.
/// Returns the texts per second: `bench.rate`, or half of the throughput that was measured first.
async fn traced(running: &Running, bench: &Bench) -> Result<f64> {
    let all = Guests {
        casinos: bench.casinos,
        first: 0,
        count: bench.texts,
    };
    let sim = running.ground.sim();
    let rate = match bench.rate {
        Some(rate) => rate,
        None => {
            play(sim, all, Pace::UnderWay(UNDER_WAY))
                .await?
                .shown()
                .per_second
                / 2.0
        }
    };
    let count = ((rate * bench.seconds as f64) as usize).clamp(1, bench.texts);
    let guests = Guests { count, ..all };
    out!("traces: {count} guests write at {rate:.0} a second");
    let (played, second) = tokio::join!(
        play(sim, guests, Pace::Rate(rate)),
        more(running, guests, rate)
    );
    played?;
    second?;
    settle(running).await?;
    // Workers collect spans for half a second before they export a batch.
    sleep(Duration::from_secs(2)).await;
    Ok(rate)
}

/// Sends the second text of every tenth guest right after the first, so that both are answered
/// together. Delivers the webhook of the second text twice.
async fn more(running: &Running, guests: Guests, rate: f64) -> Result<()> {
    let sim = running.ground.sim();
    let began = Instant::now() + Duration::from_millis(30);
    for n in (0..guests.count).step_by(EVERY) {
        sleep_until(began + Duration::from_secs_f64(n as f64 / rate)).await;
        let text = Text {
            from: guests.phone(n),
            to: Some(casino_number(n % guests.casinos)),
            text: Some("and is it expensive there?".to_owned()),
            ..Text::default()
        };
        let first = sim.text(text.clone())?;
        let (event_id, message_id) = (Some(first.event_id), Some(first.message_id));
        sim.text(Text {
            event_id,
            message_id,
            ..text
        })?;
    }
    Ok(())
}

/// Waits until every webhook and receipt was accepted and the fleet has no work left.
async fn settle(running: &Running) -> Result<()> {
    let until = Instant::now() + READY_TIMEOUT;
    loop {
        let ledger = running.ground.sim().ledger().snapshot();
        let inbound = ledger.inbound.iter().map(|text| text.delivery.state);
        let receipts = ledger
            .outbound
            .iter()
            .flat_map(|sent| sent.receipts.iter().map(|r| r.delivery.state));
        let told = inbound
            .chain(receipts)
            .all(|state| state != DeliveryState::Pending);
        let open = running
            .ground
            .sql("select (select count(*) from outbound_messages where state <> 'delivered') + (select count(*) from inbound_messages where disposition = 'open')")
            .await?;
        if told && open.trim() == "0" {
            return Ok(());
        }
        ensure!(
            Instant::now() < until,
            "{} texts are not settled after {} s",
            open.trim(),
            READY_TIMEOUT.as_secs()
        );
        sleep(Duration::from_millis(200)).await;
    }
}

async fn settled_spans(collector: &Collector) -> Vec<seven_testkit::collector::Span> {
    let mut before = collector.spans();
    loop {
        sleep(Duration::from_secs(1)).await;
        let now = collector.spans();
        if now.len() == before.len() {
            return now;
        }
        before = now;
    }
}

fn trace_of(text: &seven_carrier_sim::Inbound) -> String {
    TraceContext::of_text(&text.provider, &text.message_id).trace_hex()
}

fn print_wholeness(found: &Wholeness, rate: f64, spans: usize) {
    out!(
        "traces: {} of {} texts ({:.2} %, goal 99.9 %) have one unbroken trace from webhook to \
         delivery, at {rate:.0} texts/s ({spans} spans)",
        found.whole,
        found.texts,
        found.share() * 100.0,
    );
    if !found.broken.is_empty() {
        out!(
            "  broken: {} (such as {})",
            found.lacks(),
            found.broken.join(", ")
        );
    }
}
