//! One request, read with the pack: what every part of an answer stands on.

use std::sync::Arc;

use chrono::NaiveDateTime;
use seven_domain::Language;
use seven_knowledge::{Category, Item};
use seven_llm::Request;

use crate::{
    fit::{Part, Room, join_names, plain_spanish},
    pack::HostPack,
    understand::Understood,
};

/// The context that every composer needs.
#[derive(Clone, Copy)]
pub(crate) struct Host<'a> {
    pub(crate) pack: &'a HostPack,
    pub(crate) request: &'a Request,
    pub(crate) language: Language,
    pub(crate) room: Room<'a>,
}

impl<'a> Host<'a> {
    pub(crate) fn say(&self, key: &str, slots: &[(&str, &str)]) -> String {
        let r = self.request;
        let fixed = [("casino", r.casino_name.as_str()), ("phone", &r.contact_phone), ("persona", &r.persona)];
        let all: Vec<(&str, &str)> = slots.iter().copied().chain(fixed).collect();
        self.pack.say(key, self.language, r.seed, &all)
    }

    pub(crate) fn part(&self, intent: &str, body: String, items: &[Arc<Item>]) -> Part {
        let sources = items.iter().map(|i| i.id.clone()).collect();
        Part { intent: intent.to_owned(), body, sources, grounded: true, ..Part::default() }
    }

    /// No row answers: says so, and how to reach people.
    pub(crate) fn unanswered(&self) -> Part {
        Part { grounded: false, ..self.part("unanswered", self.say("unanswered", &[]), &[]) }
    }

    /// Restaurants keep the name on their door; treatments and services are called by their Spanish name.
    pub(crate) fn name(&self, item: &Item) -> String {
        match (self.language, &item.category) {
            (Language::En, _) | (_, Category::Dining) => item.name.clone(),
            (Language::Es, _) => plain_spanish(item.name(Language::Es)),
        }
    }

    /// Free text of the content in the guest's language.
    pub(crate) fn description(&self, item: &Item) -> String {
        match self.language {
            Language::En => item.description.clone(),
            Language::Es => plain_spanish(item.description(Language::Es)),
        }
    }

    pub(crate) fn read(&self, text: &'a str) -> Understood<'a> {
        Understood::read(self.pack, self.request, text)
    }

    pub(crate) fn local(&self) -> NaiveDateTime {
        self.request.now.with_timezone(&self.request.zone).naive_local()
    }

    pub(crate) fn and(&self) -> &'static str {
        if self.language == Language::En { "and" } else { "y" }
    }

    /// The first `count` entries as "A, B and C", or "A, B and 3 more" when there are others.
    pub(crate) fn first_of(&self, entries: &[String], count: usize) -> String {
        match entries.len().saturating_sub(count) {
            0 => join_names(entries, self.and()),
            more => self.say("and_more", &[("list", &entries[..count].join(", ")), ("count", &more.to_string())]),
        }
    }

    pub(crate) fn items(&self, category: &Category) -> Vec<Arc<Item>> {
        self.request.index.by_category(category, self.request.now)
    }
}
