//! Builds a turn's reply, and the record of how the reply was made. The source is the offline
//! model's answer, or the result of a hosted turn. In both cases the state machine of `seven-host`
//! decides how the turn ends.

use std::time::Duration;

use seven_domain::{CasinoId, Language, OfferCall};
use seven_host::{
    Action, Check, Ending, Event, Evidence, Finding, Record, Route, Subject, Turn, Verdict,
    record::{Context, Step},
};
use seven_knowledge::formatter;
use seven_llm::{Reply, Request, StaffKind, StaffRequest, Usage};
use seven_telemetry::{metrics, trace::Step as Span};
use seven_tools::Effect;

use crate::{hosted::Answer, types::Work};

/// Reason for sending the offline host's reply: the hosted model's draft broke a rule, or the judge
/// refused it. The record then holds the draft's findings instead of the reply's.
pub(crate) const REFUSED: &str = "refused";

/// A reply, the agent and the model that made it, and what is committed with it.
#[derive(Debug)]
pub(crate) struct AgentReply {
    pub(crate) reply: Reply,
    pub(crate) agent: String,
    pub(crate) model: String,
    pub(crate) record: Record,
    pub(crate) effects: Vec<Effect>,
    /// Every call of a tool about offers, for the audit log. Calls are listed even if the reply was
    /// not sent.
    pub(crate) offer_calls: Vec<OfferCall>,
}

/// The confidence of a reply that passes the guest's question on to a person.
const PASSED_ON: f64 = 0.3;

impl AgentReply {
    /// Returns the host's confidence in the reply, from 0 to 1. For a hosted model's draft it is
    /// the judge's value. An offline answer gets 1, or [`PASSED_ON`] if it passes a question on to
    /// a person.
    pub(crate) fn confidence(&self) -> f64 {
        let asks = |request: &StaffRequest| request.kind == StaffKind::Question;
        match self.record.confidence {
            Some(judged) => judged,
            None if self.reply.staff.iter().any(asks) => PASSED_ON,
            None => 1.0,
        }
    }

    /// Builds the reply from an offline answer. The answer is complete from the beginning, so the
    /// state machine only passes through its steps.
    pub(crate) fn offline(work: &Work, request: &Request, reply: Reply, took: Duration) -> Self {
        let mut turn = Turn::new(&work.pack.agents, false);
        let mut action = turn.next(Event::Routed(route(request, &reply)));
        let findings = findings(work, &turn, request, &reply);
        let ending = loop {
            action = match action {
                Action::End(ending) => break ending,
                Action::Route | Action::Plan => turn.next(Event::Planned(None)),
                Action::Speak { .. } => turn.next(Event::Spoke),
                // The offline answer is made from rows by rules. A finding in it shows an error in
                // our code. The finding is counted and stored, and the answer is sent all the same
                // (D11).
                Action::Validate { .. } => turn.next(Event::Judged(Verdict::Pass)),
            };
        };
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let steps = vec![Step {
            name: "model".to_owned(),
            micros,
            ..Step::default()
        }];
        let record = Record {
            context: context(request, &reply),
            findings,
            steps,
            ..Record::of(&turn, ending)
        };
        let (agent, model) = (turn.agent().to_owned(), work.model.name().to_owned());
        Self {
            agent,
            model,
            reply,
            record,
            effects: Vec::new(),
            offer_calls: Vec::new(),
        }
    }

    /// Notes why this reply of the offline model is sent although a hosted one is set up. If the
    /// hosted model worked on the turn, adds the cost and the steps of its work.
    #[must_use]
    pub(crate) fn standing_in(mut self, why: &str, hosted: Option<Answer>) -> Self {
        self.record.stood_in = Some(why.to_owned());
        if let Some(hosted) = hosted {
            let record = hosted.record;
            self.record.path = record
                .path
                .into_iter()
                .chain(["offline".to_owned()])
                .collect();
            self.record.route = record.route.or(self.record.route);
            self.record.plan = record.plan;
            self.record.tools = record.tools;
            self.record.usage = record.usage;
            self.record.handoffs = record.handoffs;
            self.record.retries = record.retries;
            self.record.steps.splice(0..0, record.steps);
            self.record.hosted = record.hosted;
            self.record.prompt_variant = record.prompt_variant;
            if why == REFUSED {
                self.record.findings = record.findings;
            }
            self.offer_calls = hosted.offer_calls;
        }
        self
    }

    /// Marks the reply as degraded: it is sent in place of a reply that the hosted model failed to
    /// give.
    #[must_use]
    pub(crate) fn degraded(mut self) -> Self {
        self.record.degraded = true;
        self
    }

    /// Builds the reply of a hosted turn that ended with a fixed text of the pack.
    pub(crate) fn fixed(
        hosted: Answer,
        model: &str,
        agent: &str,
        text: String,
        intent: &str,
        language: Language,
    ) -> Self {
        let usage = Usage {
            input_tokens: hosted.record.usage.input_tokens,
            output_tokens: hosted.record.usage.output_tokens,
        };
        let (sources, intent) = (Vec::new(), intent.to_owned());
        let reply = Reply {
            text,
            language,
            sources,
            intent,
            grounded: intent_is_grounded(&hosted),
            asked: None,
            state: hosted.state.clone(),
            staff: Vec::new(),
            usage,
        };
        let (model, agent) = (model.to_owned(), agent.to_owned());
        Self {
            reply,
            agent,
            model,
            record: hosted.record,
            effects: Vec::new(),
            offer_calls: hosted.offer_calls,
        }
    }

    /// Writes to the turn's span how the turn ended.
    pub(crate) fn describe(&self, span: &mut Span) {
        if !span.is_recorded() {
            return;
        }
        let record = &self.record;
        span.tell("seven.active_agent", &self.agent);
        span.tell("seven.model", &self.model);
        span.tell("seven.query_type", &self.reply.intent);
        span.set(
            "seven.router.confidence",
            record.route.as_ref().map_or(0.0, |route| route.confidence),
        );
        span.tell("seven.path", &record.path.join(" "));
        span.set("seven.total_nodes_executed", record.path.len());
        span.set("seven.handoffs", record.handoffs);
        span.set("seven.retry_count", record.retries);
        let result = match (&record.ending, record.findings.is_empty()) {
            (Some(Ending::Fallback(_)) | None, _) => "FAIL",
            (_, true) => "PASS",
            (_, false) => "PASS_WITH_FINDINGS",
        };
        span.set("seven.validation_result", result);
        span.set("seven.grounded", self.reply.grounded);
        span.set("seven.results_count", self.reply.sources.len());
        span.set("seven.degraded", record.degraded);
        span.set("gen_ai.usage.input_tokens", record.usage.input_tokens);
        span.set("gen_ai.usage.output_tokens", record.usage.output_tokens);
        span.set("seven.cost_usd", record.usage.nano_dollars as f64 / 1e9);
        if record.degraded {
            span.fail("degraded");
        }
    }

    /// Counts each call of a hosted model with its tokens and cost. The call's duration was
    /// observed when the call ended, because this function only runs for turns that are committed.
    fn count_steps(&self) {
        let guests = &metrics().guests;
        for Step {
            name,
            usage,
            failed,
            ..
        } in &self.record.steps
        {
            let Some(usage) = usage else { continue };
            let name = name.as_str();
            guests
                .steps
                .with_label_values(&[name, failed.as_deref().unwrap_or("ok")])
                .inc();
            guests
                .step_tokens
                .with_label_values(&[name, "input"])
                .inc_by(usage.input_tokens);
            guests
                .step_tokens
                .with_label_values(&[name, "output"])
                .inc_by(usage.output_tokens);
            guests
                .step_cost
                .with_label_values(&[name])
                .inc_by(usage.nano_dollars);
        }
    }

    /// Returns whether the hosted model's draft passed judging: `at_once`, `after_retry` or `no`.
    /// `None` if the model made no draft.
    fn passed(&self) -> Option<&'static str> {
        match self.record.hosted {
            Some(Ending::Reply) if self.record.retries == 0 => Some("at_once"),
            Some(Ending::Reply) => Some("after_retry"),
            Some(Ending::Fallback(_)) => Some("no"),
            // If a degraded turn has no ending of the hosted model, the model missed the turn's
            // deadline.
            None if self.record.degraded => Some("no"),
            Some(Ending::Greeting | Ending::OffTopic) | None => None,
        }
    }

    /// Counts how the turn ended and which rules its drafts broke.
    pub(crate) fn count(&self, casino: &CasinoId) {
        let casino = casino.as_str();
        let ending = match self.record.ending {
            _ if self.record.degraded => "degraded",
            Some(Ending::Reply) => "reply",
            Some(Ending::Greeting) => "greeting",
            Some(Ending::OffTopic) => "off_topic",
            Some(Ending::Fallback(_)) | None => "fallback",
        };
        metrics()
            .turns
            .with_label_values(&[casino, self.agent.as_str(), ending])
            .inc();
        self.count_steps();
        if let Some(by) = self.record.answered_by() {
            let turns = &metrics().guests.hosted_turns;
            turns.with_label_values(&[casino, by]).inc();
        }
        if let Some(passed) = self.passed() {
            metrics()
                .guests
                .drafts
                .with_label_values(&[casino, passed])
                .inc();
        }
        let refused = self.record.stood_in.as_deref() == Some(REFUSED);
        let sent = if refused || matches!(self.record.ending, Some(Ending::Fallback(_))) {
            "no"
        } else {
            "yes"
        };
        let (guests, usage) = (&metrics().guests, &self.record.usage);
        guests
            .tokens
            .with_label_values(&[casino, "input"])
            .inc_by(usage.input_tokens);
        guests
            .tokens
            .with_label_values(&[casino, "output"])
            .inc_by(usage.output_tokens);
        guests
            .cost
            .with_label_values(&[casino])
            .inc_by(usage.nano_dollars);
        guests
            .handoffs
            .with_label_values(&[casino])
            .inc_by(u64::from(self.record.handoffs));
        if !self.reply.grounded {
            guests.ungrounded.with_label_values(&[casino]).inc();
        }
        for finding in &self.record.findings {
            metrics()
                .findings
                .with_label_values(&[finding.rule(), sent])
                .inc();
        }
    }
}

fn intent_is_grounded(hosted: &Answer) -> bool {
    matches!(hosted.ending, Ending::OffTopic | Ending::Greeting)
}

/// Returns the route of an offline answer. Its domain is the category of the first row from which
/// the answer was made.
fn route(request: &Request, reply: &Reply) -> Route {
    let first = reply.sources.first().and_then(|id| request.index.get(id));
    let subject = if reply.intent == "greeting" && first.is_none() {
        Subject::Greeting
    } else {
        Subject::Domain
    };
    Route {
        subject,
        domain: first.map(|item| item.category.as_str().to_owned()),
        confidence: 1.0,
    }
}

fn context(request: &Request, reply: &Reply) -> Vec<Context> {
    let rows = reply.sources.iter().filter_map(|id| request.index.get(id));
    rows.map(|item| Context {
        id: item.id.clone(),
        name: item.name.clone(),
        score: None,
    })
    .collect()
}

/// Checks the answer against the rows from which it was made and against the guest's words.
fn findings(work: &Work, turn: &Turn<'_>, request: &Request, reply: &Reply) -> Vec<Finding> {
    let rows = reply.sources.iter().filter_map(|id| request.index.get(id));
    let mut texts: Vec<String> = rows
        .map(|item| formatter::text(item, request.zone))
        .collect();
    texts.extend([
        request.casino_name.clone(),
        request.contact_phone.clone(),
        request.persona.clone(),
    ]);
    let evidence = Evidence::of(texts.iter().map(String::as_str))
        .with_guest(request.texts.iter().map(String::as_str));
    let offers = work
        .pack
        .agents
        .agents
        .get(turn.agent())
        .is_some_and(|agent| agent.offers);
    let asked_identity = reply.intent == "identity";
    let (lead, emoji) = (request.lead.as_deref(), work.config.branding.emoji_allowed);
    Check {
        evidence: &evidence,
        length: request.length,
        lead,
        offers,
        asked_identity,
        emoji,
    }
    .findings(&reply.text)
}
