//! Each text has one unbroken trace from webhook to receipt, even if the text is delayed or
//! repeated (OBS-1, OBS-6). Important traces are kept (OBS-36). If the collector is unreachable,
//! only spans are lost (OBS-25). No trace holds a guest's number or words (OBS-14).

mod hosted;
mod kept;
mod outage;

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use seven_carrier_sim::{Text, Texted};
use seven_domain::TraceContext;
use seven_settings::Worker;
use seven_testkit::{
    Scratch,
    collector::{Collector, Span},
};

use crate::harness::{House, Wanted, house, until};

/// Names of the spans that a text makes on its way from the webhook to its answer's receipt.
const WAY: [&str; 6] = [
    "seven.ingress",
    "seven.gate",
    "seven.swarm",
    "seven.envelope",
    "seven.sender",
    "seven.receipts",
];
const QUESTION: &str = "any italian place around the harbour?";

fn settings(collector: &Collector, sample: f64) -> String {
    format!(
        "telemetry.otlp_endpoint = \"{}\"\ntelemetry.sample = {sample:?}\n",
        collector.url()
    )
}

/// Returns the id that ingress gives to the trace of this text.
fn trace_of(text: &Texted) -> String {
    TraceContext::of_text("telnyx", &text.message_id).trace_hex()
}

fn by_trace(spans: Vec<Span>) -> BTreeMap<String, Vec<Span>> {
    let mut traces: BTreeMap<String, Vec<Span>> = BTreeMap::new();
    for span in spans {
        traces.entry(span.trace_id.clone()).or_default().push(span);
    }
    traces
}

/// Asserts that the trace begins with the webhook, and that every other span has its parent in the
/// same trace.
fn assert_unbroken(spans: &[Span]) {
    let ids: BTreeSet<_> = spans.iter().map(|span| span.span_id.as_str()).collect();
    assert_eq!(ids.len(), spans.len(), "span ids are unique");
    for span in spans {
        assert_eq!(
            span.parent.is_empty(),
            span.name == "seven.ingress",
            "only webhooks begin: {span:?}"
        );
        assert!(
            span.parent.is_empty() || ids.contains(span.parent.as_str()),
            "its parent is missing: {span:?}"
        );
        assert!(span.started_nanos <= span.ended_nanos && span.ended_nanos > 0);
    }
    assert!(
        spans.iter().any(|span| span.parent.is_empty()),
        "no webhook"
    );
}

fn named<'a>(spans: &'a [Span], name: &str) -> Vec<&'a Span> {
    spans.iter().filter(|span| span.name == name).collect()
}

fn assert_whole(spans: &[Span]) {
    assert_unbroken(spans);
    for name in WAY {
        assert!(
            !named(spans, name).is_empty(),
            "no {name}: {:?}",
            spans.iter().map(|s| &s.name).collect::<Vec<_>>()
        );
    }
}

/// The text before the trace id in an exemplar.
const TRACE_LABEL: &str = "# {trace_id=\"";

/// Returns the metrics as OpenMetrics, the format whose exemplars name traces.
async fn openmetrics(house: &House) -> String {
    let url = format!("{}/metrics", house.stack.ops_url.as_deref().unwrap());
    let asked = reqwest::Client::new()
        .get(url)
        .header("accept", "application/openmetrics-text; version=1.0.0");
    let answer = asked.send().await.unwrap();
    assert_eq!(
        answer.headers()["content-type"],
        "application/openmetrics-text; version=1.0.0; charset=utf-8"
    );
    answer.text().await.unwrap()
}

/// Waits until every text that we sent was reported as delivered.
async fn delivered(house: &House) {
    until("all is delivered", Duration::from_secs(20), || async {
        house
            .number("select count(*) from outbound_messages where state <> 'delivered'")
            .await
            == 0
    })
    .await;
}

fn guest(n: usize) -> String {
    format!("+120355501{n:02}")
}

/// Starts logging to a file. Returns the file's folder, which is deleted when dropped, and the
/// file. Only the first call in a process takes effect.
fn logging() -> (Scratch, std::path::PathBuf) {
    let scratch = Scratch::new("traces-log").unwrap();
    let file = scratch.path().join("run.log");
    seven_telemetry::init(
        seven_telemetry::LogTarget::File(&file),
        "debug,sqlx=warn,async_nats=warn,hyper=warn,hyper_util=warn,h2=warn,reqwest=warn",
    )
    .unwrap();
    (scratch, file)
}

#[tokio::test] // OBS-1, OBS-2, OBS-28, OBS-6, OBS-13, OBS-14, OBS-25, DATA-5, DATA-48, PROD-46
async fn a_text_has_one_trace_through_duplicates_lost_signals_and_delays() {
    const GUESTS: usize = 9;
    let collector = Collector::start().await.unwrap();
    let workers = Worker::ALL
        .into_iter()
        .filter(|w| *w != Worker::AgentSwarm)
        .collect();
    let wanted = Wanted {
        workers,
        extra: settings(&collector, 1.0),
        ..Wanted::default()
    };
    let mut house = house("traces_whole", wanted).await;
    let (_kept, log) = logging();
    // The carrier refuses three sends with a temporary error, so that these texts wait as due rows
    // and are sent again.
    let rule = |nth| seven_carrier_sim::Rule {
        matcher: seven_carrier_sim::Matcher {
            nth: Some(nth),
            ..Default::default()
        },
        fault: seven_carrier_sim::Fault::Error("40006".to_owned()),
        times: None,
    };
    let rules = (1..=GUESTS as u32).step_by(3).map(rule).collect();
    house
        .stack
        .sim
        .set_rules(seven_carrier_sim::Plan {
            rules,
            ..Default::default()
        })
        .unwrap();
    let texts: Vec<Texted> = (0..GUESTS)
        .map(|n| house.text(&guest(n), QUESTION))
        .collect();
    until(
        "the first texts are stored",
        Duration::from_secs(15),
        || async { house.number("select count(*) from inbound_messages").await == GUESTS as i64 },
    )
    .await;
    // The first guest sends a second text, which is normally answered in the same turn as the first
    // text.
    let second = house.text(&guest(0), "and is it expensive there?");
    // The carrier delivers two of the texts twice.
    for n in [1, 2] {
        let copy = texts[n].clone();
        let again = Text {
            from: guest(n),
            text: Some(QUESTION.to_owned()),
            event_id: Some(copy.event_id),
            message_id: Some(copy.message_id),
            ..Text::default()
        };
        house.stack.sim.text(again).unwrap();
    }
    // No swarm runs yet to take the signals, so the sweep repeats them.
    until("every text was swept", Duration::from_secs(15), || async {
        house
            .number("select count(*) from inbound_messages where sweeps = 0")
            .await
            == 0
    })
    .await;
    house.stack.spawn(Worker::AgentSwarm, None).await.unwrap();
    house.settle(GUESTS as i64 + 1).await;
    delivered(&house).await;
    assert!(
        house
            .number("select count(*) from outbound_messages where tries > 0")
            .await
            > 0,
        "no text was put off"
    );
    let open = openmetrics(&house).await;
    house.stop().await;

    let traces = by_trace(collector.spans());
    let expected: BTreeSet<_> = texts.iter().chain([&second]).map(trace_of).collect();
    assert_eq!(
        traces.keys().cloned().collect::<BTreeSet<_>>(),
        expected,
        "one trace for each text and no other"
    );
    // Every exemplar of a histogram bucket names one of these traces.
    let examples: BTreeSet<String> = open
        .lines()
        .filter_map(|line| Some(line.split_once(TRACE_LABEL)?.1[..32].to_owned()))
        .collect();
    assert!(
        open.ends_with("\n# EOF\n") && !examples.is_empty() && examples.is_subset(&expected),
        "{examples:?}"
    );
    let mut swept = 0;
    for text in &texts {
        let spans = &traces[&trace_of(text)];
        assert_whole(spans);
        swept += named(spans, "seven.sweep").len();
    }
    let names: BTreeMap<String, usize> =
        traces
            .values()
            .flatten()
            .fold(BTreeMap::new(), |mut all, span| {
                *all.entry(span.name.clone()).or_default() += 1;
                all
            });
    assert!(swept > 0, "no sweep in any trace: {names:?}");
    assert!(
        traces
            .values()
            .any(|spans| !named(spans, "seven.due").is_empty()),
        "no delay in any trace"
    );

    // The second text's trace links to the turn that answered both texts, or contains a separate
    // turn.
    let other = &traces[&trace_of(&second)];
    assert_unbroken(other);
    let joined = named(other, "seven.joined");
    assert!(!joined.is_empty() || !named(other, "seven.turn").is_empty());
    for span in joined {
        assert_eq!(span.links[0].0, trace_of(&texts[0]));
    }

    let spans: Vec<&Span> = traces.values().flatten().collect();
    let with = |name: &str, key: &str| {
        assert!(
            spans
                .iter()
                .any(|s| s.name == name && s.attributes.contains_key(key)),
            "no {key} on any {name}"
        );
    };
    for (name, key) in [
        ("seven.ingress", "http.response.status_code"),
        ("seven.gate", "messaging.destination.name"),
        ("seven.gate", "seven.guest_phone_hash"),
        ("seven.node.compliance_gate", "seven.guardrail_triggered"),
        ("seven.turn", "seven.active_agent"),
        ("seven.turn", "seven.validation_result"),
        ("seven.node.persona_envelope", "seven.original_len"),
        ("seven.node.persona_envelope", "seven.final_len"),
        ("seven.node.persona_envelope", "seven.segments"),
        ("seven.node.presend_check", "seven.verdict"),
        ("seven.node.provider_call", "error.type"),
        ("seven.receipts", "seven.receipt.status"),
    ] {
        with(name, key);
    }
    assert!(spans.iter().all(|s| {
        s.attributes
            .get("seven.casino_id")
            .is_none_or(|id| !id.is_empty())
    }));
    assert_eq!(spans[0].resource["service.namespace"], "seven");

    // No span or log line holds the guest's number or words.
    let log = std::fs::read_to_string(log).unwrap();
    let lines: Vec<serde_json::Value> = log
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(
        expected
            .iter()
            .all(|trace| lines.iter().any(|line| line["trace_id"] == trace.as_str()))
    );
    let judged = lines
        .iter()
        .find(|line| line["message"] == "text judged")
        .unwrap();
    for field in [
        "timestamp",
        "severity",
        "logger",
        "trace_id",
        "span_id",
        "stage",
        "casino",
    ] {
        assert!(judged[field].is_string(), "{field}: {judged}");
    }
    let told = format!("{spans:?}\n{log}").to_lowercase();
    for n in 0..GUESTS {
        assert!(!told.contains(guest(n).trim_start_matches("+1")), "a phone");
    }
    for words in [QUESTION, "italian", "expensive there"] {
        assert!(!told.contains(words), "words of a guest: {words}");
    }
    // Spans and log lines hold no words of the answer either.
    assert!(!told.contains("nonna salvia"), "words of an answer");
}
