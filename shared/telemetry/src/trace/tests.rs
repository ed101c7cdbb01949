use seven_domain::{CasinoId, TraceContext};

use super::*;

fn casino() -> CasinoId {
    "silver_birch".parse().unwrap()
}

fn load_test() -> CasinoId {
    "load_test_casino".parse().unwrap()
}

/// One test covers everything, because recording is global to the process.
#[tokio::test(flavor = "current_thread")]
async fn spans_of_a_text_hang_together() {
    assert!(!on() && step("seven.nothing", "").is_recorded() == on());
    let (mut outbox, mut kept) = start(
        Sample {
            share: 0.0,
            of: [(load_test(), 1.0)].into(),
        },
        100,
    );

    // Spans of an unsampled trace are buffered and not exported.
    let text = TraceContext {
        sampled: false,
        ..TraceContext::of_text("telnyx", "m1")
    };
    let mut published = None;
    consume("gate", &casino(), text, Kind::Consumer, async {
        let mut outer = step("seven.node.", "router").entered();
        outer.set("seven.retry_count", 1u32);
        drop(step("seven.model", ""));
        drop(outer);
        published = outgoing(&text.to_string());
    })
    .await;
    let published = published.unwrap();
    assert_eq!(
        (published.trace_id, published.sampled),
        (text.trace_id, false)
    );
    assert_ne!(published.span_id, text.span_id);

    // A later stage fails, so the whole trace is exported. Each span's parent is among the exported
    // spans or is the webhook's span.
    consume("sender", &casino(), published, Kind::Consumer, async {
        fail("refused");
    })
    .await;
    let spans = outbox.next(100).await.unwrap();
    outbox.done(spans.len());
    let names: Vec<_> = spans.iter().map(|span| span.name.as_ref()).collect();
    assert_eq!(
        names,
        [
            "seven.model",
            "seven.node.router",
            "seven.gate",
            "seven.sender"
        ]
    );
    let ids: Vec<_> = spans
        .iter()
        .map(|span| span.span_id)
        .chain([text.span_id])
        .collect();
    assert!(
        spans
            .iter()
            .all(|span| span.trace_id == text.trace_id && ids.contains(&span.parent.unwrap()))
    );
    assert_eq!(kept.next().await, Some(text.trace_id));

    // Later spans of a kept trace are exported, even if their message lost the sampled flag.
    consume("receipts", &casino(), text, Kind::Consumer, async {}).await;
    assert_eq!(outbox.next(100).await.unwrap()[0].name, "seven.receipts");

    // If a message belongs to a different trace from its row, the work moves into the row's trace.
    let stray = TraceContext::start();
    let row = TraceContext::of_text("telnyx", "m2");
    consume("receipts", &casino(), stray, Kind::Consumer, async {
        adopt(&row.to_string());
    })
    .await;
    let span = &outbox.next(100).await.unwrap()[0];
    assert_eq!(
        (span.trace_id, span.parent),
        (row.trace_id, Some(row.span_id))
    );

    // Work that only waited exports no span, unless it had steps.
    consume("swarm", &casino(), row, Kind::Consumer, async {
        ended("wait", true);
    })
    .await;
    consume("swarm", &casino(), row, Kind::Consumer, async {
        drop(step("seven.turn", ""));
        ended("wait", true);
    })
    .await;
    assert_eq!(outbox.next(100).await.unwrap().len(), 2);

    // All traces of a casino whose own share is 1 are exported.
    let theirs = TraceContext::of_text("telnyx", "m4");
    let told = serve("ingress", async {
        assume(theirs);
        let before = current().unwrap().sampled;
        concern(&load_test());
        (before, current().unwrap().sampled)
    });
    assert_eq!(told.await, (false, true));
    assert_eq!(outbox.next(100).await.unwrap()[0].trace_id, theirs.trace_id);
    assert!(!begin().sampled);

    // A discarded span never becomes a message's parent, and a span that is a parent is always
    // exported.
    consume("sender", &casino(), row, Kind::Consumer, async {
        discard();
        assert_eq!(outgoing(&row.to_string()), None);
    })
    .await;
    consume("swarm", &casino(), row, Kind::Consumer, async {
        assert!(outgoing(&row.to_string()).is_some());
        ended("wait", true);
    })
    .await;
    assert_eq!(outbox.next(100).await.unwrap()[0].name, "seven.swarm");

    // Spans beyond the limit are dropped and counted.
    let before = crate::metrics()
        .spans_dropped
        .with_label_values(&["full"])
        .get();
    outbox.done(6);
    for _ in 0..150 {
        consume("gate", &casino(), row, Kind::Consumer, async {}).await;
    }
    assert_eq!(
        crate::metrics()
            .spans_dropped
            .with_label_values(&["full"])
            .get()
            - before,
        50
    );

    // The limit can be lowered while the exporter takes no spans.
    outbox.done(100);
    outbox.limit(10);
    for _ in 0..15 {
        consume("gate", &casino(), row, Kind::Consumer, async {}).await;
    }
    assert_eq!(
        crate::metrics()
            .spans_dropped
            .with_label_values(&["full"])
            .get()
            - before,
        55
    );
    outbox.limit(1_000);

    // Buffered spans are exported when another process announces their trace.
    let far = TraceContext {
        sampled: false,
        ..TraceContext::of_text("telnyx", "m3")
    };
    consume("ingress", &casino(), far, Kind::Consumer, async {}).await;
    let flood = outbox.next(1_000).await.unwrap();
    outbox.done(10);
    assert_eq!(flood.len(), 110);
    keep_trace(far.trace_id);
    assert_eq!(outbox.next(100).await.unwrap()[0].trace_id, far.trace_id);
    off();
    assert!(outbox.next(1).await.is_none());
}

#[test]
fn outside_of_any_work_nothing_happens() {
    adopt(&TraceContext::start().to_string());
    keep();
    fail("nothing");
    assert!(current().is_none() && outgoing("").is_none());
}
