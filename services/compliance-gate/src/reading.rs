//! Judges a text, compares it with our latest texts to the guest, and writes the verdict to its
//! span.

use seven_compliance::{Author, Decision, Guardrails, Intent, Verdict, dialogue, echo, provider};
use seven_domain::{CasinoConfig, GuestHash, Language};
use seven_packs::{Pack, TextKey};
use seven_reader::Reader;
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
    let mut decision = read(gate, rails, &text.body).await;
    if needs_our_texts(&decision, &text.body) {
        let ours = tx.last_texts(guest, echo::TEXTS_REMEMBERED).await?;
        decision = beside_our_texts(gate, decision, &text.body, rails, &ours, || {
            pack_says(pack, config)
        })
        .await;
    }
    let decision = with_provider(decision, text.autoresponse.as_deref());
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

/// Judges the text with both readers. The second one takes a core for about 20 ms, on a thread that
/// serves no other guest. If it fails, the first reader's decision applies.
async fn read(gate: &Gate, rails: &Guardrails, words: &str) -> Decision {
    let first = rails.decide(words);
    if !gate.second_reader || !first.is_suspicious() {
        return first;
    }
    let began = std::time::Instant::now();
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

async fn beside_our_texts(
    gate: &Gate,
    decision: Decision,
    body: &str,
    rails: &Guardrails,
    ours: &[String],
    pack_says: impl Fn() -> Vec<String>,
) -> Decision {
    if decision.author == Author::Echo {
        return reacted_to(body, rails, ours, pack_says).unwrap_or(decision);
    }
    let decision = match echo::without_ours(body, ours) {
        Some(theirs) => match read(gate, rails, &theirs.whole()).await {
            alarm if matters(&alarm) => alarm,
            _ if theirs.added.is_empty() => return Decision::of(Author::Echo),
            _ => read(gate, rails, &theirs.added).await,
        },
        None => decision,
    };
    let asked = ours.first().is_some_and(|last| last.contains(['?', '¿']));
    let likely = decision
        .likely
        .filter(|likely| dialogue::holds(*likely, body, asked));
    Decision { likely, ..decision }
}

/// Returns whether the trace must be kept even if it is not sampled.
pub(crate) fn matters(decision: &Decision) -> bool {
    decision.keyword.is_some()
        || decision.likely.is_some()
        || !decision.hits.is_empty()
        || !matches!(decision.verdict, Verdict::Pass)
}

/// Returns whether our own texts are needed for the decision. Most texts contain no words that we
/// could have written, so no query is needed.
fn needs_our_texts(decision: &Decision, body: &str) -> bool {
    let in_words = decision
        .keyword
        .is_some_and(|keyword| keyword.pattern_id.contains(".nl."));
    echo::may_quote(body) || in_words || decision.likely.is_some() || !decision.hits.is_empty()
}

/// Returns the decision for a reaction that quotes a cry for help which we did not write: the guest
/// reacted to the guest's own words.
fn reacted_to(
    body: &str,
    rails: &Guardrails,
    ours: &[String],
    pack_says: impl Fn() -> Vec<String>,
) -> Option<Decision> {
    let quoted = echo::reaction(body)?.quoted;
    let own = rails.decide(&quoted);
    let cries = own.hits.iter().any(|hit| hit.layer.is_urgent());
    (cries && !echo::is_ours(&quoted, ours) && !echo::is_ours(&quoted, &pack_says())).then_some(own)
}

/// Returns every text of the pack as guests of this casino read it.
fn pack_says(pack: &Pack, config: &CasinoConfig) -> Vec<String> {
    let keys = TextKey::ALL.iter().filter(|key| pack.texts.has(**key));
    keys.flat_map(|key| Language::ALL.map(|language| pack.say(*key, language, config)))
        .collect()
}

/// Applies the command that the provider reports, whatever the text says, because the provider has
/// already blocked or unblocked the number (D7).
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
