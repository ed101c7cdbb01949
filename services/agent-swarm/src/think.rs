//! Chooses the model that answers: the hosted model if one is configured, else the offline model,
//! which also answers if the hosted model fails (D10, D11).

use std::{collections::BTreeMap, panic::AssertUnwindSafe};

use futures::FutureExt;
use seven_domain::{Offer, TurnId};
use seven_guest::{Confidence, offers::Facts};
use seven_host::{Ending, Manifest, machine::Reason};
use seven_packs::TextKey;
use seven_store::standing::Standing;
use seven_telemetry::{metrics, trace};
use seven_tools::{Given, Guest, Toolbox};
use tokio::time::{Instant, timeout, timeout_at};
use uuid::Uuid;

use crate::{
    agent_reply::AgentReply,
    fallback,
    hosted::{self, Answer, Down, Memory, PANICKED, TURN_TIMEOUT, is_degraded},
    models::Hosted,
    turn_input::{self, TurnInput},
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
    let Some(hosted) = &swarm.settings.hosted else {
        return offline(swarm, work, input).await;
    };
    let deadline = Instant::now() + swarm.settings.model_deadline;
    let thought =
        AssertUnwindSafe(Box::pin(ask_hosted(swarm, hosted, work, input, deadline))).catch_unwind();
    let answer = timeout_at(deadline, thought).await;
    match answer
        .unwrap_or(Ok(Err(Down(TURN_TIMEOUT))))
        .unwrap_or(Err(Down(PANICKED)))
    {
        Ok(answer) if is_degraded(answer.ending) => {
            degraded(work, answer.down.unwrap_or("no_answer"));
            Ok(offline(swarm, work, input).await?.after(Some(answer), true))
        }
        Ok(answer) if answer.ending == Ending::Greeting => Ok(offline(swarm, work, input)
            .await?
            .after(Some(answer), false)),
        Ok(answer) => Ok(ended(hosted, work, input, answer)),
        Err(Down(why)) => {
            degraded(work, why);
            Ok(offline(swarm, work, input).await?.after(None, true))
        }
    }
}

async fn ask_hosted(
    swarm: &Swarm,
    hosted: &Hosted,
    work: &Work,
    input: &TurnInput,
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
    let grant = turn_input::grant(work);
    let given = Given {
        casino: &work.config,
        index: &work.index,
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
        embedder: Some(swarm.settings.embedding.embedder()),
    };
    let guest = Guest {
        profile: &input.profile,
        grant: Some(&grant),
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
        .await;
    let took = began.elapsed().as_secs_f64();
    metrics()
        .guests
        .retrieval_seconds
        .with_label_values(&[work.casino.as_str()])
        .observe(took);
    let toolbox = Toolbox::new(given, guest, agent);
    Ok(hosted::answer(hosted, work, input, &query, memory, toolbox, deadline).await)
}

/// Reads what the tools need from the database. The lease keeps it from changing during the turn.
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
                &input.request.state,
            )
        }
        _ => {
            debug_assert!(!matches!(
                answer.ending,
                Ending::Fallback(Reason::Model | Reason::ValidatorDown)
            ));
            let fallback = fallback::text(work, language);
            let state = &input.request.state;
            AgentReply::fixed(
                answer, name, "fallback", fallback, "fallback", language, state,
            )
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
