//! Carries out a turn's actions with a hosted model. The state machine of `seven-host` chooses the
//! actions. The offline model's answer was made before; it is sent if the hosted model fails (D10,
//! D11).

mod asked;
mod dialogue;
mod facts;
mod judge;
mod memory;
mod speak;
pub mod trial;

use std::{panic::AssertUnwindSafe, sync::Arc, time::Duration};

use futures::FutureExt;
use seven_guest::{Confidence, DialogueState, Topic};
use seven_host::{
    Action, Ending, Event, Finding, Plan, Prompt, Record, Route, Subject, Turn, Verdict,
    guests_words,
    machine::Reason,
    record::{Context, Step, Usage},
};
use seven_knowledge::Query;
use seven_llm::{
    Reply,
    chat::{ChatModel, ChatReply, ChatRequest, Error, Fault, Message},
};
use seven_telemetry::{metrics, trace};
use seven_tools::{Effect, Toolbox};
use tokio::time::{Instant, timeout_at};

use self::facts::Context as Known;
use crate::{agent_reply::AgentReply, models::Hosted, turn_input::TurnInput, types::Work};

pub(crate) use self::memory::Memory;

/// The error that the hosted model cannot answer this turn. Holds the kind of the error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Down(pub(crate) &'static str);

/// The kind of error for a turn that took too long as a whole. No single call of a model is at
/// fault.
pub(crate) const TURN_TIMEOUT: &str = "turn_timeout";
pub(crate) const PANICKED: &str = "panicked";

/// The result of a hosted model's work on a turn.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) ending: Ending,
    /// The kind of error that made the hosted models give up; `None` if they did not.
    pub(crate) down: Option<&'static str>,
    pub(crate) agent: String,
    /// The last draft, if the turn ended with a reply.
    pub(crate) reply: Option<Reply>,
    /// The state of the dialogue after the turn, if the turn ended with a fixed text.
    pub(crate) state: DialogueState,
    pub(crate) record: Record,
    /// The effects of tools, to commit together with the turn if it ended with a reply.
    pub(crate) effects: Vec<Effect>,
    pub(crate) offer_calls: Vec<seven_domain::OfferCall>,
}

/// The turn to answer.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) work: &'a Work,
    pub(crate) input: &'a TurnInput,
    /// The offline host's answer to the same texts, if it has one.
    pub(crate) own: Option<&'a AgentReply>,
}

/// The state of one turn while the hosted model works on it.
struct Play<'a> {
    hosted: &'a Hosted,
    work: &'a Work,
    input: &'a TurnInput,
    memory: Memory<'a>,
    known: Known,
    toolbox: Toolbox<'a>,
    draft: String,
    findings: Vec<Finding>,
    /// The judge's confidence in the draft.
    confidence: Option<f64>,
    steps: Vec<Step>,
    /// How many tool calls are still allowed.
    tool_calls: u32,
    /// The offline host's answer to the same texts, if it has one.
    own: Option<&'a AgentReply>,
    /// The topic that the draft may ask about.
    topic: Option<Topic>,
}

/// Answers the turn by `deadline` at the latest. The caller renews the lease meanwhile. However the
/// turn ends, the record contains the usage of all model calls, because each call costs money.
pub(crate) async fn answer<'a>(
    hosted: &'a Hosted,
    Asked { work, input, own }: Asked<'a>,
    query: &Query<'_>,
    memory: Memory<'a>,
    toolbox: Toolbox<'a>,
    deadline: Instant,
) -> Answer {
    let manifest = &work.pack.agents;
    let mut play = Play {
        hosted,
        work,
        input,
        memory,
        known: retrieved(work, input, &state(input, own), query),
        toolbox,
        draft: String::new(),
        findings: Vec::new(),
        confidence: None,
        steps: Vec::new(),
        tool_calls: manifest.limits.tool_calls,
        own,
        topic: None,
    };
    // Without the verdict of the judging model no draft is sent (D10), unless the casino's document
    // permits it.
    let unjudged_may_pass = work.config.features.unjudged_first_draft_allowed;
    let mut turn = Turn::new(manifest, unjudged_may_pass);
    let walked = timeout_at(
        deadline,
        AssertUnwindSafe(play.walk(&mut turn)).catch_unwind(),
    )
    .await;
    match walked
        .unwrap_or(Ok(Err(Down(TURN_TIMEOUT))))
        .unwrap_or(Err(Down(PANICKED)))
    {
        Ok(ending) => play.finish(&turn, ending),
        Err(Down(why)) => Answer {
            down: Some(why),
            ..play.finish(&turn, Ending::Fallback(Reason::Model))
        },
    }
}

/// Runs one node (step) of the turn in a separate span, which records the result.
async fn in_node(
    name: &str,
    retries: u32,
    work: impl Future<Output = Result<Event, Down>>,
) -> Result<Event, Down> {
    let mut span = trace::step("seven.node.", name).entered();
    span.set("seven.retry_count", retries);
    let came = work.await;
    match &came {
        Ok(event) => describe(&mut span, event),
        Err(Down(why)) => span.fail(why),
    }
    came
}

fn describe(span: &mut trace::Step, event: &Event) {
    match event {
        Event::Routed(route) => {
            span.set("seven.router.confidence", route.confidence);
            let subject = match route.subject {
                Subject::Greeting => "greeting",
                Subject::OffTopic => "off_topic",
                Subject::Domain => "domain",
            };
            span.set("seven.router.query_type", subject);
        }
        Event::Planned(None) | Event::SpeechFailed => span.fail("unusable_answer"),
        Event::Planned(Some(plan)) => span.set("seven.offer_readiness", plan.offer_readiness),
        Event::Spoke => {}
        Event::HandsTo(_) => span.set("seven.handoff", true),
        Event::Judged(verdict) => span.set(
            "seven.validation_result",
            match verdict {
                Verdict::Pass => "PASS",
                Verdict::Retry(_) => "RETRY",
                Verdict::Fail(_) => "FAIL",
            },
        ),
        Event::NotJudged { .. } => span.fail("not_judged"),
    }
}

/// Retrieves the content rows that an agent gets without calling a tool.
fn retrieved(work: &Work, input: &TurnInput, state: &DialogueState, query: &Query<'_>) -> Known {
    let mut span = trace::step("seven.node.retrieval", "");
    let known = Known::of(work, input, state, query);
    if span.is_recorded() {
        span.set(
            "seven.query_length",
            input
                .request
                .texts
                .iter()
                .map(|text| text.chars().count())
                .sum::<usize>(),
        );
        span.set("seven.results_count", known.rows().count());
        span.set("seven.retrieval_source", known.source());
        let scores: Vec<f32> = known.rows().filter_map(|(_, score)| score).collect();
        let best = scores.iter().copied().fold(0.0, f32::max);
        let least = scores.iter().copied().reduce(f32::min).unwrap_or_default();
        span.set("seven.top_score", best);
        span.set("seven.least_score", least);
        let mean = scores.iter().sum::<f32>() / scores.len().max(1) as f32;
        span.set("seven.mean_score", mean);
    }
    known
}

impl Play<'_> {
    async fn walk(&mut self, turn: &mut Turn<'_>) -> Result<Ending, Down> {
        let mut action = turn.first();
        loop {
            let came = match action {
                Action::Route => in_node("router", 0, self.route()).await?,
                Action::Plan => {
                    in_node("planner", 0, async {
                        Ok(Event::Planned(self.plan().await))
                    })
                    .await?
                }
                Action::Speak { agent, feedback } => {
                    let plan = turn.plan().cloned();
                    in_node(&agent, turn.retries(), self.speak(&agent, plan, feedback)).await?
                }
                Action::Validate { attempt } => {
                    in_node("validate", attempt, async {
                        Ok(self.judge(turn.agent(), attempt).await)
                    })
                    .await?
                }
                Action::End(ending) => return Ok(ending),
            };
            action = turn.next(came);
        }
    }

    async fn route(&mut self) -> Result<Event, Down> {
        let manifest = &self.work.pack.agents;
        let facts = self.known.for_router(manifest);
        let request = self.request(Prompt::Router, &facts, self.hosted.deadlines.route);
        let request = ChatRequest {
            output_schema: Some(Route::schema(manifest)),
            ..request
        };
        let model = Arc::clone(&self.hosted.quick);
        let route = match self.chat("router", &*model, &request).await {
            Ok(reply) => Route::parse(&reply.text),
            Err(Error::Timeout { .. } | Error::Answer { .. }) => None,
            Err(error) => return Err(Down(error.kind())),
        };
        let own = self.own.and_then(|own| own.record.route.clone());
        let own = own.unwrap_or(Route {
            subject: Subject::Domain,
            domain: None,
            confidence: 1.0,
        });
        let answers = self.own.is_some_and(|own| !own.reply.sources.is_empty());
        let least = manifest.limits.least_confidence;
        Ok(Event::Routed(Route::or_own(route, own, answers, least)))
    }

    /// Asks for a plan. If that fails, the turn goes on without one.
    async fn plan(&mut self) -> Option<Plan> {
        let facts = self.known.for_planner();
        let request = self.request(Prompt::Planner, &facts, self.hosted.deadlines.plan);
        let request = ChatRequest {
            output_schema: Some(Plan::schema()),
            ..request
        };
        let model = Arc::clone(&self.hosted.quick);
        let reply = self.chat("planner", &*model, &request).await.ok()?;
        let plan = Plan::parse(&reply.text).ok()?;
        self.toolbox
            .planned(Confidence::clamped(plan.offer_readiness));
        Some(plan)
    }

    /// Builds a request from the pack's instructions and the guest's new texts, which are quoted.
    fn request(
        &self,
        prompt: Prompt,
        facts: &seven_host::PromptFacts,
        deadline: Duration,
    ) -> ChatRequest {
        let texts = self
            .input
            .request
            .texts
            .iter()
            .map(|text| guests_words(text));
        ChatRequest {
            system: self.work.pack.prompts().render(prompt, facts),
            messages: vec![Message::User(texts.collect::<Vec<_>>().join("\n"))],
            tools: Vec::new(),
            output_schema: None,
            temperature: Some(0.0),
            max_output_tokens: Some(self.hosted.max_output_tokens),
            deadline,
        }
    }

    /// Calls a model, stores its answer, and records the time, tokens and cost of the call.
    async fn chat(
        &mut self,
        node: &str,
        model: &dyn ChatModel,
        request: &ChatRequest,
    ) -> Result<ChatReply, Error> {
        let started = Instant::now();
        let mut span = trace::step("seven.model", "").client();
        span.set("gen_ai.operation.name", "chat");
        span.tell("gen_ai.request.model", &model.name());
        span.tell("seven.prompt_hash", &self.work.pack.prompts().hash());
        let outcome = self.memory.chat(node, model, request).await;
        let took = started.elapsed();
        let usage = match &outcome {
            Ok((reply, _)) => tokens(reply.usage, reply.cost.0),
            Err(error) => tokens(error.usage(), model.cost(error.usage()).0),
        };
        let failed = outcome.as_ref().err().map(|error| error.kind().to_owned());
        let kept = matches!(outcome, Ok((_, true)));
        if !kept {
            let of = [node, self.work.lease.channel.as_str()];
            let seconds = &metrics().guests.step_seconds;
            seconds.with_label_values(&of).observe(took.as_secs_f64());
        }
        self.steps.push(Step {
            name: node.to_owned(),
            micros: u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
            usage: Some(usage),
            failed,
            kept,
        });
        match &outcome {
            Ok((reply, _)) => {
                span.set("gen_ai.usage.input_tokens", reply.usage.input_tokens);
                span.set("gen_ai.usage.output_tokens", reply.usage.output_tokens);
                span.set("seven.cost_usd", reply.cost.0 as f64 / 1e9);
                span.set("seven.tool_calls", reply.tool_calls.len());
            }
            Err(error) => {
                span.fail(error.kind());
                let casino = &self.work.casino;
                tracing::warn!(
                    %casino,
                    node,
                    kind = error.kind(),
                    trace = self.work.trace,
                    "a model's answer is missing"
                );
            }
        }
        outcome.map(|(reply, _)| reply)
    }

    fn finish(self, turn: &Turn<'_>, ending: Ending) -> Answer {
        let said = ending == Ending::Reply;
        let reply = said.then(|| self.reply(turn));
        let context = self
            .known
            .rows()
            .map(|(item, score)| (item.id.clone(), item.name.clone(), score));
        let context = context
            .map(|(id, name, score)| Context { id, name, score })
            .collect();
        let usage = self.usage();
        let record = Record {
            context,
            tools: self.toolbox.calls().to_vec(),
            findings: self.findings,
            confidence: self.confidence,
            usage,
            steps: self.steps,
            hosted: Some(ending),
            prompt_variant: facts::has_variant(self.work),
            ..Record::of(turn, ending)
        };
        // An offer may have been granted to an earlier agent of this turn. If the final agent may
        // not speak of offers, its reply leaves the offer out, so the offer is not committed.
        let speaks_of_offers = self.work.pack.agents.agents.get(turn.agent());
        let speaks_of_offers = speaks_of_offers.is_some_and(|agent| agent.offers);
        let goes_out = |effect: &&Effect| speaks_of_offers || matches!(effect, Effect::Observe(_));
        let effects = self.toolbox.effects().iter().filter(|_| said);
        let effects = effects.filter(goes_out).cloned().collect();
        let offer_calls = self.toolbox.offer_calls().to_vec();
        let mut state = state(self.input, self.own);
        state.told(&[], None, false);
        Answer {
            ending,
            down: None,
            agent: turn.agent().to_owned(),
            reply,
            state,
            record,
            effects,
            offer_calls,
        }
    }

    fn usage(&self) -> Usage {
        self.steps.iter().filter_map(|step| step.usage).sum()
    }

    /// Returns the reply. Its sources are those rows that the model was given and that the draft
    /// mentions.
    fn reply(&self, turn: &Turn<'_>) -> Reply {
        let (request, usage) = (&self.input.request, self.usage());
        let used = self.toolbox.rows_used();
        let given = |id: &str| {
            self.known.rows().any(|(item, _)| item.id == id)
                || used.iter().any(|(row, _)| row == id)
        };
        let named = request
            .index
            .mentions(&self.draft, request.now)
            .into_iter()
            .map(|mention| mention.item.id.clone());
        let mut sources: Vec<String> = named.filter(|id| given(id)).collect();
        sources.dedup();
        let domain = turn.route().and_then(|route| route.domain.clone());
        let asked = self
            .topic
            .filter(|topic| asked::asks_about(*topic, &self.draft));
        let mut state = state(self.input, self.own);
        state.told(&sources, asked, self.draft.trim_end().ends_with('?'));
        Reply {
            text: self.draft.clone(),
            language: self.input.language,
            intent: domain.unwrap_or_else(|| "general".to_owned()),
            // A reply that tells the guest to call the casino does not contain the answer.
            grounded: !self.draft.contains(&request.contact_phone),
            state,
            staff: Vec::new(),
            asked,
            sources,
            usage: seven_llm::Usage {
                input_tokens: usage.input_tokens,
                output_tokens: usage.output_tokens,
            },
        }
    }
}

/// Returns the state of the dialogue after the guest's new texts. Leaves out what the offline
/// host's reply named, asked and promised, because another reply is sent.
fn state(input: &TurnInput, own: Option<&AgentReply>) -> DialogueState {
    let before = &input.request.state;
    let Some(own) = own else {
        let mut state = before.clone();
        state.learn(&input.request.profile);
        return state;
    };
    DialogueState {
        listed: before.listed.clone(),
        proposed: false,
        shown: before.shown.clone(),
        promised: before.promised.clone(),
        asked: before.asked.clone(),
        asked_last: before.asked_last,
        ..own.reply.state.clone()
    }
}

fn tokens(usage: seven_llm::Usage, nano_dollars: u64) -> Usage {
    Usage {
        input_tokens: usage.input_tokens,
        output_tokens: usage.output_tokens,
        nano_dollars,
    }
}

/// Returns whether the error shows that the model is down, and not only that this request failed.
fn is_down(error: &Error) -> bool {
    matches!(error.fault(), Fault::Provider | Fault::Guard)
}
