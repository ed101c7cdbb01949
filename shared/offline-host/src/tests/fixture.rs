//! A small invented casino, and functions that ask its host.

use std::{
    sync::{Arc, LazyLock},
    time::Duration,
};

use chrono::{DateTime, NaiveDateTime, TimeZone, Utc};
use chrono_tz::{America::New_York, Tz};
use seven_domain::{Language, ReplyLength};
use seven_guest::DialogueState;
use seven_knowledge::{Index, Reference, parse_content};

use seven_llm::{Exchange, Reply, Request};

use crate::OfflineModel;

pub(crate) const ZONE: Tz = New_York;
pub(crate) const PACK: &str = include_str!("../../../packs/casino/host.toml");
pub(crate) const CONTENT: &str = include_str!("fixture.json");
pub(crate) const PHONE: &str = "1-860-555-0142";
/// A lead of the greatest length: the disclosure of a casino with a long name.
pub(crate) const LEAD: &str = "Hi, I'm Seven, AI host at Pine Hollow Resort and Inn. STOP to end.";

static MODEL: LazyLock<OfflineModel> = LazyLock::new(|| OfflineModel::from_toml(PACK).unwrap());

/// Returns the instant at which it is `local` at the casino.
pub(crate) fn at(local: &str) -> DateTime<Utc> {
    let wall = NaiveDateTime::parse_from_str(local, "%Y-%m-%d %H:%M").unwrap();
    ZONE.from_local_datetime(&wall).earliest().unwrap().to_utc()
}

pub(crate) fn index(now: DateTime<Utc>, content: &str) -> Arc<Index> {
    let items = parse_content("fixture.json", content, Reference { now, zone: ZONE });
    let items = items.unwrap_or_else(|problems| panic!("{}", problems[0]));
    Arc::new(Index::build(items).in_zone(ZONE))
}

#[derive(Clone)]
pub(crate) struct Fixture {
    model: &'static OfflineModel,
    pub(crate) index: Arc<Index>,
    pub(crate) now: DateTime<Utc>,
    pub(crate) seed: u64,
    pub(crate) language: Option<Language>,
    pub(crate) history: Vec<Exchange>,
    pub(crate) lead: Option<String>,
    pub(crate) length: ReplyLength,
    pub(crate) state: DialogueState,
    pub(crate) profile: seven_guest::profile::Context,
    /// The texts from which the profile was read.
    told: Vec<String>,
}

impl Fixture {
    /// Returns the casino at a local time. Relative dates in the content count from Friday
    /// 2026-03-06, 12:00.
    pub(crate) fn at(local: &str) -> Self {
        let index = index(at("2026-03-06 12:00"), CONTENT);
        Self::with(index, at(local))
    }

    pub(crate) fn with(index: Arc<Index>, now: DateTime<Utc>) -> Self {
        Self {
            model: &MODEL,
            index,
            now,
            seed: 7,
            language: None,
            history: Vec::new(),
            lead: None,
            length: ReplyLength::Texts,
            state: DialogueState::default(),
            profile: seven_guest::profile::Context::default(),
            told: Vec::new(),
        }
    }

    pub(crate) fn ask_all(&self, texts: &[&str]) -> Reply {
        self.model.answer(&self.request(texts))
    }

    pub(crate) fn request(&self, texts: &[&str]) -> Request {
        Request {
            casino_name: "Pine Hollow".into(),
            contact_phone: PHONE.into(),
            persona: "Seven".into(),
            zone: ZONE,
            now: self.now,
            language: self.language,
            lead: self.lead.clone(),
            length: self.length,
            texts: texts.iter().map(|t| (*t).to_owned()).collect(),
            history: self.history.clone(),
            index: Arc::clone(&self.index),
            seed: self.seed,
            deadline: Duration::from_secs(5),
            profile: self.profile.clone(),
            summary: None,
            ask: None,
            state: self.state.clone(),
        }
    }

    /// Returns the request for a text with its typing errors corrected.
    pub(crate) fn mended(&self, text: &str) -> Request {
        self.model.mended(&self.request(&[text]))
    }

    /// Returns the setting in which facts about the guest are read.
    pub(crate) fn setting(&self) -> seven_guest::Setting {
        seven_guest::Setting {
            now: self.now,
            zone: ZONE,
            language: Language::En,
            asked: None,
        }
    }

    /// Adds what a text tells to the guest's profile, as agent-swarm does.
    pub(crate) fn learn(&mut self, text: &str) {
        let grant = seven_guest::Grant {
            scope: seven_guest::Scope::Personalization,
            detail: String::new(),
            reference: seven_guest::GrantRef(uuid::Uuid::nil()),
            version: 1,
        };
        self.told.push(text.to_owned());
        let mut profile = seven_guest::Profile::new(self.now);
        for text in &self.told {
            profile.learn(text, &self.setting(), self.now, &grant);
        }
        self.profile = profile.context(self.now);
    }

    pub(crate) fn ask(&self, text: &str) -> Reply {
        self.ask_all(&[text])
    }

    /// Asks and adds the exchange to the history, as in a conversation.
    pub(crate) fn talk(&mut self, text: &str) -> Reply {
        let reply = self.ask(text);
        self.history.push(Exchange {
            guest: text.to_owned(),
            host: reply.text.clone(),
        });
        self.state = reply.state.clone();
        reply
    }
}

/// Plays dialogues at a casino with this content on 2026-11-20, 12:30. Each names its texts, what
/// the last reply must contain, and what it must not contain; an empty string demands nothing.
pub(crate) fn assert_last_replies(content: &str, dialogues: &[(&[&str], &str, &str)]) {
    let now = at("2026-11-20 12:30");
    let wrong = |(texts, holds, lacks): &(&[&str], &str, &str)| {
        let mut desk = Fixture::with(index(now, content), now);
        let mut replies = Vec::new();
        for text in *texts {
            desk.learn(text);
            replies.push(desk.talk(text).text);
        }
        let last = replies.last()?;
        let right = last.contains(holds) && (lacks.is_empty() || !last.contains(lacks));
        (!right).then(|| format!("{texts:?}: {replies:?}"))
    };
    let wrong: Vec<String> = dialogues.iter().filter_map(wrong).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
