//! Builds the state with which a turn begins: what the texts tell about the guest, the language,
//! and the topic to ask about next. Pure.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use seven_domain::Language;
use seven_guest::{
    Confidence, DialogueState, Grant, Observation, Profile, Setting, Topic,
    profile::Context,
    topic::{self, Next, Situation},
};
use seven_llm::{Exchange, Model, Request};
use uuid::Uuid;

use crate::{joined::joined, types::Work};

/// All that a model needs for one turn, and what the turn's commit will write about the guest.
#[derive(Debug, Clone)]
pub(crate) struct TurnInput {
    pub(crate) request: Request,
    /// The language of the guest's texts; a model may answer in a different language.
    pub(crate) language: Language,
    /// The guest's profile, with the facts from the texts merged into it.
    pub(crate) profile: Profile,
    /// The profile paths that the texts changed.
    pub(crate) learnt: Vec<String>,
    /// The consent under which facts are kept; `None` if the guest revoked it.
    pub(crate) grant: Option<Grant>,
}

/// The inputs of [`TurnInput::of`] that are not in the [`Work`].
#[derive(Debug)]
pub(crate) struct TurnContext {
    pub(crate) now: DateTime<Utc>,
    /// The text that the persona envelope will put before the reply.
    pub(crate) lead: Option<String>,
    pub(crate) deadline: std::time::Duration,
}

/// Returns whether the casino's content contains the word. Called only for a word that seems to be
/// cut in two.
fn content_has(work: &Work, word: &str, now: DateTime<Utc>) -> bool {
    let is_word = |text: &String| {
        text.split(|c: char| !c.is_alphabetic())
            .any(|one| one.eq_ignore_ascii_case(word))
    };
    work.index.texts(now).iter().any(is_word)
}

impl TurnInput {
    pub(crate) fn of(work: &Work, model: &dyn Model, context: TurnContext) -> Self {
        let config = &work.config;
        let bodies: Vec<String> = work.open.iter().map(|text| text.body.clone()).collect();
        let texts = joined(&bodies, |word| content_has(work, word, context.now));
        let stored = work.lease.language;
        let language = model.language(&texts, stored);
        let Told {
            profile,
            learnt,
            grant,
            facts,
        } = learn(work, language, context.now);
        let state = work.history.session.dialogue.clone();
        // Asks nothing about the guest if a person has to look at the conversation, or if the
        // answer may not be stored.
        let ask = (work.history.place.recent_cases == 0 && grant.is_some())
            .then(|| next_topic(&profile, &state, &texts, context.now))
            .flatten();
        let (_, seed) = work
            .open
            .first()
            .map_or(Uuid::nil(), |text| text.inbound_id)
            .as_u64_pair();
        let request = Request {
            casino_name: config.prompts.casino_name_display.clone(),
            contact_phone: config.operational.contact_phone.clone(),
            persona: config.branding.persona_name.clone(),
            zone: config.operational.timezone,
            now: context.now,
            language: stored,
            lead: context.lead,
            length: work.lease.channel.profile().length,
            texts,
            history: work.history.history().iter().map(exchange).collect(),
            index: Arc::clone(&work.index),
            seed,
            deadline: context.deadline,
            profile: facts,
            summary: work.history.summary(&work.index, &profile, context.now),
            ask,
            state,
        };
        Self {
            request,
            language,
            profile,
            learnt,
            grant,
        }
    }

    /// Adds an observation that a tool of this turn made.
    pub(crate) fn observe(&mut self, seen: Observation) {
        let path = seen.key.path();
        if self.profile.observe(seen).is_news() && !self.learnt.iter().any(|known| known == path) {
            self.learnt.push(path.to_owned());
        }
    }

    /// Records the topic that the reply asks about. The guest's answer is then understood, and the
    /// next reply does not ask about the topic again.
    pub(crate) fn asked(&mut self, topic: Option<Topic>) {
        self.profile.engagement.last_profiling_topic =
            topic.or(self.profile.engagement.last_profiling_topic);
    }
}

fn exchange((guest, host): &(String, String)) -> Exchange {
    Exchange {
        guest: guest.clone(),
        host: host.clone(),
    }
}

/// The facts that a turn has about its guest.
struct Told {
    /// The profile with the facts from the texts merged into it.
    profile: Profile,
    /// The profile paths that the texts changed.
    learnt: Vec<String>,
    /// The consent under which the facts are kept; `None` after the guest revoked it. Then the
    /// profile is unchanged.
    grant: Option<Grant>,
    /// The facts that the turn may use. If the guest revoked the consent, they come only from the
    /// texts that the turn answers.
    facts: Context,
}

fn learn(work: &Work, language: Language, now: DateTime<Utc>) -> Told {
    let mut profile = work.profile.clone().unwrap_or_else(|| Profile::new(now));
    let setting = Setting {
        now,
        zone: work.config.operational.timezone,
        language,
        asked: profile.engagement.last_profiling_topic,
    };
    let guest = work.lease.guest_id.0;
    let Some(grant) = profile.consent_of(guest, now) else {
        let mut heard = Profile::new(now);
        if let Some(grant) = heard.consent_of(guest, now) {
            for text in &work.open {
                heard.learn(&text.body, &setting, now, &grant);
            }
        }
        return Told {
            facts: heard.context(now),
            profile,
            learnt: Vec::new(),
            grant: None,
        };
    };
    let mut learnt = Vec::new();
    for text in &work.open {
        learnt.extend(profile.learn(&text.body, &setting, now, &grant).paths);
    }
    learnt.sort_unstable();
    learnt.dedup();
    Told {
        facts: profile.context(now),
        profile,
        learnt,
        grant: Some(grant),
    }
}

/// Returns the topic that the reply may ask about. A question in `texts` does not prevent that,
/// because the same reply answers it.
fn next_topic(
    profile: &Profile,
    state: &DialogueState,
    texts: &[String],
    now: DateTime<Utc>,
) -> Option<Topic> {
    let situation = Situation {
        phase: profile.engagement.conversation_phase,
        asked: &state.asked,
        guest_question_open: texts.is_empty(),
        paused: false,
        offer_readiness: Confidence::ZERO,
    };
    match topic::next(profile, &situation, now) {
        Next::Ask(topic) => Some(topic),
        Next::OfferReady | Next::Nothing(_) => None,
    }
}
