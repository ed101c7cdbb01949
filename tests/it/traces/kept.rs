//! Tests which traces are exported even if no trace is sampled. Tests also that a trace stays whole
//! across processes and after a crash.

use std::time::Duration;

use seven_carrier_sim::{Fault, Matcher, Plan, Rule};
use seven_settings::Worker;
use seven_testkit::collector::Collector;

use super::{
    QUESTION, assert_unbroken, assert_whole, by_trace, delivered, guest, named, settings, trace_of,
};
use crate::harness::{Wanted, house, until};

#[tokio::test] // OBS-3, OBS-36, PROD-7
async fn consent_guardrails_and_failures_are_kept_at_sample_zero() {
    let collector = Collector::start().await.unwrap();
    // The gate runs as a separate process. Ingress must therefore hold its span until the gate's
    // process announces that the trace is to be kept.
    let workers = Worker::ALL
        .into_iter()
        .filter(|w| *w != Worker::ComplianceGate)
        .collect();
    // Runs in real time, with long deadlines. Otherwise an ordinary text could fail on a slow
    // machine, and its trace would be exported, too.
    let extra = settings(&collector, 0.0) + "time.pauses = 0.0\n";
    let wanted = Wanted {
        scale: 1.0,
        workers,
        extra,
        ..Wanted::default()
    };
    let house = house("traces_kept", wanted).await;
    let refused = Rule {
        matcher: Matcher {
            to: Some(guest(3)),
            ..Matcher::default()
        },
        fault: Fault::Error("40001".to_owned()),
        times: None,
    };
    house
        .stack
        .sim
        .set_rules(Plan {
            rules: vec![refused],
            ..Plan::default()
        })
        .unwrap();
    let _gate = house.process("compliance-gate", None);
    let ordinary = [0, 4, 5].map(|n| house.text(&guest(n), QUESTION));
    let stop = house.text(&guest(1), "STOP");
    let cry = house.text(
        &guest(2),
        "I think I have a gambling problem, I lost the rent again",
    );
    let failed = house.text(&guest(3), QUESTION);
    house.settle(6).await;
    until("what matters has come", Duration::from_secs(15), || async {
        let traces = by_trace(collector.spans());
        let has = |text, name: &str| {
            traces
                .get(&trace_of(text))
                .is_some_and(|spans| !named(spans, name).is_empty())
        };
        // The gate's process may finish its spans later than the others.
        [&stop, &cry, &failed]
            .into_iter()
            .all(|text| has(text, "seven.ingress") && has(text, "seven.gate"))
            && has(&stop, "seven.receipts")
            && has(&cry, "seven.receipts")
            && has(&failed, "seven.node.provider_call")
    })
    .await;
    house.stop().await;

    let traces = by_trace(collector.spans());
    for text in &ordinary {
        let told = traces.get(&trace_of(text));
        assert!(told.is_none(), "an ordinary text at sample 0: {told:#?}");
    }
    assert_eq!(traces.len(), 3);
    for text in [&stop, &cry, &failed] {
        assert_unbroken(&traces[&trace_of(text)]);
    }
    let gate = |text| {
        named(&traces[&trace_of(text)], "seven.node.compliance_gate")[0]
            .attributes
            .clone()
    };
    assert!(gate(&stop)["seven.keyword"].starts_with("optout."));
    assert_eq!(
        gate(&cry)["seven.guardrail_triggered"],
        "responsible_gaming"
    );
    let failed = &traces[&trace_of(&failed)];
    assert!(
        named(failed, "seven.node.provider_call")
            .iter()
            .any(|span| span.error.is_some())
    );
    assert!(
        !named(failed, "seven.turn").is_empty(),
        "what went before the failure is there"
    );
    let services: std::collections::BTreeSet<_> = traces
        .values()
        .flatten()
        .map(|span| span.resource["service.name"].as_str())
        .collect();
    assert_eq!(
        services.into_iter().collect::<Vec<_>>(),
        ["seven-compliance-gate", "seven-stack"]
    );
}

#[tokio::test] // OBS-6, SMS-6
async fn a_gate_that_dies_after_its_commit_breaks_no_trace() {
    let collector = Collector::start().await.unwrap();
    let workers = Worker::ALL
        .into_iter()
        .filter(|w| *w != Worker::ComplianceGate)
        .collect();
    let wanted = Wanted {
        workers,
        extra: settings(&collector, 1.0),
        ..Wanted::default()
    };
    let house = house("traces_crash", wanted).await;
    let mut doomed = house.process("compliance-gate", Some("gate.after_commit"));
    let text = house.text(&guest(0), QUESTION);
    let status = tokio::time::timeout(Duration::from_secs(20), doomed.wait())
        .await
        .unwrap()
        .unwrap();
    assert!(!status.success());
    let _heir = house.process("compliance-gate", None);
    house.settle_within(1, Duration::from_secs(45)).await;
    delivered(&house).await;
    until(
        "the heir's span has come",
        Duration::from_secs(10),
        || async {
            collector
                .spans()
                .iter()
                .any(|span| span.name == "seven.gate")
        },
    )
    .await;
    house.stop().await;
    let traces = by_trace(collector.spans());
    assert_eq!(traces.len(), 1);
    assert_whole(&traces[&trace_of(&text)]);
}
