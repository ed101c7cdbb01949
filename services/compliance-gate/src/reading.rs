//! Judges a text, compares it with our latest texts to the guest, and writes the verdict to a span.

use std::time::Instant;

use seven_compliance::{
    Author, Decision, Guardrails, Intent, Keyword, Likely, LikelyKind, Verdict, echo, provider,
};
use seven_domain::{CasinoConfig, ChannelProfile, GuestHash};
use seven_packs::Pack;
use seven_reader::{Reader, beside_our_texts, matters, needs_our_texts};
use seven_runtime::Error;
use seven_store::Tx;
use seven_telemetry::{metrics, trace};

use crate::types::{Gate, Text};

/// Judges the text and writes the names of its hits to the span. A trace that concerns consent or a
/// guardrail is always kept.
pub(crate) async fn judge(
    gate: &Gate,
    tx: &mut Tx,
    pack: &Pack,
    config: &CasinoConfig,
    guest: &GuestHash,
    text: &Text,
) -> Result<Decision, Error> {
    let mut step = trace::step("seven.node.compliance_gate", "");
    let rails = pack.guardrails();
    let began = Instant::now();
    let first = rails.decide(&text.body);
    metrics()
        .guests
        .step_seconds
        .with_label_values(&["guardrails", text.channel().as_str()])
        .observe(began.elapsed().as_secs_f64());
    let mut decision = read_again(gate, rails, &text.body, first).await;
    if needs_our_texts(&decision, &text.body) {
        let ours = tx.last_texts(guest, echo::TEXTS_REMEMBERED).await?;
        let again = |words: String| async move {
            read_again(gate, rails, &words, rails.decide(&words)).await
        };
        let says = || pack.says(config);
        decision = beside_our_texts(again, decision, &text.body, rails, &ours, says).await;
    }
    let decision = with_provider(decision, text.autoresponse.as_deref());
    let decision = of_channel(decision, text.profile());
    if step.is_recorded() {
        step.set("seven.verdict", decision.verdict.as_str());
        step.set("seven.message_length", text.body.chars().count());
        let hits: Vec<String> = decision
            .hits
            .iter()
            .map(|hit| hit.pattern_id.clone())
            .collect();
        let first = decision
            .hits
            .first()
            .map_or("none", |hit| hit.layer.as_str());
        step.set("seven.guardrail_triggered", first);
        step.set("seven.guardrail.hits", hits);
        if let Some(keyword) = &decision.keyword {
            step.tell("seven.keyword", &keyword.pattern_id);
        }
        if let Some(likely) = &decision.likely {
            step.set("seven.likely", likely.kind.as_str());
        }
    }
    if matters(&decision) {
        trace::keep();
    }
    Ok(decision)
}

/// If the first reader finds the text suspicious, the second reader judges it, too. The second
/// reader needs a CPU core for about 20 ms and runs on a thread that serves no other guest. If the
/// second reader fails, the first reader's decision applies.
async fn read_again(gate: &Gate, rails: &Guardrails, words: &str, first: Decision) -> Decision {
    if !gate.second_reader || !first.is_suspicious() {
        return first;
    }
    let began = Instant::now();
    let again = words.to_owned();
    let second = tokio::task::spawn_blocking(move || Reader::bundled()?.read(&again));
    let second = second.await.map_err(|error| error.to_string());
    let second = second.and_then(|read| read.map_err(|error| error.to_string()));
    metrics()
        .second_readings
        .with_label_values(&[])
        .observe(began.elapsed().as_secs_f64());
    match second {
        Ok(second) => rails.weigh(first, &second),
        Err(error) => {
            tracing::error!(
                error,
                "the second reader failed; the first reader's result is used"
            );
            first
        }
    }
}

/// Drops the parts of a decision that have no meaning on the channel: keywords that are commands
/// only in text messages, and a machine as the author. Keeps an opt-out, which the channel answers
/// in its own way. If the text is also a cry for help, drops the opt-out, too.
fn of_channel(mut decision: Decision, profile: &ChannelProfile) -> Decision {
    if !profile.machines {
        decision.author = Author::Guest;
    }
    if profile.commands {
        return decision;
    }
    let urgent = decision.hits.iter().any(|hit| hit.layer.is_urgent());
    let holds = |keyword: &Keyword| match keyword.intent {
        Intent::Privacy | Intent::Delete => true,
        Intent::OptOut => !urgent,
        Intent::OptIn | Intent::Help | Intent::Affirm => false,
    };
    decision.keyword = decision.keyword.filter(holds);
    if matches!(&decision.verdict, Verdict::Keyword(keyword) if !holds(keyword)) {
        decision.verdict = Verdict::Pass;
    }
    let asks_to_stop = |likely: &Likely| likely.kind == LikelyKind::OptOut;
    decision.likely = decision.likely.filter(|likely| !asks_to_stop(likely));
    decision
}

/// Applies the command that the provider reports, whatever the text says. The provider has already
/// blocked or unblocked the number (D7).
fn with_provider(decision: Decision, verdict: Option<&str>) -> Decision {
    let Some(said) = verdict
        .and_then(provider::keyword)
        .filter(|said| said.intent != Intent::Help)
    else {
        return decision;
    };
    if decision
        .keyword
        .is_some_and(|keyword| keyword.intent == said.intent)
    {
        return decision;
    }
    let urgent = decision.hits.iter().any(|hit| hit.layer.is_urgent());
    let verdict = if urgent {
        decision.verdict
    } else {
        Verdict::Keyword(said)
    };
    Decision {
        verdict,
        keyword: Some(said),
        likely: None,
        author: Author::Guest,
        ..decision
    }
}
