//! Explains why the host said something: the lines about one turn, for commands and pages.

use seven_host::{Record, record::Usage};
use seven_store::turns::ShownTurn;

use crate::phrases::sentence;

/// One line about a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// The kind of the line, such as `route` or `row`; several lines may have the same kind.
    pub name: &'static str,
    pub text: String,
}

/// Replaces each text of the guest and the host with the result of `hidden`.
pub fn mask(told: &mut ShownTurn, hidden: impl Fn(&str) -> String) {
    told.draft = hidden(&told.draft);
    for text in told.texts.as_array_mut().into_iter().flatten() {
        let masked = hidden(text["text"].as_str().unwrap_or_default());
        text["text"] = masked.into();
    }
    // Hides a tool's arguments, because they contain the guest's words. A tool's result and the
    // planner's note may repeat these words, so they are hidden, too.
    for call in told
        .record
        .get_mut("tools")
        .and_then(|tools| tools.as_array_mut())
        .into_iter()
        .flatten()
    {
        for part in ["arguments", "result"] {
            call[part] = "(hidden)".into();
        }
    }
    if let Some(note) = told.record.pointer_mut("/plan/conversation_note") {
        *note = "(hidden)".into();
    }
    // A finding quotes the reply, so the quotation is hidden, too.
    if let Some(findings) = told
        .record
        .get_mut("findings")
        .and_then(|findings| findings.as_array_mut())
    {
        findings.iter_mut().for_each(|finding| {
            if let Some(kind) = finding
                .get("unfounded")
                .and_then(|what| what.as_object()?.keys().next().cloned())
            {
                finding["unfounded"] = serde_json::json!({ kind: "(hidden)" });
            }
        });
    }
}

/// Returns the lines in the order of the turn's steps; the first names the turn, its agent and its
/// model.
///
/// # Errors
/// Fails when the turn's record cannot be parsed.
pub fn explained(told: &ShownTurn) -> Result<Vec<Line>, serde_json::Error> {
    let record: Record = serde_json::from_value(told.record.clone())?;
    let mut lines = Vec::new();
    let mut line = |name, text: String| lines.push(Line { name, text });
    let degraded = if record.degraded { ", degraded" } else { "" };
    let (id, agent, model) = (told.turn_id, &told.agent, &told.model);
    line("turn", format!("{id} by {agent} ({model}{degraded})"));
    for text in told.texts.as_array().into_iter().flatten() {
        line(
            "guest",
            text["text"].as_str().unwrap_or_default().to_owned(),
        );
    }
    line("path", record.path.join(" > "));
    if let Some(why) = &record.stood_in {
        let why = sentence(why);
        line("offline", format!("the hosted model did not answer: {why}"));
    }
    if let Some(route) = &record.route {
        let domain = route.domain.as_deref().unwrap_or("no domain");
        let (subject, sure) = (route.subject, route.confidence);
        line(
            "route",
            format!("{subject:?}, {domain}, confidence {sure:.2}"),
        );
    }
    if let Some(plan) = &record.plan {
        let (next, ready) = (&plan.next_topic, plan.offer_readiness);
        line("plan", format!("{next:?} next, offer readiness {ready:.2}"));
        if !plan.conversation_note.is_empty() {
            line("note", plan.conversation_note.clone());
        }
    }
    let grounded = if told.grounded {
        "grounded"
    } else {
        "not all of it answered"
    };
    line(
        "intent",
        format!("{} in {}, {grounded}", told.intent, told.language),
    );
    found(&record, &mut line);
    steps(&record, &mut line);
    line("draft", told.draft.clone());
    if let Some(kind) = told.disclosure_kind {
        line("disclosed", format!("that an AI writes ({kind})"));
    }
    let reason = told.reason.as_deref().map(sentence);
    let reason = reason.map_or_else(String::new, |reason| format!(": {reason}"));
    line("state", format!("{}{reason}", told.state));
    for text in told.sent.as_array().into_iter().flatten() {
        let field = |name: &str| text[name].as_str().unwrap_or_default().to_owned();
        let (id, state, segments) = (field("id"), field("state"), &text["segments"]);
        line("text", format!("{id} {state}, {segments} segment(s)"));
    }
    let trace = told.trace.split('-').nth(1).unwrap_or(&told.trace);
    line("trace", trace.to_owned());
    Ok(lines)
}

/// Adds lines for the content rows, the tool calls and the findings.
fn found(record: &Record, line: &mut impl FnMut(&'static str, String)) {
    for row in &record.context {
        let score = row.score.map(|score| format!(", score {score:.2}"));
        let score = score.unwrap_or_default();
        line("row", format!("{} {}{score}", row.id, row.name));
    }
    for call in &record.tools {
        let (name, arguments, result) = (&call.name, &call.arguments, &call.result);
        let text = format!("{name} {arguments} -> {result} ({} ms)", call.millis);
        line("tool", text);
    }
    for finding in &record.findings {
        line("finding", finding.feedback());
    }
}

/// Adds a line for each step, with its time and cost.
fn steps(record: &Record, line: &mut impl FnMut(&'static str, String)) {
    for step in &record.steps {
        let billed = step.usage.and_then(billed);
        let billed = billed.map_or_else(String::new, |billed| format!(", {billed}"));
        let failed = step.failed.as_deref();
        let failed = failed.map_or_else(String::new, |kind| format!(", failed ({kind})"));
        let kept = if step.kept {
            ", kept from an earlier try"
        } else {
            ""
        };
        let millis = step.micros as f64 / 1000.0;
        line(
            "step",
            format!("{} {millis:.1} ms{billed}{failed}{kept}", step.name),
        );
    }
    if let Some(billed) = billed(record.usage) {
        line("tokens", billed);
    }
}

/// Returns the tokens and dollars of a model's calls as text; `None` if no tokens were used.
fn billed(usage: Usage) -> Option<String> {
    let Usage {
        input_tokens,
        output_tokens,
        nano_dollars,
    } = usage;
    let dollars = nano_dollars as f64 / 1e9;
    (input_tokens + output_tokens > 0)
        .then(|| format!("{input_tokens} in, {output_tokens} out, ${dollars:.6}"))
}
