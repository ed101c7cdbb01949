//! From a model's whole answer to a reply that somebody speaks: which agent it is, the turn's path, and what the checks in code say.
//!
//! The machine of `seven-host` decides; a model that routes, plans and writes in one go, as the offline one does, reports all of it at once.

use std::time::Duration;

use seven_host::{
    Action, Check, Event, Evidence, Manifest, Record, Route, Subject, Turn, Verdict,
    record::{Context, Step, Usage},
};
use seven_knowledge::formatter;
use seven_llm::{Reply, Request};

/// A reply with everything that led to it.
#[derive(Debug)]
pub(crate) struct Speech {
    pub(crate) reply: Reply,
    pub(crate) agent: String,
    pub(crate) record: Record,
}

impl Speech {
    /// Walks the turn of an answer that came whole.
    pub(crate) fn of(manifest: &Manifest, request: &Request, reply: Reply, took: Duration) -> Self {
        let mut turn = Turn::new(manifest, false);
        let mut action = turn.next(Event::Routed(route(request, &reply)));
        let findings = findings(manifest, &turn, request, &reply);
        let ending = loop {
            action = match action {
                Action::End(ending) => break ending,
                Action::Route | Action::Plan => turn.next(Event::Planned(None)),
                Action::Speak { .. } => turn.next(Event::Spoke),
                // Made from rows by rule, so a finding is a question to us, not a reason to say less (D11): it is logged and stored.
                Action::Validate { .. } => turn.next(Event::Judged(Verdict::Pass)),
            };
        };
        let usage = Usage {
            input_tokens: reply.usage.input_tokens,
            output_tokens: reply.usage.output_tokens,
            micro_dollars: 0,
        };
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let steps = vec![Step { name: "model".to_owned(), micros }];
        let record = Record { context: context(request, &reply), findings, usage, steps, ..Record::of(&turn, ending) };
        Self { agent: turn.agent().to_owned(), reply, record }
    }
}

/// The domain of an answer is that of the first row it was made from.
fn route(request: &Request, reply: &Reply) -> Route {
    let first = reply.sources.first().and_then(|id| request.index.get(id));
    let subject = if reply.intent == "greeting" && first.is_none() { Subject::Greeting } else { Subject::Domain };
    Route { subject, domain: first.map(|item| item.category.as_str().to_owned()), confidence: 1.0 }
}

fn context(request: &Request, reply: &Reply) -> Vec<Context> {
    let rows = reply.sources.iter().filter_map(|id| request.index.get(id));
    rows.map(|item| Context { id: item.id.clone(), name: item.name.clone(), score: None }).collect()
}

/// Checked against the rows it was made from, and what the guest said.
fn findings(manifest: &Manifest, turn: &Turn<'_>, request: &Request, reply: &Reply) -> Vec<seven_host::Finding> {
    let rows = reply.sources.iter().filter_map(|id| request.index.get(id));
    let mut texts: Vec<String> = rows.map(|item| formatter::text(item, request.zone)).collect();
    texts.extend([request.casino_name.clone(), request.contact_phone.clone(), request.persona.clone()]);
    let evidence = Evidence::of(texts.iter().map(String::as_str)).with_guest(request.texts.iter().map(String::as_str));
    let offers = manifest.agents.get(turn.agent()).is_some_and(|agent| agent.offers);
    let asked_identity = reply.intent == "identity";
    Check { evidence: &evidence, segments: 2, offers, asked_identity }.findings(&reply.text)
}
