//! Spans: no personal data in them, and how many texts have one unbroken trace in spite of everything.

use std::collections::{HashMap, HashSet};

use seven_testkit::collector::Span;

use super::{Finding, logs::names};

/// Names, attributes, links, errors and resources alike. `phones` as the carrier writes them, `texts` as guests wrote them.
pub(crate) fn personal_data(spans: &[Span], phones: &[String], texts: &[&str]) -> Finding {
    let mut finding = Finding::new("no personal data in spans", "spans");
    let digits: HashSet<&str> = phones.iter().map(|p| p.trim_start_matches('+')).collect();
    for span in spans {
        let all = format!("{span:?}").to_lowercase();
        let told = texts.iter().any(|text| all.contains(text)) || names(&all, &digits);
        finding.look(told.then(|| format!("{} {}", span.trace_id, span.name)));
    }
    finding
}

/// Of the traces that reach a receipt: how many there are, and how many of them begin with their webhook and miss no parent. A killed
/// process takes the spans of its last half second along.
pub(crate) fn unbroken(spans: &[Span]) -> (usize, usize) {
    let mut traces: HashMap<&str, Vec<&Span>> = HashMap::new();
    for span in spans {
        traces.entry(&span.trace_id).or_default().push(span);
    }
    let reached = traces.values().filter(|spans| spans.iter().any(|span| span.name == "seven.receipts"));
    let reached: Vec<_> = reached.collect();
    let whole = |spans: &&&Vec<&Span>| {
        let ids: HashSet<&str> = spans.iter().map(|span| span.span_id.as_str()).collect();
        let begins = spans.iter().any(|span| span.parent.is_empty() && span.name == "seven.ingress");
        begins && spans.iter().all(|span| span.parent.is_empty() || ids.contains(span.parent.as_str()))
    };
    (reached.len(), reached.iter().filter(whole).count())
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
            attributes: [("seven.a".to_owned(), "b".to_owned())].into(),
            links: Vec::new(),
            error: None,
            resource: Default::default(),
        }
    }

    #[test]
    fn finds_numbers_and_words_wherever_they_stand() {
        let mut spans = vec![span("t", "1", "", "seven.ingress"); 3];
        spans[1].attributes.insert("x".into(), "to +12035550101".into());
        spans[2].error = Some("said Any Italian place?".into());
        let finding = personal_data(&spans, &["+12035550101".to_owned()], &["any italian place?"]);
        assert_eq!((finding.examined, finding.violations.len()), (3, 2));
    }

    #[test]
    fn a_trace_without_its_webhook_or_a_parent_is_broken() {
        let mut spans = Vec::new();
        for (trace, root, parent) in [("whole", true, "1"), ("headless", false, "1"), ("gap", true, "9")] {
            if root {
                spans.push(span(trace, "1", "", "seven.ingress"));
            }
            spans.push(span(trace, "2", parent, "seven.receipts"));
        }
        spans.push(span("under way", "1", "", "seven.ingress"));
        assert_eq!(unbroken(&spans), (3, 1));
    }
}
