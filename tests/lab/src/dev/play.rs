//! Runs `--say` and `--script`. Sends texts as a guest, waits until all work is done, and prints
//! the texts that the carrier accepted.

use std::{io::Write, time::Duration};

use anyhow::{Context, Result};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use seven::commands::why::trace_id;
use seven_carrier_sim::Text;
use seven_domain::CasinoId;
use seven_settings::Worker;
use tokio::time::sleep;
use uuid::Uuid;

use super::{house, options::Dev};
use crate::stack::Stack;

/// Phone number of the guest of `--say`.
const GUEST: &str = "+18605550142";
/// Longest wait for an answer, at time scale 1.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);

/// One line of a script file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Line {
    pub(crate) from: String,
    pub(crate) text: String,
    /// Milliseconds until the next line is sent. `None`: the next line is sent when the fleet has
    /// answered all lines so far.
    #[serde(default)]
    pub(crate) wait_ms: Option<u64>,
}

/// One text that the carrier accepted.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct SentText {
    pub(crate) to: String,
    pub(crate) text: String,
    pub(crate) encoding: String,
    pub(crate) segments: i32,
    pub(crate) agent: String,
    pub(crate) verdict: String,
    pub(crate) sources: Vec<String>,
    pub(crate) elapsed_ms: i64,
    /// Trace id of 32 hex digits, for `seven why --trace` and the collector.
    pub(crate) trace: String,
    #[serde(skip)]
    at: DateTime<Utc>,
}

pub(super) async fn run(dev: &Dev) -> Result<()> {
    let lines = lines(dev)?;
    let house = house(dev, &Worker::ALL, true).await?;
    let played = play(&house.stack, &lines, dev.time_scale).await;
    let texts = sent_texts(&house.stack, &house.config.casino_id).await;
    let asked: Vec<_> = house
        .stack
        .sim
        .ledger()
        .snapshot()
        .inbound
        .into_iter()
        .map(|i| (i.at, i.text.unwrap_or_default()))
        .collect();
    let closed = house.close().await;
    let (settled, texts) = (played?, texts?);
    print_texts(&asked, &texts, dev.json)?;
    anyhow::ensure!(
        settled,
        "some texts were still under way when patience ended; the log says why"
    );
    anyhow::ensure!(
        dev.say.is_none() || !texts.is_empty(),
        "no answer came; the log says why"
    );
    closed
}

fn lines(dev: &Dev) -> Result<Vec<Line>> {
    let Some(path) = &dev.script else {
        let text = dev.say.clone().unwrap_or_default();
        return Ok(vec![Line {
            from: GUEST.to_owned(),
            text,
            wait_ms: None,
        }]);
    };
    let script =
        std::fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
    script
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(row, line)| {
            serde_json::from_str(line).with_context(|| {
                format!(
                    "{}:{}: expected {{\"from\",\"text\",\"wait_ms\"?}}",
                    path.display(),
                    row + 1
                )
            })
        })
        .collect()
}

/// Plays the lines and returns true when the fleet completed all work.
async fn play(stack: &Stack, lines: &[Line], scale: f64) -> Result<bool> {
    let patience = ANSWER_TIMEOUT.mul_f64(scale.max(0.5));
    let mut settled = true;
    for (sent, line) in (1..).zip(lines) {
        stack.sim.text(Text {
            from: line.from.clone(),
            text: Some(line.text.clone()),
            ..Text::default()
        })?;
        match line.wait_ms {
            Some(wait) => sleep(Duration::from_millis(wait).mul_f64(scale)).await,
            None => settled = stack.settled(sent, patience).await?,
        }
    }
    Ok(stack.settled(i64::try_from(lines.len())?, patience).await? && settled)
}

/// Returns the texts that the carrier accepted so far, each with details of the turn that wrote it.
pub(crate) async fn sent_texts(stack: &Stack, casino: &CasinoId) -> Result<Vec<SentText>> {
    let mut texts = Vec::new();
    for sent in stack.sim.ledger().snapshot().outbound {
        let attempt = sent
            .webhook_url
            .as_deref()
            .unwrap_or_default()
            .rsplit('/')
            .next()
            .and_then(|id| Uuid::parse_str(id).ok())
            .unwrap_or_default();
        let mut tx = stack.fleet.store.bind(casino).await?;
        let Some((line, turn, inbound)) = tx.explain_attempt(attempt).await? else {
            continue;
        };
        tx.commit().await?;
        let sources = turn
            .map(|t| serde_json::from_value(t.sources))
            .transpose()?
            .unwrap_or_default();
        let elapsed_ms = inbound
            .as_ref()
            .map_or(0, |i| (sent.accepted_at - i.received_at).num_milliseconds());
        texts.push(SentText {
            to: sent.to,
            text: line.body,
            encoding: line.encoding,
            segments: line.segments,
            agent: line.agent,
            verdict: inbound.map_or_else(String::new, |i| i.verdict),
            sources,
            elapsed_ms,
            trace: trace_id(&line.trace).to_owned(),
            at: sent.accepted_at,
        });
    }
    Ok(texts)
}

fn print_texts(asked: &[(DateTime<Utc>, String)], texts: &[SentText], json: bool) -> Result<()> {
    let mut out = std::io::stdout().lock();
    if json {
        for text in texts {
            writeln!(out, "{}", serde_json::to_string(text)?)?;
        }
        return Ok(());
    }
    let said = asked
        .iter()
        .map(|(at, text)| (*at, format!("guest  {text}")));
    let mut conversation: Vec<(DateTime<Utc>, String)> = said
        .chain(texts.iter().map(|text| (text.at, shown(text))))
        .collect();
    conversation.sort_by_key(|(at, _)| *at);
    for (_, line) in conversation {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

fn shown(text: &SentText) -> String {
    let segments = if text.segments == 1 {
        "1 segment".to_owned()
    } else {
        format!("{} segments", text.segments)
    };
    let from = if text.sources.is_empty() {
        String::new()
    } else {
        format!(", from {}", text.sources.join(" "))
    };
    let seconds = text.elapsed_ms as f64 / 1000.0;
    format!(
        "host   {}\n       {} after {seconds:.1} s, {segments} {}{from}\n       trace {}",
        text.text, text.agent, text.encoding, text.trace
    )
}
