//! Chooses the reply. The offline model answers every turn. If a hosted model is configured, it is
//! asked, too. The hosted model's reply is sent if the reply passes all checks (D10, D11).

use std::{collections::BTreeMap, panic::AssertUnwindSafe, sync::Arc};

use futures::FutureExt;
use seven_domain::{Offer, TurnId};
use seven_guest::{Confidence, offers::Facts};
use seven_host::{Ending, Manifest, machine::Reason};
use seven_llm::StaffKind;
use seven_packs::TextKey;
use seven_store::standing::Standing;
use seven_telemetry::{metrics, trace};
use seven_tools::{Given, Guest, Toolbox};
use tokio::time::{Instant, timeout, timeout_at};
use uuid::Uuid;

use crate::{
    agent_reply::{AgentReply, REFUSED},
    fallback,
    hosted::{self, Answer, Asked, Down, Memory, PANICKED, TURN_TIMEOUT, trial::Fitness},
    models::Hosted,
    spending,
    turn_input::TurnInput,
    types::{Swarm, Work},
};

/// Data from the database that the tools and the memory of a hosted turn need.
struct ToolContext {
    /// Model answers that an earlier try of this turn has paid for.
    kept: BTreeMap<String, serde_json::Value>,
    standing: Standing,
    /// The offers that this guest got so far.
    offers: Vec<Offer>,
    /// For each offer, how often it was given to all guests together.
    issued: BTreeMap<String, u32>,
}

/// Returns the turn's reply; fails if not even the offline model could answer.
pub(crate) async fn think(
    swarm: &Swarm,
    work: &Work,
    input: &TurnInput,
) -> Result<AgentReply, String> {
    let own = offline(swarm, work, input).await;
    let Some(hosted) = &swarm.settings.hosted else {
        return own;
    };
    // If the offline host's reply asks a person for something, this reply is sent. Only such a
    // reply opens the cases that it promises.
    if own.as_ref().is_ok_and(needs_person) {
        return own.map(|own| own.standing_in("needs_person", None));
    }
    // If the judge is not known to be fit, the offline host answers. No draft is sent without a fit
    // judge's verdict (D10), so no model is paid to write a draft.
    if hosted.trial.fitness() != Fitness::Fit {
        let (judge, prompts) = (Arc::clone(&hosted.judge), work.pack.prompts());
        hosted.trial.start(judge, prompts, hosted.deadlines.judge);
        return own.map(|own| own.standing_in("no_fit_judge", None).degraded());
    }
    if spending::is_spent(swarm, work).await {
        return own.map(|own| own.standing_in("spending_limit", None));
    }
    let deadline = Instant::now() + swarm.settings.model_deadline;
    let asked = ask_hosted(swarm, hosted, work, input, own.as_ref().ok(), deadline);
    let thought = AssertUnwindSafe(Box::pin(asked)).catch_unwind();
    let answer = timeout_at(deadline, thought).await;
    match answer
        .unwrap_or(Ok(Err(Down(TURN_TIMEOUT))))
        .unwrap_or(Err(Down(PANICKED)))
    {
        Ok(answer) => decide(hosted, work, input, own, answer),
        Err(Down(why)) => {
            degraded(work, why);
            Ok(own?.standing_in(why, None).degraded())
        }
    }
}

/// Returns whether the reply passes on a request that only a person can fulfil. A question that the
/// content does not answer is not such a request: the hosted model may find the answer.
fn needs_person(own: &AgentReply) -> bool {
    let mut staff = own.reply.staff.iter();
    staff.any(|request| request.kind != StaffKind::Question)
}

/// Chooses between the hosted model's reply, the offline host's and a fixed text.
fn decide(
    hosted: &Hosted,
    work: &Work,
    input: &TurnInput,
    own: Result<AgentReply, String>,
    answer: Answer,
) -> Result<AgentReply, String> {
    // A reply of the offline host that breaks a rule shows an error in our code. It is sent where
    // no other reply exists (D11), but it does not replace a refused draft.
    let clean = |own: &AgentReply| own.record.findings.is_empty();
    match (answer.ending, own) {
        (Ending::Greeting, own) => Ok(own?.standing_in("greeting", Some(answer))),
        // If the offline host has an answer, or passes the question on to a person, its reply is
        // sent. The model may have taken the question for off-topic by mistake.
        (Ending::OffTopic, Ok(own)) if own.reply.grounded || !own.reply.staff.is_empty() => {
            Ok(own.standing_in("off_topic", Some(answer)))
        }
        (Ending::Fallback(Reason::Model | Reason::ValidatorDown), own) => {
            let why = answer.down.unwrap_or(match answer.ending {
                Ending::Fallback(Reason::ValidatorDown) => "not_judged",
                _ => "no_answer",
            });
            degraded(work, why);
            Ok(own?.standing_in(why, Some(answer)).degraded())
        }
        (Ending::Fallback(reason), Ok(own)) if clean(&own) => {
            let why = match reason {
                Reason::StepBudget => "step_budget",
                Reason::OutOfOrder => "out_of_order",
                Reason::Refused | Reason::Model | Reason::ValidatorDown => REFUSED,
            };
            Ok(own.standing_in(why, Some(answer)))
        }
        (Ending::Reply | Ending::OffTopic | Ending::Fallback(_), _) => {
            Ok(ended(hosted, work, input, answer))
        }
    }
}

async fn ask_hosted(
    swarm: &Swarm,
    hosted: &Hosted,
    work: &Work,
    input: &TurnInput,
    own: Option<&AgentReply>,
    deadline: Instant,
) -> Result<Answer, Down> {
    let texts = work
        .open
        .last()
        .map(|text| text.inbound_id)
        .unwrap_or_default();
    let desk = desk(swarm, work, texts).await.map_err(|error| {
        tracing::warn!(
            casino = %work.casino,
            %error,
            trace = work.trace,
            "the tools' data cannot be read; the offline model answers"
        );
        Down("store")
    })?;
    let memory = Memory::new(
        &swarm.fleet.store,
        &work.casino,
        work.lease.conversation_id,
        texts,
        desk.kept,
    );
    let Some(agent) = default_agent(&work.pack.agents) else {
        return Err(Down("no_agent"));
    };
    let given = Given {
        casino: &work.config,
        index: &work.index,
        retrieval: &work.pack.agents.retrieval,
        now: input.request.now,
        language: input.language,
        turn: TurnId(
            work.open
                .first()
                .map(|text| text.inbound_id)
                .unwrap_or_default(),
        ),
        policy: &work.pack.offers,
        issued: &desk.issued,
        embedder: swarm.settings.embedding.immediate(),
    };
    let guest = Guest {
        profile: &input.profile,
        grant: input.grant.as_ref(),
        texts: &input.request.texts,
        facts: offer_facts(work, &desk.standing, input),
        offers: &desk.offers,
    };
    let asked = input.request.texts.join("\n");
    let began = Instant::now();
    let query = swarm
        .settings
        .embedding
        .query(&asked, input.request.now)
        .await
        .as_set(&work.pack.agents.retrieval);
    let took = began.elapsed().as_secs_f64();
    metrics()
        .guests
        .retrieval_seconds
        .with_label_values(&[work.casino.as_str()])
        .observe(took);
    let toolbox = Toolbox::new(given, guest, agent);
    let asked = Asked { work, input, own };
    Ok(hosted::answer(hosted, asked, &query, memory, toolbox, deadline).await)
}

/// Reads the data that the tools need from the database. The turn's lease keeps the data from
/// changing meanwhile.
async fn desk(swarm: &Swarm, work: &Work, texts: Uuid) -> Result<ToolContext, seven_store::Error> {
    let (guest, conversation) = (work.lease.guest_id, work.lease.conversation_id);
    let mut tx = swarm.fleet.store.bind(&work.casino).await?;
    let desk = ToolContext {
        kept: tx
            .model_results(conversation, texts)
            .await?
            .into_iter()
            .collect(),
        standing: tx.standing(guest, conversation).await?,
        offers: tx.offers_of(guest).await?,
        issued: tx.issued().await?,
    };
    tx.commit().await?;
    Ok(desk)
}

async fn offline(swarm: &Swarm, work: &Work, input: &TurnInput) -> Result<AgentReply, String> {
    let started = Instant::now();
    let mut span = trace::step("seven.node.offline", "");
    span.tell("gen_ai.request.model", &work.model.name());
    let thought = async { work.model.respond(&input.request).await };
    let answer = timeout(
        swarm.settings.model_deadline,
        AssertUnwindSafe(thought).catch_unwind(),
    )
    .await;
    // A panic counts as a failed try; after the last try, the guest gets the fallback text.
    let answer = answer.map_err(|_| "the model did not answer in time".to_owned())?;
    let reply = answer
        .map_err(|_| "the model panicked".to_owned())?
        .map_err(|error| error.to_string())?;
    span.set("seven.results_count", reply.sources.len());
    drop(span);
    Ok(AgentReply::offline(
        work,
        &input.request,
        reply,
        started.elapsed(),
    ))
}

/// Returns the hosted model's reply, or the fixed text with which its turn ended.
fn ended(hosted: &Hosted, work: &Work, input: &TurnInput, answer: Answer) -> AgentReply {
    let (name, language) = (hosted.speaker.name(), input.language);
    let text = |key: TextKey| work.pack.say(key, language, &work.config);
    match (answer.ending, &answer.reply) {
        (Ending::Reply, Some(reply)) => AgentReply {
            reply: reply.clone(),
            agent: answer.agent,
            model: name.to_owned(),
            record: answer.record,
            effects: answer.effects,
            offer_calls: answer.offer_calls,
        },
        (Ending::OffTopic, _) => {
            let agent = answer.agent.clone();
            AgentReply::fixed(
                answer,
                name,
                &agent,
                text(TextKey::OffTopic),
                "off_topic",
                language,
            )
        }
        _ => {
            let fallback = fallback::text(work, language);
            AgentReply::fixed(answer, name, "fallback", fallback, "fallback", language)
        }
    }
}

fn degraded(work: &Work, why: &str) {
    tracing::warn!(
        casino = %work.casino,
        why,
        trace = work.trace,
        "the offline model answers instead"
    );
}

fn default_agent(manifest: &Manifest) -> Option<&seven_host::Agent> {
    manifest.agents.get(&manifest.default_agent)
}

/// Returns the facts that decide about offers. The guest's readiness for an offer is added when
/// there is a plan.
fn offer_facts(work: &Work, standing: &Standing, input: &TurnInput) -> Facts {
    let count = |n: i64| u32::try_from(n).unwrap_or(u32::MAX);
    let texts = &input.request.texts;
    Facts {
        phase: input.profile.engagement.conversation_phase,
        asked: texts.iter().any(|text| work.pack.offers.is_asked(text)),
        suppressed: standing.suppressed,
        conversational_consent: standing.conversational_consent,
        marketing_consent: standing.marketing_consent,
        paused: false,
        self_excluded: standing.self_excluded,
        responsible_gaming: standing.responsible_gaming,
        readiness: Confidence::ZERO,
        guest_texts: count(standing.guest_texts),
        substantive_exchanges: count(standing.substantive_texts),
        texts_since_rejection: work
            .history
            .session
            .counts
            .since_rejection(texts, work.pack.offers.is_any_rejection(texts)),
        // The tools fill in the numbers of offers made.
        offers_this_arc: 0,
        offers_today: 0,
        offers_this_month: 0,
        dollars_this_week: 0,
    }
}
