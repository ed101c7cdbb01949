//! The spans of a turn that a hosted model answers.

use serde_json::json;
use seven_testkit::{
    collector::{Collector, Span},
    models::{Models, Play},
};

use super::{assert_whole, by_trace, delivered, guest, named, settings, trace_of};
use crate::{
    harness::{Wanted, house},
    hosted::{ANSWER, QUESTION, brain, content_with_all, settings as model_settings},
};

/// Lets these models answer one question, and returns the question's whole trace after the fleet
/// has stopped.
async fn trace_of_an_answer(unique: &str, models: &Models) -> Vec<Span> {
    let collector = Collector::start().await.unwrap();
    let extra = settings(&collector, 1.0) + model_settings(models).as_str();
    let house = house(
        unique,
        Wanted {
            extra,
            ..Wanted::default()
        },
    )
    .await;
    let text = house.text(&guest(0), QUESTION);
    house.settle(1).await;
    delivered(&house).await;
    house.stop().await;
    by_trace(collector.spans())
        .remove(&trace_of(&text))
        .unwrap()
}

/// Returns the spans whose parent is the turn, in the order of their start.
fn steps_of<'a>(spans: &'a [Span], turn: &Span) -> Vec<&'a Span> {
    let mut steps: Vec<_> = spans
        .iter()
        .filter(|span| span.parent == turn.span_id)
        .collect();
    steps.sort_by_key(|span| span.started_nanos);
    steps
}

/// A draft that the judge rejects is written and judged again; the spans show this order.
#[tokio::test] // OBS-7
async fn a_second_draft_follows_the_first_judgement() {
    let models = brain("host").await;
    models.then(Play::text("The Lakeside Pool is lovely."));
    models.then(Play::json(
        &json!({"status": "RETRY", "reason": "it does not say when it opens"}),
    ));
    models.then(Play::text(ANSWER));
    models.then(Play::json(&json!({"status": "PASS", "reason": ""})));
    let spans = trace_of_an_answer("traces_retry", &models).await;
    let turn = named(&spans, "seven.turn")[0];
    let steps = steps_of(&spans, turn);
    let names: Vec<_> = steps
        .iter()
        .map(|span| span.name.trim_start_matches("seven.node."))
        .collect();
    assert_eq!(
        names,
        [
            "offline",
            "retrieval",
            "router",
            "planner",
            "host",
            "validate",
            "host",
            "validate",
            "commit"
        ]
    );
    let verdict = |step: usize| steps[step].attributes["seven.validation_result"].as_str();
    assert_eq!((verdict(5), verdict(7)), ("RETRY", "PASS"));
}

#[tokio::test] // OBS-7, OBS-16, OBS-21, OBS-22, OBS-23, OBS-24, OBS-25, AGENT-75
async fn a_turns_steps_stand_under_it_in_their_order() {
    let models = brain("host").await;
    content_with_all(&models);
    models.then(
        Play::call("search_knowledge_base", json!({"query": "lakeside pool"})).tokens(900, 20),
    );
    models.then(Play::text(ANSWER).tokens(1_000, 100));
    let spans = trace_of_an_answer("traces_hosted", &models).await;
    assert_whole(&spans);
    let turn = named(&spans, "seven.turn")[0];
    let steps = steps_of(&spans, turn);
    let names: Vec<_> = steps.iter().map(|span| span.name.as_str()).collect();
    let order = [
        "offline",
        "retrieval",
        "router",
        "planner",
        "host",
        "validate",
        "commit",
    ]
    .map(|node| format!("seven.node.{node}"));
    assert_eq!(names, order);
    let under = |node: usize, name: &str| {
        let part = |span: &&&Span| span.parent == steps[node].span_id;
        named(&spans, name).iter().filter(part).count()
    };
    assert_eq!(
        (
            under(2, "seven.model"),
            under(3, "seven.model"),
            under(4, "seven.model")
        ),
        (1, 1, 2)
    );
    assert_eq!(under(4, "seven.tool.search_knowledge_base"), 1);
    assert_eq!(steps[2].attributes["seven.router.confidence"], "0.9");
    assert_eq!(steps[5].attributes["seven.validation_result"], "PASS");
    assert!(
        steps[1].attributes["seven.results_count"]
            .parse::<u32>()
            .unwrap()
            > 0
    );
    let score = |name: &str| steps[1].attributes[name].parse::<f32>().unwrap();
    let (least, mean) = (score("seven.least_score"), score("seven.mean_score"));
    let best = score("seven.top_score");
    assert!(
        0.0 < least && least <= mean && mean <= best,
        "{least} {mean} {best}"
    );
    let source = steps[1].attributes["seven.retrieval_source"].as_str();
    assert!(["vector", "keyword"].contains(&source), "{source}");
    assert_eq!(turn.attributes["gen_ai.usage.input_tokens"], "2500");
    // 2,500 input tokens at $1 a million and 155 output tokens at $10 a million.
    assert_eq!(turn.attributes["seven.cost_usd"], "0.00405");
    let model = named(&spans, "seven.model");
    assert!(
        model
            .iter()
            .all(|span| span.kind == "Client" && span.attributes.contains_key("seven.cost_usd"))
    );
    // All calls use the prompts of one pack, so their hashes are equal.
    let hash = &model[0].attributes["seven.prompt_hash"];
    assert!(
        hash.len() == 16
            && model
                .iter()
                .all(|span| span.attributes["seven.prompt_hash"] == *hash)
    );
}
