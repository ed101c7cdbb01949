//! Finds the texts with one unbroken trace, and the gaps in the other traces. Pure;
//! `./scripts/bench` and `./scripts/chaos` use it.

use std::collections::{BTreeMap, HashMap, HashSet};

use seven_testkit::collector::Span;

/// Spans that a text's trace must have if the text is answered and its answer is delivered.
const WAY: [&str; 6] = [
    "seven.ingress",
    "seven.gate",
    "seven.swarm",
    "seven.envelope",
    "seven.sender",
    "seven.receipts",
];
/// Spans that a text's trace must have if the turn of another text answered the text. The later
/// spans are in the trace of that other text.
const JOINED: [&str; 3] = ["seven.ingress", "seven.gate", "seven.joined"];

/// Number of texts examined, number of whole traces, and how often each gap occurs in the other
/// traces.
#[derive(Debug, Default, PartialEq, Eq, serde::Serialize)]
pub(crate) struct Wholeness {
    pub(crate) texts: usize,
    pub(crate) whole: usize,
    pub(crate) lacking: BTreeMap<String, usize>,
    /// Trace ids of some broken traces.
    pub(crate) broken: Vec<String>,
}

/// Maximum number of broken traces that are listed by id.
const NAMED: usize = 10;

pub(crate) fn by_trace(spans: &[Span]) -> HashMap<&str, Vec<&Span>> {
    let mut traces: HashMap<&str, Vec<&Span>> = HashMap::new();
    for span in spans {
        traces.entry(&span.trace_id).or_default().push(span);
    }
    traces
}

/// Examines every trace that has the span of a receipt. A trace is whole if it begins with the
/// webhook's span and the parent of each span is present.
pub(crate) fn reaching(spans: &[Span]) -> Wholeness {
    let mut found = Wholeness::default();
    for (id, spans) in by_trace(spans) {
        if spans.iter().any(|span| span.name == "seven.receipts") {
            found.add(id, gap(&spans));
        }
    }
    found
}

/// Examines the traces of these texts. A trace is whole if it has every span from webhook to
/// delivery and the parent of each span. If the turn of another text answered the text, the trace
/// must link to that other text's trace, and both must be whole.
pub(crate) fn of_texts<'a>(spans: &[Span], texts: impl IntoIterator<Item = &'a str>) -> Wholeness {
    let traces = by_trace(spans);
    let mut found = Wholeness::default();
    for text in texts {
        found.add(text, lack(&traces, text));
    }
    found
}

fn lack(traces: &HashMap<&str, Vec<&Span>>, text: &str) -> Option<String> {
    let Some(spans) = traces.get(text) else {
        return Some("no span at all".to_owned());
    };
    let has = |name: &str| spans.iter().any(|span| span.name == name);
    let turn = spans
        .iter()
        .find(|span| span.name == "seven.joined")
        .and_then(|joined| joined.links.first());
    let way = if turn.is_some() {
        &JOINED[..]
    } else {
        &WAY[..]
    };
    if let Some(missing) = way.iter().find(|name| !has(name)) {
        return Some(format!("no {missing}"));
    }
    if let Some(gap) = gap(spans) {
        return Some(gap);
    }
    match turn {
        Some((turn, _)) if turn != text => {
            lack(traces, turn).map(|lack| format!("the answering text's trace: {lack}"))
        }
        Some(_) => Some("linked to itself".to_owned()),
        None => {
            let delivered = |span: &&&Span| {
                span.attributes
                    .get("seven.receipt.status")
                    .is_some_and(|s| s == "delivered")
            };
            let arrived = spans
                .iter()
                .any(|span| delivered(&span) && span.name == "seven.receipts");
            (!arrived).then(|| "no receipt of delivery".to_owned())
        }
    }
}

/// Returns the gap that breaks a trace: no webhook at its beginning, or a span without its parent.
fn gap(spans: &[&Span]) -> Option<String> {
    let ids: HashSet<&str> = spans.iter().map(|span| span.span_id.as_str()).collect();
    if !spans
        .iter()
        .any(|span| span.parent.is_empty() && span.name == "seven.ingress")
    {
        return Some("no webhook".to_owned());
    }
    let orphan = spans
        .iter()
        .find(|span| !span.parent.is_empty() && !ids.contains(span.parent.as_str()));
    orphan.map(|span| format!("no parent of {}", span.name))
}

// === impl Wholeness ===

impl Wholeness {
    fn add(&mut self, trace_id: &str, lack: Option<String>) {
        self.texts += 1;
        match lack {
            None => self.whole += 1,
            Some(lack) => {
                *self.lacking.entry(lack).or_default() += 1;
                if self.broken.len() < NAMED {
                    self.broken.push(trace_id.to_owned());
                }
            }
        }
    }

    /// Returns the share of whole traces as a fraction between 0 and 1; 1 for no texts.
    pub(crate) fn share(&self) -> f64 {
        if self.texts == 0 {
            1.0
        } else {
            self.whole as f64 / self.texts as f64
        }
    }

    /// Returns the gaps of the broken traces, in words.
    pub(crate) fn lacks(&self) -> String {
        let said: Vec<String> = self
            .lacking
            .iter()
            .map(|(lack, n)| format!("{lack}: {n}"))
            .collect();
        said.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(trace: &str, id: &str, parent: &str, name: &str) -> Span {
        Span {
            trace_id: trace.into(),
            span_id: id.into(),
            parent: parent.into(),
            name: name.into(),
            kind: "Internal".into(),
            started_nanos: 1,
            ended_nanos: 2,
            attributes: [("seven.receipt.status".to_owned(), "delivered".to_owned())].into(),
            links: Vec::new(),
            error: None,
            resource: BTreeMap::default(),
        }
    }

    fn way(trace: &str) -> Vec<Span> {
        let chain = WAY.iter().enumerate();
        chain
            .map(|(n, name)| {
                span(
                    trace,
                    &(n + 1).to_string(),
                    &n.to_string().replace('0', ""),
                    name,
                )
            })
            .collect()
    }

    #[test]
    fn a_trace_without_its_webhook_or_a_parent_is_broken() {
        let mut spans = Vec::new();
        for (trace, root, parent) in [
            ("whole", true, "1"),
            ("headless", false, "1"),
            ("gap", true, "9"),
        ] {
            if root {
                spans.push(span(trace, "1", "", "seven.ingress"));
            }
            spans.push(span(trace, "2", parent, "seven.receipts"));
        }
        spans.push(span("under way", "1", "", "seven.ingress"));
        let found = reaching(&spans);
        assert_eq!((found.texts, found.whole, found.broken.len()), (3, 1, 2));
        assert_eq!(
            found.lacks(),
            "no parent of seven.receipts: 1, no webhook: 1"
        );
    }

    #[test]
    fn every_stage_every_parent_and_the_delivery_are_asked_for() {
        let all = |spans: &[Span], texts: &[&str]| of_texts(spans, texts.iter().copied());
        assert_eq!(all(&way("t"), &["t"]).share(), 1.0);
        assert_eq!(all(&way("t"), &["t", "u"]).lacks(), "no span at all: 1");
        for (n, stage) in WAY.iter().enumerate() {
            let mut spans = way("t");
            spans.remove(n);
            assert_eq!(all(&spans, &["t"]).lacks(), format!("no {stage}: 1"));
        }
        let mut spans = way("t");
        spans.push(span("t", "x", "gone", "seven.turn"));
        assert_eq!(all(&spans, &["t"]).lacks(), "no parent of seven.turn: 1");
        let mut spans = way("t");
        spans[5]
            .attributes
            .insert("seven.receipt.status".into(), "sent".into());
        assert_eq!(all(&spans, &["t"]).lacks(), "no receipt of delivery: 1");
    }

    #[test]
    fn a_text_answered_with_another_goes_on_in_that_ones_trace() {
        let joined = |turn: &str| {
            let mut spans = way("t");
            spans.extend([
                span("u", "1", "", "seven.ingress"),
                span("u", "2", "1", "seven.gate"),
            ]);
            let link = vec![(turn.to_owned(), "3".to_owned())];
            spans.push(Span {
                links: link,
                ..span("u", "3", "1", "seven.joined")
            });
            spans
        };
        assert_eq!(of_texts(&joined("t"), ["t", "u"]).whole, 2);
        assert_eq!(
            of_texts(&joined("nobody"), ["u"]).lacks(),
            "the answering text's trace: no span at all: 1"
        );
        assert_eq!(of_texts(&joined("u"), ["u"]).whole, 0);
    }
}
