//! Calculates from spans how much time a text spends in each step. Pure.

use std::collections::BTreeMap;

use serde::Serialize;
use seven_testkit::collector::Span;

use crate::whole_traces::by_trace;

/// The first span of a text's trace.
const FIRST: &str = "seven.ingress";

/// Medians over all spans of one name, in milliseconds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Step {
    pub(super) span: String,
    pub(super) traces: usize,
    /// Start of the span, counted from the end of the webhook's span; negative for spans inside the
    /// webhook's span.
    pub(super) begins: f64,
    pub(super) takes: f64,
}

/// Returns the steps in the order in which they begin. If a trace has several spans of one name,
/// only the first is used. Names that occur in fewer than half of the traces are left out.
pub(super) fn of(spans: &[Span]) -> Vec<Step> {
    let mut times: BTreeMap<&str, Vec<(f64, f64)>> = BTreeMap::new();
    let mut whole = 0;
    for spans in by_trace(spans).into_values() {
        let Some(accepted) = spans
            .iter()
            .find(|span| span.name == FIRST)
            .map(|span| span.ended_nanos)
        else {
            continue;
        };
        whole += 1;
        let mut first: BTreeMap<&str, &Span> = BTreeMap::new();
        for span in spans {
            let known = first.entry(&span.name).or_insert(span);
            if span.started_nanos < known.started_nanos {
                *known = span;
            }
        }
        for (name, span) in first {
            let takes = span.ended_nanos.saturating_sub(span.started_nanos);
            times.entry(name).or_default().push((
                millis(span.started_nanos) - millis(accepted),
                takes as f64 / 1e6,
            ));
        }
    }
    let usual = times
        .into_iter()
        .filter(|(_, times)| times.len() * 2 >= whole);
    let mut steps: Vec<Step> = usual
        .map(|(name, times)| Step {
            span: name.to_owned(),
            traces: times.len(),
            begins: median(times.iter().map(|(begins, _)| *begins)),
            takes: median(times.iter().map(|(_, takes)| *takes)),
        })
        .collect();
    steps.sort_by(|a, b| a.begins.total_cmp(&b.begins));
    steps
}

/// Converts a timestamp in nanoseconds to milliseconds since midnight (UTC). As a full timestamp,
/// an `f64` would have too few digits for fractions of a millisecond.
fn millis(nanos: u64) -> f64 {
    (nanos % 86_400_000_000_000) as f64 / 1e6
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values
        .get(values.len().saturating_sub(1) / 2)
        .copied()
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(trace: &str, name: &str, from_ms: u64, to_ms: u64) -> Span {
        Span {
            trace_id: trace.to_owned(),
            span_id: String::new(),
            parent: String::new(),
            name: name.to_owned(),
            kind: String::new(),
            started_nanos: from_ms * 1_000_000,
            ended_nanos: to_ms * 1_000_000,
            attributes: BTreeMap::new(),
            links: Vec::new(),
            error: None,
            resource: BTreeMap::new(),
        }
    }

    #[test]
    fn times_count_from_the_webhooks_answer() {
        let spans = [
            span("a", FIRST, 100, 104),
            span("a", "seven.gate", 105, 108),
            span("a", "seven.gate", 150, 151),
            span("b", FIRST, 200, 202),
            span("b", "seven.gate", 205, 210),
            span("c", FIRST, 300, 302),
            span("c", "seven.gate", 307, 309),
            span("c", "seven.fallback", 310, 311),
            span("d", "seven.gate", 1, 2),
        ];
        let step = |span: &str, traces, begins, takes| Step {
            span: span.to_owned(),
            traces,
            begins,
            takes,
        };
        assert_eq!(
            of(&spans),
            [step(FIRST, 3, -2.0, 2.0), step("seven.gate", 3, 3.0, 3.0)]
        );
        assert_eq!(of(&[]), []);
    }
}
