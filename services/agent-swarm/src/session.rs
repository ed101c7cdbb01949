//! The session of a turn (SMS-26, DATA-24, DATA-25, CONV-30): which earlier texts the turn is
//! shown, how a returning guest is welcomed, and what the turn's commit writes about both.

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
    pause::{self, ESCALATION},
    recall::{Recall, is_current},
    scene::Scene,
    speech::Speech,
    types::{Swarm, Work},
};

/// Names with more characters are left out of the welcome-back line, which has to stay short.
const MOST_NAME: usize = 16;
const MOST_TOPIC: usize = 40;
/// A session with this many turns is counted as long: it may be a loop.
const LONG: u32 = 16;
/// Intent of a reply that asks the guest what the guest meant.
const UNCLEAR: &str = "unclear";

/// A reply with everything that is committed together with it.
#[derive(Debug)]
pub(crate) struct Told {
    pub(crate) speech: Speech,
    /// The reply as the guest reads it, without the disclosure that may precede it.
    pub(crate) draft: String,
    pub(crate) class: MessageClass,
    /// The session, including this turn.
    pub(crate) session: Session,
    pub(crate) cases: Vec<Trigger>,
}

/// The state that a turn leaves in its session and, where it changed, in the guest's profile.
#[derive(Debug)]
pub(crate) struct After {
    pub(crate) session: Option<SessionAfter>,
    pub(crate) profile: Option<serde_json::Value>,
}

// === impl Told ===

impl Told {
    /// Counts what the committed turn added to the guest's profile and its session (OBS-27).
    pub(crate) fn count(&self, work: &Work, scene: &Scene) {
        let (casino, guests) = (work.casino.as_str(), &metrics().guests);
        if work.recall.is_fresh() {
            let filled = completeness(&scene.profile, scene.request.now).get();
            guests.sessions.with_label_values(&[casino]).inc();
            guests.completeness.with_label_values(&[casino]).observe(filled);
        }
        if self.session.turns == LONG {
            guests.long_sessions.with_label_values(&[casino]).inc();
        }
        guests.fields.with_label_values(&[casino]).inc_by(scene.learnt.len() as u64);
        for effect in &self.speech.effects {
            match effect {
                Effect::Offer(_) => guests.offers.with_label_values(&[casino, "issued"]).inc(),
                Effect::Redeemed { .. } => guests.offers.with_label_values(&[casino, "redeemed"]).inc(),
                Effect::Observe(_) => {}
            }
        }
    }
}

/// Returns the text that will precede the reply: the disclosure, and a welcome for a returning
/// guest. Takes the language with the longer welcome, so that there is room for either.
pub(crate) fn lead(swarm: &Swarm, work: &Work, disclosure: Option<String>) -> Option<String> {
    let now = swarm.fleet.clock.property_now();
    let welcomes = Language::ALL.into_iter().filter_map(|language| welcome(work, language, None, now));
    let welcome = welcomes.max_by_key(|text| text.chars().count());
    let parts: Vec<String> = disclosure.into_iter().chain(welcome).collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}

/// Adds the reply to the session and opens the cases that the turn calls for. Replaces the reply
/// with the holding text where a person takes over.
pub(crate) fn weigh(swarm: &Swarm, work: &Work, scene: &Scene, speech: Speech, triggers: Vec<Trigger>) -> Told {
    let now = swarm.fleet.clock.property_now();
    let texts = &scene.request.texts;
    let mut session = work.recall.session.clone();
    if let Some(profile) = &work.profile {
        // The profile, not the session, decides the phase of the conversation (CONV-30).
        session.phase = profile.engagement.conversation_phase;
    }
    session.take(&seen(work, scene, &speech, texts));
    let cases = pause::cases(work, &session, triggers);
    let taken = cases.iter().find(|case| case.takes_over);
    if let Some(case) = taken {
        // The holding text may already be the reply, if no model was asked. Otherwise it replaces
        // the model's reply.
        let is_said = speech.reply.intent == ESCALATION;
        let speech =
            if is_said { speech } else { pause::holding(swarm, work, case, speech.reply.language, Some(speech)) };
        let draft = speech.reply.text.clone();
        return Told { speech, draft, class: MessageClass::Holding, session, cases };
    }
    let lost = session.counts.circles.rescue() == Rescue::Menu && speech.reply.intent == UNCLEAR;
    let speech = if lost { menu(work, speech) } else { speech };
    let topic = (speech.reply.intent == "greeting" && speech.reply.sources.is_empty()).then_some(&work.recall);
    let welcome = welcome(work, speech.reply.language, topic, now);
    let draft = welcome.into_iter().chain([speech.reply.text.clone()]).collect::<Vec<_>>().join(" ");
    let most = work.config.branding.exclamation_limit;
    let draft = if draft.contains('!') { calmed(&draft, most, &loud_names(work, now)) } else { draft };
    Told { speech, draft, class: MessageClass::Reply, session, cases }
}

/// Returns the session, phase and profile that the turn's commit writes.
pub(crate) fn settle(swarm: &Swarm, work: &Work, scene: &mut Scene, told: &Told) -> Result<After, Error> {
    let mut session = told.session.clone();
    let now = swarm.fleet.clock.property_now();
    let next = session::advance(&session, &scene.profile, &step(work, scene, told, now));
    if next != session.phase {
        tracing::info!(casino = %work.casino, conversation_id = %work.lease.conversation_id, from = session.phase.as_str(), to = next.as_str(), trace = work.trace, "the conversation's phase changed");
        session.enter(next);
        scene.profile.engagement.conversation_phase = next;
        scene.profile.engagement.phase_entered_at = Some(now);
    }
    scene.profile.count(&counted(work, told, now));
    let session = work.recall.place.session.as_ref().map(|row| after(row.session_id, next, &session)).transpose()?;
    let profile = (work.profile.as_ref() != Some(&scene.profile)).then(|| scene.profile.to_json());
    Ok(After { session, profile })
}

fn step(work: &Work, scene: &Scene, told: &Told, now: DateTime<Utc>) -> Step {
    let plan = told.speech.record.plan.as_ref();
    Step {
        now,
        today: now.with_timezone(&work.config.operational.timezone).date_naive(),
        // Always true: the compliance gate passes on no text of a guest who opted out.
        reachable: true,
        escalated: work.recall.place.open_cases > 0 || told.cases.iter().any(|case| case.takes_over),
        offer_readiness: plan.map_or(Confidence::ZERO, |plan| Confidence::clamped(plan.offer_readiness)),
        silence: work.recall.silence(),
        names_next_visit: scene.learnt.iter().any(|path| path == Key::VisitDate.path()),
    }
}

/// Returns the names in the casino's content that contain an exclamation mark themselves.
fn loud_names(work: &Work, now: DateTime<Utc>) -> Vec<&str> {
    let rows = work.index.current(now).flat_map(|item| [Some(item.name.as_str()), item.name_es.as_deref()]);
    rows.flatten().chain([work.config.prompts.casino_name_display.as_str()]).filter(|name| name.contains('!')).collect()
}

/// Returns what the turn adds to the guest's counters (DATA-19, CONV-52).
fn counted(work: &Work, told: &Told, now: DateTime<Utc>) -> Counted {
    let effects = |is: fn(&Effect) -> bool| told.speech.effects.iter().filter(|effect| is(effect)).count();
    Counted {
        now,
        texts: work.open.len(),
        fresh: work.recall.is_fresh(),
        offers: effects(|effect| matches!(effect, Effect::Offer(_))),
        redeemed: effects(|effect| matches!(effect, Effect::Redeemed { .. })),
        escalations: told.cases.len(),
        mood: told.session.counts.moods.last().copied(),
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
    })
}

/// Replaces one more clarifying question with a broad choice in plain words, after three turns that
/// led nowhere (CONV-33).
fn menu(work: &Work, speech: Speech) -> Speech {
    let text = work.pack.say(TextKey::Menu, speech.reply.language, &work.config);
    let mut record = speech.record;
    record.path.push("menu".to_owned());
    Speech { reply: Reply { text, ..speech.reply }, record, ..speech }
}

fn seen<'a>(work: &Work, scene: &Scene, speech: &Speech, texts: &'a [String]) -> TurnSeen<'a> {
    let record = &speech.record;
    let fallback = matches!(record.ending, Some(Ending::Fallback(_)));
    let route = record.route.as_ref();
    let about = about(&work.index, &speech.reply.sources);
    let staged = speech.effects.iter().any(|effect| matches!(effect, Effect::Offer(_)));
    TurnSeen {
        texts,
        offers: staged || about.iter().any(|subject| subject.offer),
        about,
        answered: speech.reply.grounded && !fallback,
        fallback,
        ambiguous: speech.reply.intent == UNCLEAR
            || route.is_some_and(|route| {
                route.domain.is_none() && route.confidence < work.pack.agents.limits.least_confidence
            }),
        news: !scene.learnt.is_empty(),
        mood: record.plan.as_ref().map(|plan| mood(plan.sentiment)),
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

/// Returns the content rows behind a reply, as subjects to mention in a later session. Leaves out
/// hours, house rules and general information.
fn about(index: &Index, sources: &[String]) -> Vec<Subject> {
    let rows = sources.iter().filter_map(|id| index.get(id));
    let told =
        rows.filter(|item| !matches!(item.category, Category::Hours | Category::Regulations | Category::GeneralInfo));
    told.map(|item| Subject {
        id: item.id.clone(),
        name: item.name.clone(),
        offer: item.category == Category::Promotions,
    })
    .collect()
}

/// Returns one warm line for the first reply after a session ended; with `last`, it names the last
/// subject of that session. Returns none while a case is open: a guest who complained gets no
/// cheerful welcome.
fn welcome(work: &Work, language: Language, last: Option<&Recall>, now: DateTime<Utc>) -> Option<String> {
    let recall = &work.recall;
    let name = work.profile.as_ref().and_then(|profile| name(profile, now));
    let met = match session::resume(Some(&recall.session), recall.before.as_ref(), name.is_some()) {
        Resume::Warm | Resume::Cold => recall.place.open_cases == 0,
        Resume::Same | Resume::NewGuest => false,
    };
    let topic = last.and_then(|recall| recall.before.as_ref()?.summary.last());
    let topic = topic.filter(|topic| topic.name.chars().count() <= MOST_TOPIC && is_current(&work.index, topic, now));
    let topic = topic.map_or("", |topic| topic.name.as_str());
    let slots = Slots { guest: name.as_deref().unwrap_or_default(), topic, ..work.pack.slots(&work.config) };
    met.then(|| work.pack.texts.render(TextKey::WelcomeBack, language, &slots))
}

/// Returns the guest's name, if it is short and needs no review.
fn name(profile: &Profile, now: DateTime<Utc>) -> Option<String> {
    let settled = profile.field(Key::Name).is_some_and(|field| !field.needs_review);
    let name = profile.seen(Key::Name, now).filter(|_| settled)?.as_text()?;
    (1..=MOST_NAME).contains(&name.chars().count()).then(|| name.to_owned())
}
