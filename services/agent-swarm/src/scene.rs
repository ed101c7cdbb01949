//! Builds the starting state of a turn: facts about the guest learnt from the texts, the language,
//! and the topic that may be asked next. Pure.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use seven_domain::Language;
use seven_guest::{
    Confidence, Grant, GrantRef, Observation, Profile, Scope, Setting, Topic,
    topic::{self, Next, Situation},
};
use seven_llm::{Exchange, Model, Request};
use uuid::Uuid;

use crate::{joined::joined, types::Work};

/// Version of the privacy notice under which a guest's words are kept (DATA-43).
const NOTICE: u32 = 1;

/// Everything a model needs for one turn, and what the turn's commit will write about the guest.
#[derive(Debug, Clone)]
pub(crate) struct Scene {
    pub(crate) request: Request,
    /// The language of the texts; a model may still answer in another.
    pub(crate) language: Language,
    /// The guest's profile, including what the texts say.
    pub(crate) profile: Profile,
    /// Profile paths that the texts changed.
    pub(crate) learnt: Vec<String>,
}

/// The inputs of a scene that are not in the [`Work`].
#[derive(Debug)]
pub(crate) struct TurnContext {
    pub(crate) now: DateTime<Utc>,
    /// Text that the envelope will put before the reply.
    pub(crate) lead: Option<String>,
    pub(crate) deadline: std::time::Duration,
}

/// Returns whether the casino's content contains the word; called only for a word that looks cut in
/// two.
fn content_has(work: &Work, word: &str, now: DateTime<Utc>) -> bool {
    let is_word = |text: &String| text.split(|c: char| !c.is_alphabetic()).any(|one| one.eq_ignore_ascii_case(word));
    work.index.texts(now).iter().any(is_word)
}

impl Scene {
    pub(crate) fn of(work: &Work, model: &dyn Model, around: TurnContext) -> Self {
        let config = &work.config;
        let bodies: Vec<String> = work.open.iter().map(|text| text.body.clone()).collect();
        let texts = joined(&bodies, |word| content_has(work, word, around.now));
        let stored = work.lease.language.as_deref().and_then(|language| language.parse().ok());
        let language = model.language(&texts, stored);
        let (profile, learnt) = learn(work, language, around.now);
        let ask = next_topic(&profile, &texts, around.now);
        let (_, seed) = work.open.first().map_or(Uuid::nil(), |text| text.inbound_id).as_u64_pair();
        let request = Request {
            casino_name: config.prompts.casino_name_display.clone(),
            contact_phone: config.operational.contact_phone.clone(),
            persona: config.branding.persona_name.clone(),
            zone: config.operational.timezone,
            now: around.now,
            language: stored,
            lead: around.lead,
            texts,
            history: work.recall.history().iter().map(exchange).collect(),
            index: Arc::clone(&work.index),
            seed,
            deadline: around.deadline,
            profile: profile.context(around.now),
            summary: work.recall.summary(&work.index, &profile, around.now),
            ask,
        };
        Self { request, language, profile, learnt }
    }

    /// Adds an observation that a tool of the turn made.
    pub(crate) fn observe(&mut self, seen: Observation) {
        let path = seen.key.path();
        if self.profile.observe(seen).is_news() && !self.learnt.iter().any(|known| known == path) {
            self.learnt.push(path.to_owned());
        }
    }

    /// Records the topic that the reply asks about, so that the answer is understood and the topic
    /// is not asked twice in a row (CONV-25).
    pub(crate) fn asked(&mut self, topic: Option<Topic>) {
        self.profile.engagement.last_profiling_topic = topic.or(self.profile.engagement.last_profiling_topic);
    }
}

fn exchange((guest, host): &(String, String)) -> Exchange {
    Exchange { guest: guest.clone(), host: host.clone() }
}

/// Returns the consent under which a guest's own words are kept: given by texting us, and for
/// service to this guest only (DATA-38).
pub(crate) fn grant(work: &Work) -> Grant {
    let reference = GrantRef(work.lease.guest_id.0);
    Grant { scope: Scope::Personalization, detail: String::new(), reference, version: NOTICE }
}

fn learn(work: &Work, language: Language, now: DateTime<Utc>) -> (Profile, Vec<String>) {
    let mut profile = work.profile.clone().unwrap_or_else(|| Profile::new(now));
    let asked = profile.engagement.last_profiling_topic;
    let setting = Setting { now, zone: work.config.operational.timezone, language, asked };
    let mut learnt = Vec::new();
    for text in &work.open {
        learnt.extend(profile.learn(&text.body, &setting, now, &grant(work)).paths);
    }
    learnt.sort_unstable();
    learnt.dedup();
    (profile, learnt)
}

/// Returns the topic to ask next; none while a question of the guest is open. A reply to such a
/// question may still end with one, which the model decides.
fn next_topic(profile: &Profile, texts: &[String], now: DateTime<Utc>) -> Option<Topic> {
    let asked: Vec<Topic> = profile.engagement.last_profiling_topic.into_iter().collect();
    let situation = Situation {
        phase: profile.engagement.conversation_phase,
        asked: &asked,
        guest_question_open: texts.is_empty(),
        paused: false,
        offer_readiness: Confidence::ZERO,
    };
    match topic::next(profile, &situation, now) {
        Next::Ask(topic) => Some(topic),
        Next::OfferReady | Next::Nothing(_) => None,
    }
}
