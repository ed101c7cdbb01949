//! Welcomes a returning guest and counts the turn in its session. Prepares what the turn's commit
//! writes about session and profile.

use chrono::{DateTime, Utc};
use seven_domain::{Language, MessageClass};
use seven_guest::{
    Confidence, Counted, Key, Phase, Profile, Session,
    completeness::completeness,
    escalation::{Mood, Trigger},
    phase::Rescue,
    session::{self, Resume, Step, Subject, TurnSeen},
};
use seven_host::{Ending, manner::calmed, plan::Sentiment};
use seven_knowledge::{Category, Index};
use seven_llm::Reply;
use seven_packs::{Slots, TextKey};
use seven_runtime::Error;
use seven_store::sessions::SessionAfter;
use seven_telemetry::metrics;
use seven_tools::Effect;
use uuid::Uuid;

use crate::{
    agent_reply::AgentReply,
    history::{History, is_current},
    pause::{self, ESCALATION},
    turn_input::TurnInput,
    types::{Swarm, Work},
};

/// Maximum number of characters of a guest's name in the line that welcomes the guest back. A
/// longer name is left out, because the line has to stay short.
const MOST_NAME: usize = 16;
/// Maximum number of characters of a subject in the welcome line; a longer subject is left out.
const MOST_TOPIC: usize = 40;
/// A session that reaches this many turns is counted as long in the metrics; it may be a loop.
const LONG: u32 = 16;
/// The intent of a reply that asks the guest what was meant.
const UNCLEAR: &str = "unclear";

/// A reply, with everything that is committed together with it.
#[derive(Debug)]
pub(crate) struct ReadyTurn {
    pub(crate) agent_reply: AgentReply,
    /// The reply as the guest reads it, without a disclosure before it.
    pub(crate) draft: String,
    pub(crate) class: MessageClass,
    /// The session, with this turn counted.
    pub(crate) session: Session,
    pub(crate) cases: Vec<Trigger>,
}

/// The state that a turn leaves in its session and, if it changed, in the guest's profile.
#[derive(Debug)]
pub(crate) struct After {
    pub(crate) session: Option<SessionAfter>,
    pub(crate) profile: Option<serde_json::Value>,
}

// === impl ReadyTurn ===

impl ReadyTurn {
    /// Counts what the committed turn added to the guest's profile and to its session.
    pub(crate) fn count(&self, work: &Work, input: &TurnInput) {
        let (casino, guests) = (work.casino.as_str(), &metrics().guests);
        if work.history.is_fresh() {
            let filled = completeness(&input.profile, input.request.now).get();
            guests.sessions.with_label_values(&[casino]).inc();
            guests
                .completeness
                .with_label_values(&[casino])
                .observe(filled);
        }
        if self.session.turns == LONG {
            guests.long_sessions.with_label_values(&[casino]).inc();
        }
        guests
            .fields
            .with_label_values(&[casino])
            .inc_by(input.learnt.len() as u64);
        for effect in &self.agent_reply.effects {
            match effect {
                Effect::Offer(_) => guests.offers.with_label_values(&[casino, "issued"]).inc(),
                Effect::Redeemed { .. } => {
                    guests.offers.with_label_values(&[casino, "redeemed"]).inc();
                }
                Effect::Observe(_) => {}
            }
        }
    }
}

/// Returns the text that will stand before the reply: the disclosure, and a welcome for a returning
/// guest. The reply's language is not known yet, so the longest of the welcomes in all languages is
/// used.
pub(crate) fn lead(swarm: &Swarm, work: &Work, disclosure: Option<String>) -> Option<String> {
    let now = swarm.fleet.clock.property_now();
    let welcomes = Language::ALL
        .into_iter()
        .filter_map(|language| welcome(work, language, None, now));
    let welcome = welcomes.max_by_key(|text| text.chars().count());
    let parts: Vec<String> = disclosure.into_iter().chain(welcome).collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}

/// Counts the turn in the session and finds the cases that the turn calls for. If a person takes
/// over, the text that says so replaces the reply.
pub(crate) fn weigh(
    swarm: &Swarm,
    work: &Work,
    input: &TurnInput,
    agent_reply: AgentReply,
    triggers: Vec<Trigger>,
) -> ReadyTurn {
    let now = swarm.fleet.clock.property_now();
    let texts = &input.request.texts;
    let mut session = work.history.session.clone();
    if let Some(profile) = &work.profile {
        // The phase of the conversation is taken from the profile, not from the session.
        session.phase = profile.engagement.conversation_phase;
    }
    session.take(&seen(work, input, &agent_reply, texts));
    session.dialogue.clone_from(&agent_reply.reply.state);
    let mut cases = pause::cases(work, &session, triggers);
    cases.extend(pause::unsure(work, &agent_reply, &cases));
    let taken = cases.iter().find(|case| case.takes_over);
    if let Some(case) = taken {
        // If no model was asked, the reply is already the text that says that a person will write.
        // Otherwise that text replaces the model's reply.
        let is_said = agent_reply.reply.intent == ESCALATION;
        let agent_reply = if is_said {
            agent_reply
        } else {
            pause::holding(
                swarm,
                work,
                case,
                agent_reply.reply.language,
                Some(agent_reply),
            )
        };
        let draft = agent_reply.reply.text.clone();
        return ReadyTurn {
            agent_reply,
            draft,
            class: MessageClass::Holding,
            session,
            cases,
        };
    }
    let lost =
        session.counts.circles.rescue() == Rescue::Menu && agent_reply.reply.intent == UNCLEAR;
    let agent_reply = if lost {
        menu(work, agent_reply)
    } else {
        agent_reply
    };
    let topic = (agent_reply.reply.intent == "greeting" && agent_reply.reply.sources.is_empty())
        .then_some(&work.history);
    let welcome = welcome(work, agent_reply.reply.language, topic, now);
    let draft = welcome
        .into_iter()
        .chain([agent_reply.reply.text.clone()])
        .collect::<Vec<_>>()
        .join(" ");
    let most = work.config.branding.exclamation_limit;
    let draft = if draft.contains('!') {
        calmed(&draft, most, &loud_names(work, now))
    } else {
        draft
    };
    ReadyTurn {
        agent_reply,
        draft,
        class: MessageClass::Reply,
        session,
        cases,
    }
}

/// Returns the session, phase and profile for the turn's commit to write.
pub(crate) fn settle(
    swarm: &Swarm,
    work: &Work,
    input: &mut TurnInput,
    ready: &ReadyTurn,
) -> Result<After, Error> {
    let mut session = ready.session.clone();
    let now = swarm.fleet.clock.property_now();
    let next = session::advance(&session, &input.profile, &step(work, input, ready, now));
    if next != session.phase {
        tracing::info!(
            casino = %work.casino,
            conversation_id = %work.lease.conversation_id,
            from = session.phase.as_str(),
            to = next.as_str(),
            trace = work.trace,
            "the conversation's phase changed"
        );
        session.enter(next);
        input.profile.engagement.conversation_phase = next;
        input.profile.engagement.phase_entered_at = Some(now);
    }
    input.profile.count(&counted(work, ready, now));
    let session = work
        .history
        .place
        .session
        .as_ref()
        .map(|row| after(row.session_id, next, &session))
        .transpose()?;
    let profile = (work.profile.as_ref() != Some(&input.profile)).then(|| input.profile.to_json());
    Ok(After { session, profile })
}

fn step(work: &Work, input: &TurnInput, ready: &ReadyTurn, now: DateTime<Utc>) -> Step {
    let plan = ready.agent_reply.record.plan.as_ref();
    Step {
        now,
        today: now
            .with_timezone(&work.config.operational.timezone)
            .date_naive(),
        // Always true here, because the compliance gate passes on no text of a guest who opted out.
        reachable: true,
        escalated: work.history.place.open_cases > 0
            || ready.cases.iter().any(|case| case.takes_over),
        offer_readiness: plan.map_or(Confidence::ZERO, |plan| {
            Confidence::clamped(plan.offer_readiness)
        }),
        silence: work.history.silence(),
        names_next_visit: input
            .learnt
            .iter()
            .any(|path| path == Key::VisitDate.path()),
    }
}

/// Returns the names in the casino's content that contain an exclamation mark.
fn loud_names(work: &Work, now: DateTime<Utc>) -> Vec<&str> {
    let rows = work
        .index
        .current(now)
        .flat_map(|item| [Some(item.name.as_str()), item.name_es.as_deref()]);
    rows.flatten()
        .chain([work.config.prompts.casino_name_display.as_str()])
        .filter(|name| name.contains('!'))
        .collect()
}

/// Returns what the turn adds to the guest's counters.
fn counted(work: &Work, ready: &ReadyTurn, now: DateTime<Utc>) -> Counted {
    let effects = |is: fn(&Effect) -> bool| {
        ready
            .agent_reply
            .effects
            .iter()
            .filter(|effect| is(effect))
            .count()
    };
    Counted {
        now,
        texts: work.open.len(),
        fresh: work.history.is_fresh(),
        offers: effects(|effect| matches!(effect, Effect::Offer(_))),
        redeemed: effects(|effect| matches!(effect, Effect::Redeemed { .. })),
        escalations: ready.cases.len(),
        mood: ready.session.counts.moods.last().copied(),
    }
}

fn after(session_id: Uuid, phase: Phase, session: &Session) -> Result<SessionAfter, Error> {
    let json = |error: serde_json::Error| Error::Other(error.to_string());
    Ok(SessionAfter {
        session_id,
        phase: phase.as_str(),
        turns: session.turns,
        summary: serde_json::to_value(&session.summary).map_err(json)?,
        counts: serde_json::to_value(&session.counts).map_err(json)?,
        dialogue: serde_json::to_value(&session.dialogue).map_err(json)?,
    })
}

/// Replaces a clarifying question by a broad choice in plain words; used after three turns without
/// progress.
fn menu(work: &Work, agent_reply: AgentReply) -> AgentReply {
    let text = work
        .pack
        .say(TextKey::Menu, agent_reply.reply.language, &work.config);
    let mut record = agent_reply.record;
    record.path.push("menu".to_owned());
    AgentReply {
        reply: Reply {
            text,
            ..agent_reply.reply
        },
        record,
        ..agent_reply
    }
}

fn seen<'a>(
    work: &Work,
    input: &TurnInput,
    agent_reply: &AgentReply,
    texts: &'a [String],
) -> TurnSeen<'a> {
    let record = &agent_reply.record;
    let fallback = matches!(record.ending, Some(Ending::Fallback(_)));
    let route = record.route.as_ref();
    let about = about(&work.index, &agent_reply.reply.sources);
    let staged = agent_reply
        .effects
        .iter()
        .any(|effect| matches!(effect, Effect::Offer(_)));
    TurnSeen {
        texts,
        rejects: work.pack.offers.is_any_rejection(texts),
        offers: staged || about.iter().any(|subject| subject.offer),
        about,
        answered: agent_reply.reply.grounded && !fallback,
        fallback,
        ambiguous: agent_reply.reply.intent == UNCLEAR
            || route.is_some_and(|route| {
                route.domain.is_none()
                    && route.confidence < work.pack.agents.limits.least_confidence
            }),
        news: !input.learnt.is_empty(),
        mood: record.plan.as_ref().map(|plan| mood(plan.sentiment)),
        // A refused draft is not counted if the offline host's answer was sent instead of it.
        validation_failures: u32::from(matches!(
            record.ending,
            Some(Ending::Fallback(seven_host::machine::Reason::Refused))
        )),
    }
}

fn mood(sentiment: Sentiment) -> Mood {
    match sentiment {
        Sentiment::Positive => Mood::Positive,
        Sentiment::Neutral => Mood::Neutral,
        Sentiment::Cautious => Mood::Cautious,
        Sentiment::Negative => Mood::Negative,
    }
}

/// Returns the content rows behind a reply as subjects for a later session. Leaves out hours, rules
/// and general information.
fn about(index: &Index, sources: &[String]) -> Vec<Subject> {
    let rows = sources.iter().filter_map(|id| index.get(id));
    let ready = rows.filter(|item| {
        !matches!(
            item.category,
            Category::Hours | Category::Regulations | Category::GeneralInfo
        )
    });
    ready
        .map(|item| Subject {
            id: item.id.clone(),
            name: item.name.clone(),
            offer: item.category == Category::Promotions,
        })
        .collect()
}

/// Returns a line that welcomes a guest back in the first reply of a new session. `None` for any
/// other reply, and while a case is open. If `last` is given, the line also names the last subject
/// of the previous session.
fn welcome(
    work: &Work,
    language: Language,
    last: Option<&History>,
    now: DateTime<Utc>,
) -> Option<String> {
    let history = &work.history;
    let name = work.profile.as_ref().and_then(|profile| name(profile, now));
    let met = match session::resume(
        Some(&history.session),
        history.before.as_ref(),
        name.is_some(),
    ) {
        Resume::Warm | Resume::Cold => history.place.open_cases == 0,
        Resume::Same | Resume::NewGuest => false,
    };
    let topic = last.and_then(|history| history.before.as_ref()?.summary.last());
    let topic = topic.filter(|topic| {
        topic.name.chars().count() <= MOST_TOPIC && is_current(&work.index, topic, now)
    });
    let topic = topic.map_or("", |topic| topic.name.as_str());
    let slots = Slots {
        guest: name.as_deref().unwrap_or_default(),
        topic,
        ..work.pack.slots(&work.config)
    };
    met.then(|| {
        work.pack
            .texts
            .render(TextKey::WelcomeBack, language, &slots)
    })
}

/// Returns the guest's name, if it is short and no person has to review it.
fn name(profile: &Profile, now: DateTime<Utc>) -> Option<String> {
    let settled = profile
        .field(Key::Name)
        .is_some_and(|field| !field.needs_review);
    let name = profile
        .seen(Key::Name, now)
        .filter(|_| settled)?
        .as_text()?;
    (1..=MOST_NAME)
        .contains(&name.chars().count())
        .then(|| name.to_owned())
}
