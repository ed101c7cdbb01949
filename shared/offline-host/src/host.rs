//! One request together with the pack, from which every part of an answer is made.

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

    /// Says that no row answers the question, and how to reach people.
    pub(crate) fn unanswered(&self) -> Part {
        Part { grounded: false, ..self.part("unanswered", self.say("unanswered", &[]), &[]) }
    }

    /// Returns the name to use: restaurants keep their own; treatments and services have a Spanish
    /// name for Spanish texts.
    pub(crate) fn name(&self, item: &Item) -> String {
        match (self.language, &item.category) {
            (Language::En, _) | (_, Category::Dining) => item.name.clone(),
            (Language::Es, _) => plain_spanish(item.name(Language::Es)),
        }
    }

    /// Returns the item's description in the guest's language.
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

    /// Writes the first `count` entries as "A, B and C", or "A, B and 3 more" if there are others.
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
