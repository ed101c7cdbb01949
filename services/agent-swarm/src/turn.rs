//! Runs one turn. Asks the model, and renews the lease meanwhile. Commits if the epoch is
//! unchanged, and announces the draft.

use std::time::Duration;

use seven_bus::Outcome;
use seven_compliance::disclosure::{self, Facts};
use seven_domain::{DisclosureKind, Language, TurnId};
use seven_faults::failpoint;
use seven_host::Record;
use seven_packs::TextKey;
use seven_runtime::Error;
use seven_store::{
    Tx,
    turns::{Committing, Kept, NewTurn},
};
use seven_telemetry::trace;
use seven_tools::Effect;
use sha2::{Digest, Sha256};
use tokio::time::{Instant, sleep_until};
use uuid::Uuid;

use crate::{
    agent_reply::AgentReply,
    fallback, mutant, pause,
    session::{self, After, ReadyTurn},
    switches::silent,
    think,
    turn_input::{TurnContext, TurnInput},
    types::{LeaseCommit, Swarm, Work},
    vetting::flag,
};

/// After this many failures of one turn, the guest gets the fallback text.
const MOST_TRIES: i32 = 5;

enum Asked {
    Replied(Box<AgentReply>),
    /// A STOP, a takeover or another worker raised the epoch, so this turn must not reply.
    Overtaken,
    Failed(String),
}

pub(crate) async fn turn(
    swarm: &Swarm,
    work: Work,
    leasing: LeaseCommit,
) -> Result<Outcome, Error> {
    let mut span = trace::step("seven.turn", "").entered();
    span.tell("seven.thread_id", &work.lease.conversation_id);
    span.set("seven.message_count", work.open.len());
    failpoint!("swarm.after_lease");
    let overtaken = Outcome::Wait {
        after: Duration::from_millis(50),
        why: "epoch_moved",
    };
    if work.history.place.paused.is_some() {
        leased(leasing).await?;
        return pause::hold(swarm, &work).await;
    }
    let mut input = input(swarm, &work);
    let triggers = pause::triggers(&work);
    let asked = match pause::hand_over(swarm, &work, &triggers) {
        Some(agent_reply) => Asked::Replied(Box::new(agent_reply)),
        None => ask(swarm, &work, &input).await?,
    };
    leased(leasing).await?;
    match asked {
        Asked::Replied(agent_reply) => {
            let ready = session::weigh(swarm, &work, &input, *agent_reply, triggers);
            ready.agent_reply.describe(&mut span);
            Ok(if commit(swarm, &work, &mut input, &ready).await? {
                Outcome::Done
            } else {
                overtaken
            })
        }
        Asked::Overtaken => {
            span.set("seven.outcome", "overtaken");
            Ok(overtaken)
        }
        Asked::Failed(why) => {
            span.fail("no_reply");
            failed(swarm, &work, &why).await
        }
    }
}

/// Asks the model for the reply, and renews the lease until the reply comes.
async fn ask(swarm: &Swarm, work: &Work, input: &TurnInput) -> Result<Asked, Error> {
    let lease = swarm.fleet.timing.lease();
    let thought = think::think(swarm, work, input);
    tokio::pin!(thought);
    let mut renew_at = Instant::now() + lease / 3;
    loop {
        tokio::select! {
            said = &mut thought => return Ok(said.map_or_else(
                Asked::Failed,
                |agent_reply| Asked::Replied(Box::new(agent_reply)),
            )),
            () = sleep_until(renew_at) => {
                let mut tx = swarm.fleet.store.bind(&work.casino).await?;
                let ours = tx.renew_lease(
                    work.lease.conversation_id,
                    work.lease.epoch,
                    lease,
                ).await?;
                tx.commit().await?;
                if !ours {
                    return Ok(Asked::Overtaken);
                }
                renew_at = Instant::now() + lease / 3;
            }
        }
    }
}

fn input(swarm: &Swarm, work: &Work) -> TurnInput {
    let around = TurnContext {
        now: swarm.fleet.clock.property_now(),
        lead: session::lead(
            swarm,
            work,
            disclosure_due(work).map(|due| disclosure(work, due)),
        ),
        deadline: swarm.settings.model_deadline,
    };
    TurnInput::of(work, &*work.model, around)
}

/// Writes the turn under the conversation's lock, and marks as answered exactly the texts that the
/// turn read. Returns false if nothing was written: another worker or a takeover raised the epoch,
/// or an operator's switch forbids turns.
async fn commit(
    swarm: &Swarm,
    work: &Work,
    input: &mut TurnInput,
    ready: &ReadyTurn,
) -> Result<bool, Error> {
    let agent_reply = &ready.agent_reply;
    let reply = &agent_reply.reply;
    let step = trace::step("seven.node.commit", "");
    let conversation = work.lease.conversation_id;
    let ids: Vec<Uuid> = work.open.iter().map(|t| t.inbound_id).collect();
    let Some((first, newest_text_at)) = work
        .open
        .first()
        .zip(work.open.iter().map(|t| t.since).max())
    else {
        return Ok(true);
    };
    let turn_id = TurnId(first.inbound_id);
    let turn = NewTurn {
        turn_id,
        conversation_id: conversation,
        guest_id: work.lease.guest_id,
        epoch: work.lease.epoch,
        agent: agent_reply.agent.clone(),
        model: agent_reply.model.clone(),
        intent: reply.intent.clone(),
        language: reply.language,
        verdict: "pass".to_owned(),
        draft: ready.draft.clone(),
        disclosure: disclosure_due(work),
        sources: reply.sources.clone(),
        grounded: reply.grounded,
        class: ready.class,
        newest_text_at,
        trace: work.trace.clone(),
        record: serde_json::to_value(Record {
            learnt: input.learnt.clone(),
            ..agent_reply.record.clone()
        })
        .map_err(|error| Error::Other(error.to_string()))?,
    };
    if work.profile.is_none()
        && let Some(due) = disclosure_due(work)
    {
        // The envelope puts the disclosure before the reply. The profile keeps a hash of the
        // disclosure's wording.
        let key = TextKey::disclosure(due, work.lease.channel);
        let shown = work.pack.say(key, reply.language, &work.config);
        input.profile.note_wording(sha256(&shown));
    }
    let after = remember(swarm, work, input, ready)?;
    mutant::dawdle().await;
    let place = swarm.commits.acquire().await;
    // If a crash of the database loses this commit, the texts are open again and the sweep signals
    // them. Nothing has been sent by then: every send first commits a pre-send check, which makes
    // this earlier commit durable, too.
    let mut tx = swarm.fleet.store.bind_repeatable(&work.casino).await?;
    let ids: Vec<Uuid> = if mutant::answers_all() {
        tx.open_texts(conversation)
            .await?
            .iter()
            .map(|t| t.inbound_id)
            .collect()
    } else {
        ids
    };
    let kept = Kept {
        session: after.session.as_ref(),
        profile: after.profile.as_ref(),
    };
    let Some(Committing { switched, more }) = tx.commit_turn(&turn, &ids, kept).await? else {
        return Ok(false);
    };
    // If an operator set a switch while the model was working, the reply is dropped and the texts
    // stay open (D14).
    if silent(&switched) {
        drop(tx);
        let mut tx = swarm.fleet.store.bind(&work.casino).await?;
        tx.release_lease(conversation, work.lease.epoch).await?;
        tx.commit().await?;
        return Ok(false);
    }
    carry_out(swarm, &mut tx, work, ready).await?;
    flag(&mut tx, work, input, agent_reply, turn_id.0).await?;
    tx.audit_offer_calls(turn_id, None, &ready.agent_reply.offer_calls, &work.trace)
        .await?;
    failpoint!("swarm.before_commit");
    tx.commit().await?;
    // Frees the permit before publishing. The publish may wait for the bus, and other turns should
    // be able to commit meanwhile.
    drop(place);
    failpoint!("swarm.after_commit");
    drop(step);
    // The turn continues the trace of its oldest text up to the delivery receipt. The traces of its
    // other texts are linked to it.
    work.open
        .iter()
        .skip(1)
        .for_each(|text| trace::join(&text.trace, "seven.joined"));
    agent_reply.count(&work.casino);
    ready.count(work, input);
    tracing::info!(
        casino = %work.casino,
        turn_id = %turn_id,
        texts = ids.len(),
        agent = agent_reply.agent,
        intent = reply.intent,
        findings = agent_reply.record.findings.len(),
        grounded = reply.grounded,
        trace = work.trace,
        "turn made"
    );
    // If a crash of the database loses a turn, the turn is made again under the same id. The random
    // part keeps the bus from dropping the second signal as a duplicate of the first (D23).
    let making = swarm.fleet.ids.uuid();
    swarm
        .fleet
        .bus
        .signal_draft(
            &work.casino,
            turn_id.0,
            Some(format!("made:{making}")),
            &work.trace,
        )
        .await?;
    if let Some((next, trace)) = more {
        let copy = Some(format!("after:{making}"));
        swarm
            .fleet
            .bus
            .signal_conversation(&work.casino, conversation.0, next, copy, &trace)
            .await?;
    }
    failpoint!("swarm.after_publish");
    Ok(true)
}

/// Adds the turn's observations to the guest's profile, and the turn to the conversation's session.
/// Both are stored only with the reply.
fn remember(
    swarm: &Swarm,
    work: &Work,
    input: &mut TurnInput,
    ready: &ReadyTurn,
) -> Result<After, Error> {
    input.asked(ready.agent_reply.reply.asked);
    for effect in &ready.agent_reply.effects {
        if let Effect::Observe(seen) = effect {
            input.observe(seen.clone());
        }
    }
    session::settle(swarm, work, input, ready)
}

/// Writes the turn's offers and cases, in the transaction that commits the turn.
async fn carry_out(
    swarm: &Swarm,
    tx: &mut Tx,
    work: &Work,
    ready: &ReadyTurn,
) -> Result<(), Error> {
    for effect in &ready.agent_reply.effects {
        match effect {
            Effect::Observe(_) => {}
            Effect::Offer(offer) => drop(tx.issue(offer).await?),
            Effect::Redeemed { offer, at } => {
                tx.redeem(work.lease.guest_id, *offer, *at).await?;
            }
        }
    }
    pause::open_promised(swarm, tx, work, &ready.agent_reply.reply.staff).await?;
    pause::open_cases(swarm, tx, work, &ready.cases).await
}

/// Counts the failure in the rows of the texts. After the last try, sends the guest the fallback
/// text once and files a dead letter for operators.
async fn failed(swarm: &Swarm, work: &Work, why: &str) -> Result<Outcome, Error> {
    let ids: Vec<Uuid> = work.open.iter().map(|t| t.inbound_id).collect();
    let mut tx = swarm.fleet.store.bind(&work.casino).await?;
    tx.release_lease(work.lease.conversation_id, work.lease.epoch)
        .await?;
    let tries = tx.count_try(&ids, why).await?;
    tx.commit().await?;
    if tries < MOST_TRIES {
        let after = Duration::from_secs(u64::try_from(tries.max(1)).unwrap_or(1));
        return Ok(Outcome::Retry {
            after: swarm.fleet.timing.scaled(after),
            why: why.to_owned(),
        });
    }
    fallback::fall_back(swarm, work, why, u32::try_from(tries).unwrap_or(u32::MAX)).await
}

/// Waits until the lease is committed, because the turn must not write anything before that.
async fn leased(leasing: LeaseCommit) -> Result<(), Error> {
    Ok(leasing.await.map_err(|ended| {
        Error::Other(format!("the lease's transaction was given up: {ended}"))
    })??)
}

/// Returns the kind of AI disclosure that this reply needs; `None` if it needs none.
fn disclosure_due(work: &Work) -> Option<DisclosureKind> {
    disclosure::due(&Facts {
        enabled: work.config.features.ai_disclosure_enabled,
        required: work.config.regulations.ai_disclosure_required || work.lease.disclosure_required,
        ever_disclosed: work.lease.disclosed,
        disclosed_this_session: work.lease.disclosed_this_session,
        trigger: work.lease.redisclose,
    })
}

fn sha256(text: &str) -> String {
    let hash = Sha256::digest(text.as_bytes());
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the disclosure that the envelope will put before the reply. The model chooses the
/// reply's language later, so the longest of the disclosures in all languages is used.
fn disclosure(work: &Work, due: DisclosureKind) -> String {
    let key = TextKey::disclosure(due, work.lease.channel);
    let rendered = Language::ALL.map(|language| work.pack.say(key, language, &work.config));
    rendered
        .into_iter()
        .max_by_key(|text| text.chars().count())
        .unwrap_or_default()
}
